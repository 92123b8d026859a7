"""Drafts of a head change no output, and go on where they were; engines that cannot have a head refuse it."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from random import Random
from shutil import copytree

import pytest
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, EngineConfig, ModelConfig, SchedulerConfig
from intaglio.engine.drafts.head import MOST_UNREAD
from intaglio.engine.drafts.lengths import DraftLengths
from intaglio.engine.drafts.source import Guess, Lookahead
from intaglio.engine.errors import ConfigError, ModelError
from intaglio.engine.host.build_engine import build
from intaglio.engine.host.build_head import chosen_head
from intaglio.engine.model.layer_settings import LayerSettings
from intaglio.engine.plan import Admitted, Plan, Work
from intaglio.engine.run.kept_streams import KeptStreams
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.engine.types import Request, SamplingParams

from tests.engine.drafts.sequences import sequence
from tests.property.drafts import CLOSE, CheckedEngine, head_source, random_request, same
from tests.support.draft_heads import HEAD, TARGET, head_spec, head_weights, write_head
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

BLOCKS = 200


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    model = write_checkpoint(tmp_path / "model", TARGET)
    write_head(model / "head")
    return model


def config(folder: Path, **settings: object) -> EngineConfig:
    fixed = {"model": str(folder), "max_context": 128, "grammar_store": "off", "device": "cpu"}
    return EngineConfig.load({**fixed, **settings}, {})


def requests(tokenizer: Tokenizer, seed: int) -> list[Request]:
    dice = Random(seed)
    found = [random_request(f"r{number}", dice, tokenizer) for number in range(16)]
    return [request for request in found if not request.sampling.stop_token_ids]


class Everything(DraftLengths):
    """Drafts all that is guessed, as few drafts of random weights would pay."""

    def may_pay(self, sequences: int, tokens: int) -> bool:
        return True

    def chosen(
        self, sequences: int, tokens: int, chances: Mapping[int, Sequence[float]], room: int
    ) -> dict[int, int]:
        return {seq_id: min(3, len(each)) for seq_id, each in list(chances.items())[: room // 3]}


def test_answers_are_the_same_with_a_head_and_without(folder: Path) -> None:
    asked = requests(Tokenizer.load(folder), 5)
    plain = CheckedEngine(folder, BLOCKS)
    expected = plain.answers(asked, {})
    plain.close()
    lengths = Everything(lambda _: 1.0)
    engine = CheckedEngine(folder, BLOCKS, drafters=[folder / "head"], lengths=lengths)
    found = engine.answers(asked, {})
    again = engine.answers(
        asked, {}
    )  # prompts are in the prefix cache: their streams are not there
    engine.close()
    for answers in (found, again):
        different = [name for name in expected if not same(answers[name], expected[name], CLOSE)]
        assert len(different) <= 1, different  # a draw between two nearly equal tokens
    assert engine.engine.metrics().drafts.drafted["head"] > 100


@contextmanager
def unconstrained(_seq_id: int) -> Iterator[Lookahead | None]:
    yield None


class Targeted:
    """A head beside its target, which computes the tokens of sequence 1."""

    def __init__(self, folder: Path) -> None:
        layers = LayerSettings(streams=head_spec().layers)
        cache = CacheConfig(num_blocks=40, block_size=8)
        model = ModelConfig(model=str(folder), device="cpu", max_context=128, threads=1)
        built = build_runner(model, cache, SchedulerConfig(max_running=4), layers=layers)
        assert built.streams is not None
        self.kept = KeptStreams(built.runner, built.streams, 4)
        self.source = head_source(folder / "head", built, self.kept, unconstrained)
        self._step = 0

    def compute(self, tokens: Sequence[int], start: int, stop: int) -> None:
        """Let the target compute tokens; the first call admits the sequence."""
        admitted = Admitted(1, tuple(tokens), 20, tuple(range(1, 17)), SamplingParams())
        work = Work(1, start, tuple(tokens[start:stop]), logits=0)
        self._step += 1
        self.kept.forward(Plan(self._step, () if self._step > 1 else (admitted,), (work,)))

    def guess(self, known: list[int], computed: int) -> Guess | None:
        """A guess of four tokens, greedy."""
        seq = sequence(1, known[:20], known[20:])
        seq.computed = computed
        return self.source.guess(seq, 4)


def assert_alike(one: Guess | None, other: Guess | None) -> None:
    """The first drafts are the same. How many there are depends on measured costs."""
    assert one is not None
    assert other is not None
    count = min(len(one.tokens), len(other.tokens))
    assert count >= 2
    assert one.tokens[:count] == other.tokens[:count]
    assert one.levels[:count] == other.levels[:count]


def test_a_guess_is_the_same_whether_rows_were_computed_before_or_not(folder: Path) -> None:
    known = [65 + at % 26 for at in range(20)]
    one = Targeted(folder)
    one.compute(known, 0, 12)
    one.compute(known, 12, 19)
    guess = one.guess(known, 19)
    assert guess is not None
    assert_alike(one.guess(known, 19), guess)  # nothing was computed since
    # The target computes the last token and three drafts: two of them fall, and three tokens are forced.
    known.append(guess.tokens[0])
    one.compute([*known, 7, 8], 19, 23)
    known += [70, 71, 72, 73]
    again = one.guess(known, 21)
    other = Targeted(folder)
    other.compute(known, 0, 21)
    assert_alike(other.guess(known, 21), again)


def test_sequences_without_streams_or_with_too_many_unread_tokens_are_not_drafted(
    folder: Path,
) -> None:
    known = [65 + at % 26 for at in range(40)]
    one = Targeted(folder)
    assert one.guess(known, 30) is None
    one.compute(known, 16, 31)  # a prefix was cached
    assert one.guess(known[:31], 30) is not None
    assert one.guess(known[: 32 + MOST_UNREAD], 31) is not None
    assert one.guess([*known, 1], 31) is None
    assert one.guess(known, 39) is None  # not computed yet
    other = Targeted(folder)
    other.compute(known, 17, 22)  # no whole block has streams
    assert other.guess(known[:23], 22) is None


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"drafts": "head:{0}/head", "overlap": "on"}, "on a CPU, with overlap off"),
        ({"drafts": "head:{0}/head", "tp": 2}, "a model in one process"),
        ({"drafts": "head", "tp": 2}, "a model in one process"),
    ],
)
def test_engines_that_cannot_have_a_head_refuse_it(
    folder: Path, settings: dict[str, object], message: str
) -> None:
    named = {
        key: value.format(folder) if isinstance(value, str) else value
        for key, value in settings.items()
    }
    with pytest.raises(ConfigError, match=message) as refused:
        chosen_head(config(folder, **named), ahead="overlap" in named)
    assert refused.value.where == "drafts"
    assert refused.value.hint


def test_the_head_of_a_checkpoint_is_found_in_its_folder(tmp_path: Path, folder: Path) -> None:
    for drafts, sources in (
        ("auto", ("document", "rows", "free", "head")),
        ("head", ("head",)),
        ("document,head", ("document", "head")),
        ("document", ("document",)),
    ):
        assembly = build(config(folder, drafts=drafts))
        assert assembly.info.draft_sources == sources
        assembly.close()
    copytree(folder / "head", folder / "other")
    with pytest.raises(ConfigError, match="2 folders with a draft head"):
        build(config(folder, drafts="head"))
    both = build(config(folder, drafts="auto"))
    assert both.info.draft_sources == ("document", "rows", "free")
    both.close()
    bare = write_checkpoint(tmp_path / "bare", TARGET)
    (bare / "other").mkdir()
    (bare / "other" / "config.json").write_text("{")  # no head, and nothing that stops an engine
    build(config(bare, drafts="auto")).close()
    with pytest.raises(ConfigError, match="0 folders with a draft head"):
        build(config(bare, drafts="head"))


def test_a_head_of_another_model_is_refused(tmp_path: Path, folder: Path) -> None:
    other = write_checkpoint(tmp_path / "other", {**LLAMA, "vocab_size": 320})
    with pytest.raises(ModelError, match="the head is for 300 tokens, the model has 320"):
        build(config(other, drafts=f"head:{folder}/head"))
    weights = head_weights(head_spec())
    del weights["fc.weight"]
    write_head(tmp_path / "broken", HEAD, weights)
    with pytest.raises(ModelError, match=r"missing fc\.weight"):
        build(config(folder, drafts=f"head:{tmp_path}/broken"))
