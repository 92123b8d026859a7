"""Replayed drafts are accepted at the given rates, with a grammar or without, and for random weights only."""

from pathlib import Path

import pytest
from intaglio.engine.config import EngineConfig
from intaglio.engine.drafts.replayed_draws import ReplayedDraws, ReplaySource, parse_rates
from intaglio.engine.errors import ConfigError
from intaglio.engine.host.build_engine import build
from intaglio.engine.plan import Masks, Plan, SampledBatch, SampledToken, Work
from intaglio.grammar.api import empty_rows

from tests.engine.drafts.sequences import sequence
from tests.support.scripted import ScriptedExecutor
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

RATES = (0.9, 0.5)


class Drawing(ScriptedExecutor):
    """Always draws token 40, which is never drafted."""

    def sampled(self, handle: object) -> SampledBatch:
        return SampledBatch(
            tuple(SampledToken(work.seq_id, (40,) * work.logits) for work in self.works)
        )

    def forward(self, plan: Plan) -> object:  # type: ignore[override]  # its handle is any object
        self.works = plan.works
        return plan

    def sample(self, handle: object, masks: Masks) -> None:
        pass


def test_drafts_are_accepted_at_the_rates_of_their_positions() -> None:
    executor = ReplayedDraws(Drawing(4, 4, 64), RATES)
    counts = [0, 0, 0]
    for number in range(2000):
        work = Work(number, 10, (5, 6, 7, 8), logits=4)
        handle = executor.forward(Plan(1, (), (work, Work(9999, 0, (5,), logits=1))))
        executor.sample(handle, Masks(empty_rows(0, 1), {}))
        first, other = executor.sampled(handle).samples
        assert other.tokens == (40,)
        accepted = [one == two for one, two in zip(first.tokens, work.drafts, strict=False)]
        assert accepted == sorted(accepted, reverse=True)
        for at, good in enumerate(accepted):
            counts[at] += good
    assert counts[0] == pytest.approx(0.9 * 2000, rel=0.05)
    assert counts[1] == pytest.approx(0.45 * 2000, rel=0.1)
    assert counts[2] == 0


def test_as_many_tokens_are_guessed_as_there_are_rates() -> None:
    source = ReplaySource(RATES)
    guess = source.guess(sequence(1, [3, 4, 5], [9]), 8)
    assert guess == ((4, 5), (0, 1))
    assert source.guess(sequence(1, [3, 4, 5], [9]), 1) == ((4,), (0,))


@pytest.mark.parametrize("text", ["", "0.5/x", "1.2", "0.5/-1", "nan"])
def test_rates_that_are_none_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"float|rate"):
        parse_rates(text)


def test_trained_weights_are_not_replayed(tmp_path: Path) -> None:
    folder = write_checkpoint(tmp_path, QWEN3)
    settings = {"model": str(folder), "drafts": "replay:0.5", "max_context": 64}
    with pytest.raises(ConfigError, match="random weights only"):
        build(EngineConfig.load({**settings, "grammar_store": "off"}, {}))
    with pytest.raises(ConfigError, match="cannot be read"):
        build(EngineConfig.load({**settings, "weights": "random", "drafts": "replay:2"}, {}))
