"""Small samples of the tests of reliability; `python -m tests.reliability.run` runs them in full."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.bench.bench_streams import Load
from tests.reliability import (
    audit,
    bodies,
    canaries,
    crowd,
    doors,
    hangups,
    kills,
    outside,
    overload,
    slow,
    spoilt,
    stalled,
    stopping,
    templates,
    tenants,
)
from tests.reliability.figures import Figure
from tests.reliability.served import Served, served

LIMITS: dict[str, Any] = {
    "max_body_bytes": bodies.LIMIT,
    "header_timeout_s": 1.0,
    "body_timeout_s": 1.0,
    "write_timeout_s": 1.0,
    "max_requests": overload.PLACES,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with served(tmp_path_factory.mktemp("served"), overload.SCRIPT, **LIMITS) as running:
        yield running


def require(figures: list[Figure], name: str) -> None:
    """Every figure is within its bound, or has none that a shared machine can show."""
    assert {figure.id for figure in figures} == {name}
    assert [figure for figure in figures if figure.met is False] == []
    assert any(figure.met for figure in figures)


def test_oversized_bodies_and_headers(service: Served) -> None:
    require(bodies.measure(service, clients=3, size=3 << 20), "A2")


def test_slow_connections(service: Served) -> None:
    require(slow.measure(service, headers=10, bodies=5, limits_s=(1.0, 1.0)), "A3")


def test_readers_that_stop(service: Served) -> None:
    figures = stalled.measure(service, readers=3)
    assert all("engine free" in figure.measured for figure in figures)
    assert all(" 0 of " in figure.measured for figure in figures)


def test_clients_that_leave(service: Served) -> None:
    require(hangups.measure(service, count=25), "A5")


def test_overload(service: Served) -> None:
    require(overload.measure(service, seconds=1.0), "A6")


def test_sigterm_under_streams(tmp_path: Path) -> None:
    require(stopping.measure(tmp_path, rounds=1, streams=4), "A7")


def test_requests_without_the_right_key(tmp_path: Path) -> None:
    require(doors.measure(tmp_path, every=97), "A8")


def test_hostile_templates(tmp_path: Path) -> None:
    (figure,) = templates.measure(tmp_path)
    assert "0 that tell of the inside" in figure.measured, figure


def test_system_calls_that_lead_outside_are_found() -> None:
    calls = [
        'openat(AT_FDCWD, "/srv/data/a.db", O_RDWR|O_CREAT, 0600) = 7',
        'openat(AT_FDCWD, "/usr/lib/x.so", O_RDONLY|O_CLOEXEC) = 7',
        'openat(AT_FDCWD, "/home/x/none", O_RDONLY) = -1 ENOENT (No such file or directory)',
        'connect(9, {sa_family=AF_UNIX, sun_path="/tmp/x"}, 110) = 0',
    ]
    assert outside.violations(iter(calls), ["/srv/data"], ["/usr/"]) == []
    bad = [
        'openat(AT_FDCWD, "/usr/lib/x.so", O_WRONLY|O_CREAT, 0600) = 7',
        'openat(AT_FDCWD, "/root/.ssh/id_rsa", O_RDONLY) = 7',
        "connect(9, {sa_family=AF_INET, sin_port=htons(9)}, 16) = -1 EINPROGRESS",
    ]
    assert outside.violations(iter(bad), ["/srv/data"], ["/usr/"]) == bad


def test_what_a_tenant_notices_of_another(tmp_path: Path) -> None:
    found, told = tenants.prefixes(tmp_path, probes=6)
    assert (found.id, told.id, found.met) == ("T1", "T1", True), found


def test_the_area_under_the_curve() -> None:
    assert tenants.area([1, 2, 3], [4, 5, 6]) == 1.0
    assert tenants.area([1, 4], [2, 3]) == 0.5


def test_the_audit_after_kill_9(tmp_path: Path) -> None:
    require(audit.measure(tmp_path, kills=1, requests=20), "T6")


# starlette leaves the file of a form to the garbage collector if the form breaks off in its middle.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <function SpooledTemporaryFile")
def test_spoilt_requests(tmp_path: Path) -> None:
    figures = spoilt.measure(tmp_path, cases=40)
    assert [figure for figure in figures if not figure.met] == []
    assert {figure.id for figure in figures} == {"A1", "A11", "T5"}


def test_streams_and_a_job_outlive_the_engine(tmp_path: Path) -> None:
    require(kills.measure(tmp_path, kills=1, streams=2, rows=20), "P1")


def test_what_a_server_and_its_crashes_keep_of_its_users(tmp_path: Path) -> None:
    require(canaries.measure(tmp_path, signals=()), "T5")


def test_many_streams(tmp_path: Path) -> None:
    require(crowd.measure(tmp_path, ((Load(20, 20, 0.05), 150),)), "L1")
