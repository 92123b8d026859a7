"""The streams of a few sequences are kept as their tokens are computed, and are those of `transformers`."""

from pathlib import Path
from random import Random

import pytest
import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.errors import InternalError
from intaglio.engine.model.layer_settings import LayerSettings
from intaglio.engine.model.layer_streams import LayerStreams
from intaglio.engine.plan import Admitted, Plan, Work
from intaglio.engine.run.kept_streams import MOST_ROWS, KeptStreams
from intaglio.engine.types import SamplingParams
from transformers import AutoModelForCausalLM

from tests.support.scripted import Pass, ScriptedExecutor
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint


class PlacedExecutor(ScriptedExecutor):
    """Keeps streams that say of which sequence, position and layer they are; the last two rows are padding."""

    def __init__(self, streams: LayerStreams) -> None:
        super().__init__(400, 8, 4096)
        self._streams = streams

    def forward(self, plan: Plan) -> Pass:
        rows = [
            [work.seq_id, position, token]
            for work in plan.works
            for position, token in enumerate(work.tokens, work.start)
        ]
        found = torch.tensor([*rows, [0, 0, 0], [0, 0, 0]], dtype=torch.float32)
        for place in range(len(self._streams.layers)):
            self._streams.keep(place, found + torch.tensor([0, 0, 1000 * place]))
        return Pass(plan)


@pytest.fixture
def kept() -> KeptStreams:
    streams = LayerStreams((1, 3))
    return KeptStreams(PlacedExecutor(streams), streams, most=2)


def work(seq_id: int, start: int, stop: int, salt: int = 0) -> Work:
    return Work(seq_id, start, tuple(range(start + salt, stop + salt)))


def expected(seq_id: int, positions: range, salt: int = 0) -> torch.Tensor:
    return torch.tensor(
        [[seq_id, at, at + salt, seq_id, at, at + salt + 1000] for at in positions],
        dtype=torch.float32,
    )


def test_streams_follow_the_works_of_a_sequence(kept: KeptStreams) -> None:
    kept.forward(Plan(1, (), (work(1, 16, 20), work(2, 0, 3))))
    assert (kept.held(1), kept.held(2), kept.held(3)) == (range(16, 20), range(3), range(0))
    kept.forward(Plan(2, (), (work(1, 20, 25),)))
    kept.forward(Plan(3, (), (work(1, 22, 24, salt=7),)))  # two drafts stood, the others fell
    assert kept.held(1) == range(16, 24)
    assert torch.equal(kept.rows(1, range(18, 22)), expected(1, range(18, 22)))
    assert torch.equal(kept.rows(1, range(22, 24)), expected(1, range(22, 24), salt=7))
    kept.forget_before(1, 21)
    assert kept.held(1) == range(21, 24)
    assert torch.equal(kept.rows(1, range(21, 22)), expected(1, range(21, 22)))
    kept.forward(Plan(4, (), (work(1, 40, 42),)))  # computed after a cached prefix
    assert kept.held(1) == range(40, 42)


def test_only_the_first_sequences_have_streams_until_one_ends(kept: KeptStreams) -> None:
    kept.forward(Plan(1, (), (work(1, 0, 2), work(2, 0, 2), work(3, 0, 2))))
    assert not kept.held(3)
    kept.forward(Plan(2, (), (work(3, 2, 5), work(2, 2, 3)), released=(1,)))
    assert (kept.held(1), kept.held(2), kept.held(3)) == (range(0), range(3), range(2, 5))
    assert torch.equal(kept.rows(3, range(2, 5)), expected(3, range(2, 5)))


def test_of_a_long_prompt_the_end_is_kept(kept: KeptStreams) -> None:
    kept.forward(Plan(1, (), (work(1, 0, MOST_ROWS + 3),)))
    kept.forward(Plan(2, (), (work(1, MOST_ROWS + 3, MOST_ROWS + 8),)))
    assert kept.held(1) == range(8, MOST_ROWS + 8)


def test_random_works_leave_the_last_streams_of_each_position(kept: KeptStreams) -> None:
    dice, salts, end = Random(4), dict[int, int](), 0
    for step in range(200):
        start = dice.randint(max(end - 4, kept.held(1).start), end)
        stop = start + dice.randint(1, 6)
        kept.forward(Plan(step, (), (work(1, start, stop, salt=step),)))
        salts.update(dict.fromkeys(range(start, stop), step))
        end = stop
        if dice.random() < 0.3:
            kept.forget_before(1, dice.randint(kept.held(1).start, end - 1))
        held = kept.held(1)
        assert held.stop == end
        wanted = [expected(1, range(at, at + 1), salts[at]) for at in held]
        assert torch.equal(kept.rows(1, held), torch.cat(wanted))


def test_streams_are_taken_once() -> None:
    streams = LayerStreams((0,))
    streams.keep(0, torch.zeros(2, 4))
    streams.take()
    with pytest.raises(InternalError, match="no step"):
        streams.take()
    with pytest.raises(InternalError, match="before the first"):
        LayerStreams((0, 1)).keep(1, torch.zeros(2, 4))


def test_streams_are_what_enters_the_layers(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path / "model", {**QWEN3, "num_hidden_layers": 4})
    built = build_runner(
        ModelConfig(model=str(folder), device="cpu", dtype="float32", max_context=64),
        CacheConfig(num_blocks=20, block_size=8),
        SchedulerConfig(max_running=2),
        layers=LayerSettings(streams=(0, 2, 3)),
    )
    assert built.streams is not None
    kept = KeptStreams(built.runner, built.streams, 2)
    tokens = tuple(range(30, 50))
    admitted = Admitted(1, tokens, 20, (1, 2, 3), SamplingParams(temperature=0))
    kept.forward(Plan(1, (admitted,), (Work(1, 0, tokens[:9]),)))
    kept.forward(Plan(2, (), (Work(1, 9, tokens[9:], logits=1),)))
    model = AutoModelForCausalLM.from_pretrained(folder, dtype=torch.float32)
    with torch.no_grad():
        states = model(torch.tensor([tokens]), output_hidden_states=True).hidden_states
    wanted = torch.cat([states[layer][0] for layer in (0, 2, 3)], -1)
    torch.testing.assert_close(kept.rows(1, range(20)), wanted, rtol=1e-4, atol=1e-4)
