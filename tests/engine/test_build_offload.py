"""The rate of computing prompts is that of the device, also where steps are started ahead."""

from collections.abc import Sequence

import pytest
from intaglio.engine.host.build_offload import TimedSteps
from intaglio.engine.memory.swap import TransferRule
from intaglio.engine.metrics import Stopwatch
from intaglio.engine.plan import Changes, Plan, Work

NOTHING = Plan(0)


def prompt(tokens: int, *, logits: int) -> Plan:
    return Plan(1, (), (Work(1, 0, tuple(range(tokens)), logits=logits),))


def decode(sequences: int) -> Plan:
    return Plan(1, (), tuple(Work(number, 5, (1,), logits=1) for number in range(sequences)))


class Timed:
    """A pipeline with calls of known durations."""

    has_work = False

    def __init__(self) -> None:
        self.now = self.seconds = 0.0

    def run(self, _plan: Plan, _lap: Stopwatch) -> Changes:
        self.now += self.seconds
        return Changes(())


def rate(calls: Sequence[tuple[Plan, float]], *, ahead: bool) -> float:
    """Tokens a second after these plans, given with the seconds of their calls."""
    pipeline, rule = Timed(), TransferRule()
    steps = TimedSteps(pipeline, rule, lambda: pipeline.now, ahead=ahead)
    for plan, pipeline.seconds in calls:
        steps.run(plan, Stopwatch(lambda: 0.0))
    return rule.rates["compute"]


def test_a_step_takes_as_long_as_its_call() -> None:
    assert rate([(prompt(100, logits=1), 0.5), (NOTHING, 9.0)], ahead=False) == pytest.approx(200)


def test_a_step_that_is_started_ahead_takes_as_long_as_the_call_that_reads_it() -> None:
    calls = [(prompt(100, logits=1), 0.0), (decode(1), 0.5), (NOTHING, 9.0)]
    assert rate(calls, ahead=True) == pytest.approx(200)


def test_a_part_of_a_prompt_counts_together_with_the_next_step() -> None:
    """On a device nothing waits for the first part: the call that reads it is over at once."""
    first, last = prompt(96, logits=0), prompt(4, logits=1)
    assert rate([(first, 0.3), (last, 0.2)], ahead=False) == pytest.approx(200)
    ahead = [(first, 0.0), (last, 0.001), (NOTHING, 0.499), (NOTHING, 9.0)]
    assert rate(ahead, ahead=True) == pytest.approx(200)


def test_steps_of_single_tokens_say_nothing_about_prompts() -> None:
    mixed = Plan(1, (), prompt(40, logits=1).works + decode(64).works)
    assert rate([(decode(64), 0.5), (mixed, 0.5)], ahead=False) == 0
