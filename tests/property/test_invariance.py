"""Deterministic engines under random companies: a sample of `invariance`."""

from pathlib import Path

import pytest

from tests.property import invariance
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint
from tests.support.tiny_families import CONFIGS


def test_a_request_has_the_same_bits_in_any_company(tmp_path: Path) -> None:
    """Grammars become ready at varying times, so a seed's engines may never preempt: then the next seed is tried."""
    model, preemptions = write_checkpoint(tmp_path, QWEN3), 0
    for seed in (2, 3, 1, 6):
        tally = invariance.compare(model, seed=seed, checks=60, prompts=12)
        assert tally.differ == []
        assert tally.tokens > 800
        assert tally.cached > 200
        preemptions += tally.preemptions
        if preemptions:
            return
    pytest.fail("no sequence was preempted")


@pytest.mark.parametrize(
    ("family", "fixed"), [("deepseek-v3", {}), ("gpt-oss", {"num_blocks": 56})]
)
def test_experts_and_latents_have_the_same_bits_too(
    family: str, fixed: dict[str, int], tmp_path: Path, times: int
) -> None:
    """Sigmoids choose experts, gate them and weigh sinks: torch's own depends on the place of a row.

    A sequence of gpt-oss needs blocks in two block groups.
    """
    model = write_checkpoint(tmp_path, CONFIGS[family])
    tally = invariance.compare(model, seed=0, checks=10 * times, prompts=20, **fixed)
    assert tally.differ == []
    assert tally.tokens > 300


def test_an_answer_that_differs_is_told_with_its_engine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted fault: a request's tokens in a batch differ from its tokens alone."""
    wrong: dict[str, invariance.Answer] = dict.fromkeys(map(str, range(2)), ((), (), None))
    monkeypatch.setattr(invariance, "alone", lambda *_, **__: wrong)
    tally = invariance.compare(write_checkpoint(tmp_path, QWEN3), seed=1, checks=2, prompts=2)
    assert len(tally.differ) == 2
    assert "max_batched_tokens" in tally.differ[0]
