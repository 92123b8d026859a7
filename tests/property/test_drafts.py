"""With any drafts, the tokens are those without drafts, and rejected drafts leave no trace."""

from pathlib import Path

import pytest

from tests.property.drafts import compare
from tests.support.draft_heads import TARGET, write_head
from tests.support.schedules import Run, Tally, Workload
from tests.support.tiny_checkpoint import write_checkpoint

SCHEDULES = 200


@pytest.mark.parametrize("ahead", [False, True], ids=["serial", "ahead"])
@pytest.mark.parametrize("prefix", [False, True], ids=["cold", "cached"])
def test_random_schedules_with_drafts_give_the_plain_tokens(
    prefix: bool, ahead: bool, times: int
) -> None:
    total = Tally()
    for seed in range(prefix, SCHEDULES * times, 2):
        total.add(Run(Workload.of(seed), prefix=prefix, drafts=True, overlap=ahead).go())
    assert total.drafted > 500
    assert total.drafted > total.accepted > 250
    assert total.preemptions > 5
    assert total.partial > 50
    assert (total.cached > 25) == prefix
    assert {"stop", "length", "abort", "deadline", "error"} <= total.ends.keys()


@pytest.mark.parametrize(
    ("count", "exact", "ahead"), [(200, True, False), (100, True, True), (40, False, False)]
)
def test_real_requests_get_the_same_answers_with_drafts(
    tmp_path: Path, count: int, exact: bool, ahead: bool, times: int
) -> None:
    model = write_checkpoint(tmp_path / "model", TARGET)
    write_head(model / "head")
    result = compare(model, count * times, deterministic=exact, ahead=ahead)
    assert len(result.different) <= (0 if exact else times), result.different
    if not exact:
        return
    drafts = result.snapshot.drafts
    assert set(drafts.drafted) == {
        *("foresight", "document", "rows", "free", "likely", "model"),
        *("forced", "closing"),
        *(() if ahead else ("head",)),
    }
    # One step ahead, only few sequences at a time are drafted.
    least, most_passes = (200, 0.85) if ahead else (500, 0.6)
    assert sum(drafts.drafted.values()) > sum(drafts.accepted.values()) > least
    assert result.snapshot.preemptions > 0
    assert result.snapshot.passes < most_passes * result.snapshot.output_tokens
    assert {"stop", "length", "abort"} <= {end for end, n in result.snapshot.finished.items() if n}
