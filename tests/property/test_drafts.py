"""Whatever is drafted, the tokens are those without drafts, and no draft leaves anything behind."""

import pytest

from tests.support.schedules import Run, Tally, Workload

SCHEDULES = 400


@pytest.mark.parametrize("prefix", [False, True], ids=["cold", "cached"])
def test_random_schedules_with_drafts_give_the_plain_tokens(prefix: bool) -> None:
    total = Tally()
    for seed in range(prefix, SCHEDULES, 2):
        total.add(Run(Workload.of(seed), prefix=prefix, drafts=True).go())
    assert total.drafted > 1000
    assert total.drafted > total.accepted > 500
    assert total.preemptions > 10
    assert total.partial > 100
    assert (total.cached > 50) == prefix
    assert {"stop", "length", "abort", "deadline", "error"} <= total.ends.keys()
