"""Drafts of a model equal the draws of that model, change no output of another one, and pay or are not made."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from random import Random

import pytest
from intaglio.engine.config import EngineConfig
from intaglio.engine.drafts.draft_tables import DraftTables
from intaglio.engine.drafts.drawn_drafts import PROBE
from intaglio.engine.drafts.model import DraftModel, ModelSource
from intaglio.engine.drafts.source import Lookahead
from intaglio.engine.errors import ConfigError
from intaglio.engine.host.build_engine import build
from intaglio.engine.plan import Plan, SampledBatch
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.engine.types import Finish, Request, TokenLogprob
from msgspec.structs import replace

from tests.engine.drafts.sequences import sequence
from tests.property.drafts import CLOSE, CheckedEngine, random_request, same
from tests.support.scripted import Pass, ScriptedExecutor
from tests.support.tiny_checkpoint import LLAMA, QWEN3, random_weights, write_checkpoint

BLOCKS = 200


def requests(tokenizer: Tokenizer) -> list[Request]:
    """Greedy and drawn with a seed, free and constrained, with penalties and truncation."""
    dice = Random(5)
    found = [random_request(f"r{number}", dice, tokenizer) for number in range(16)]
    return [request for request in found if not request.sampling.stop_token_ids]


def test_the_same_model_drafts_what_is_drawn_and_another_one_changes_nothing(
    tmp_path: Path,
) -> None:
    folder = write_checkpoint(tmp_path / "large", QWEN3)
    other = write_checkpoint(tmp_path / "small", LLAMA, weights=random_weights(LLAMA, seed=7))
    plain = CheckedEngine(folder, BLOCKS)
    asked = requests(Tokenizer.load(folder))
    expected = plain.answers(asked, {})
    plain.close()
    rates = []
    for drafter in (folder, other):
        engine = CheckedEngine(folder, BLOCKS, drafters=[drafter])
        found = engine.answers(asked, {})
        engine.close()
        different = [name for name in expected if not same(found[name], expected[name], CLOSE)]
        assert len(different) <= 1, different  # a draw between two nearly equal tokens
        counts = engine.engine.metrics().drafts
        assert counts.drafted["model"] > 30
        rates.append(counts.accepted["model"] / counts.drafted["model"])
    assert rates[0] > 0.75 > 0.5 > rates[1]


def test_a_model_of_another_vocabulary_is_refused(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "large", QWEN3)
    other = write_checkpoint(tmp_path / "small", {**LLAMA, "vocab_size": 320})
    settings = {"model": str(folder), "drafts": f"model:{other}", "max_context": 128}
    config = EngineConfig.load({**settings, "grammar_store": "off"}, {})
    with pytest.raises(ConfigError, match="another vocabulary") as refused:
        build(config)
    assert refused.value.where == "drafts"


class DraftingExecutor(ScriptedExecutor):
    """Tells how likely its draws were, and forgets drafts that fell."""

    def forward(self, plan: Plan) -> Pass:
        for work in plan.works:
            known = self._known.get(work.seq_id)
            if known is not None:
                del known.tokens[work.start :]
                known.certain = min(known.certain, work.start)
        return super().forward(plan)

    def sampled(self, handle: Pass) -> SampledBatch:
        samples = super().sampled(handle).samples
        likely = [replace(one, logprobs=(TokenLogprob(one.tokens[0], -0.1),)) for one in samples]
        return SampledBatch(tuple(likely))


@contextmanager
def unconstrained(_seq_id: int) -> Iterator[Lookahead | None]:
    yield None


def scripted(draft_s: float, blocks: int = 40) -> tuple[ModelSource, DraftTables, DraftingExecutor]:
    executor = DraftingExecutor(blocks, 4, 16, strict=True)
    model = DraftModel(
        executor=executor,
        end_tokens=frozenset({0, 1}),
        max_context=64,
        max_batched_tokens=16,
        width=41,
        seconds=lambda _: 1.0,
        clock=count(step=draft_s).__next__,
    )
    tables = DraftTables(blocks, 4, most=3)
    return ModelSource(model, tables, unconstrained), tables, executor


def test_drafts_that_never_stand_are_soon_only_probed() -> None:
    source, tables, executor = scripted(draft_s=0.2)
    guessed = 0
    for round_ in range(20 * PROBE):
        seq = sequence(1 + round_, [5, 6, 7, 8])
        guess = source.guess(seq, 8)
        if guess is not None:
            guessed += 1
            source.verified(seq.id, len(guess.tokens), 0)
        source.forget(seq, Finish.STOP)
        tables.check()
    assert 10 <= guessed < 120
    assert executor.remembered <= 1 + len(tables)


def test_a_long_prompt_is_computed_in_pieces_and_what_was_computed_is_not_computed_again() -> None:
    source, tables, executor = scripted(draft_s=0.01)
    seq = sequence(1, list(range(2, 40)))
    first = source.guess(seq, 4)
    assert first is not None
    assert executor.seen.partial == 2  # 38 tokens in pieces of 16
    before = executor.seen.tokens
    seq.append(first.tokens[0])
    seq.append(3 if first.tokens[1] != 3 else 4)  # the second draft falls
    again = source.guess(seq, 4)
    assert again is not None
    assert executor.seen.tokens - before <= 1 + len(again.tokens)
    fresh, _, _ = scripted(draft_s=0.01)
    assert fresh.guess(sequence(1, seq.tokens[:38], seq.tokens[38:]), 4) == again
    tables.check()


def test_sequences_without_room_are_not_drafted_and_blocks_of_others_are_taken() -> None:
    source, tables, _ = scripted(draft_s=0.01, blocks=12)
    assert source.guess(sequence(1, [5] * 60), 8) is None  # past the context
    assert source.guess(sequence(2, [5] * 50), 8) is None  # past the cache
    for number in range(3, 9):
        guess = source.guess(sequence(number, [5 + number] * 20), 8)
        assert guess is not None
        source.verified(number, len(guess.tokens), len(guess.tokens))
        tables.check()
    assert len(tables) <= 3
