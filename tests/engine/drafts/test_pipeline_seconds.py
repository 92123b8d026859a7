"""Steps with drafts are compared with steps ahead, each by its own measurements."""

import pytest
from intaglio.engine.drafts.pipeline_seconds import SERIAL, TRIED_AGAIN, PipelineSeconds


def test_before_a_step_with_drafts_it_is_a_multiple_of_a_plain_one() -> None:
    seconds = PipelineSeconds(0.01)
    assert seconds(4) == pytest.approx(SERIAL * seconds.plain(4))
    seconds.observe_plain(1, 0.004)
    assert seconds.plain(1) == pytest.approx(0.004, rel=0.1)
    assert seconds(1) == pytest.approx(SERIAL * 0.004, rel=0.1)


def test_a_drafted_step_alone_gives_both() -> None:
    seconds = PipelineSeconds(0.0)
    seconds.observe_drafted(5, 0.0046)
    assert seconds(5) == pytest.approx(0.0046, rel=0.01)
    assert seconds.plain(5) == pytest.approx(0.0046 / SERIAL, rel=0.01)


def test_both_are_learned_apart_and_the_drafted_one_is_tried_again() -> None:
    seconds = PipelineSeconds(0.0)
    seconds.observe_plain(1, 0.004)
    seconds.observe_drafted(5, 0.4)  # something was compiled in it
    for _ in range(TRIED_AGAIN - 1):
        seconds.observe_plain(1, 0.004)
        assert seconds(5) > 50 * seconds.plain(5)
    seconds.observe_plain(1, 0.004)
    assert seconds(5) == pytest.approx(SERIAL * seconds.plain(5))
