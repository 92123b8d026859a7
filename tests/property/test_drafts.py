"""With any drafts, the tokens are those without drafts, and rejected drafts leave no trace."""

from pathlib import Path

import pytest

from tests.property.drafts import RARE, compare
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


def test_real_requests_get_the_same_answers_with_drafts(tmp_path: Path) -> None:
    result = compare(tmp_path / "model", 200)
    assert len(result.different) <= result.count // RARE, result.different
    drafts = result.snapshot.drafts
    assert set(drafts.drafted) == {
        *("foresight", "document", "rows", "free", "likely", "model"),
        *("forced", "closing"),
    }
    assert sum(drafts.drafted.values()) > sum(drafts.accepted.values()) > 1000
    assert result.snapshot.preemptions > 0
    assert result.snapshot.passes < 0.6 * result.snapshot.output_tokens
    assert {"stop", "length", "abort"} <= {end for end, n in result.snapshot.finished.items() if n}
