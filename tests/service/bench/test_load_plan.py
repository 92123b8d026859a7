"""A plan is split so that the parts together are the whole, and arrivals follow from the seed alone."""

from itertools import islice, pairwise

import pytest
from intaglio.service.bench.load_plan import LoadPlan


def plan(**changed: object) -> LoadPlan:
    given: dict[str, object] = {"url": "http://x", "protocol": "extract", "requests": 10}
    return LoadPlan(**(given | changed))  # type: ignore[arg-type]


@pytest.mark.parametrize("processes", [1, 3, 4, 16])
def test_the_shares_add_up(processes: int) -> None:
    shares = list(plan(processes=processes, clients=16, rate=8.0).shares())
    assert sum(share.requests for share in shares) == 10
    assert sum(share.rate or 0 for share in shares) == pytest.approx(8.0)
    assert len(shares) == min(processes, 10)
    if processes <= 10:
        assert sum(share.clients for share in shares) == 16


def test_processes_send_different_documents() -> None:
    first, second = plan(processes=2).shares()
    sent = [*islice(first.documents(), 5), *islice(second.documents(), 5)]
    assert sorted(sent) == list(range(10))


def test_arrivals_are_a_poisson_process_of_the_rate() -> None:
    arrivals = list(plan(requests=4000, rate=50.0).arrivals())
    gaps = [after - before for before, after in pairwise(arrivals)]
    mean = sum(gaps) / len(gaps)
    spread = sum((gap - mean) ** 2 for gap in gaps) / len(gaps)
    assert mean == pytest.approx(1 / 50, rel=0.1)
    assert spread == pytest.approx(mean**2, rel=0.2)  # of an exponential distribution
    assert arrivals == list(plan(requests=4000, rate=50.0).arrivals())
    assert arrivals != list(plan(requests=4000, rate=50.0, seed=1).arrivals())


def test_without_a_rate_all_arrive_at_once() -> None:
    assert set(plan().arrivals()) == {0.0}
