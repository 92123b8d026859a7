"""`pytest tests/property --operations 1000000 --schedules 50` runs random schedules as long as one likes."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--operations", type=int, default=40_000, help="operations of the volume test")
    parser.addoption("--schedules", type=int, default=1, help="times 200 random schedules")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "shard_of_schedules" in metafunc.fixturenames:
        shards = metafunc.config.getoption("--schedules", 1)
        metafunc.parametrize("shard_of_schedules", range(shards))
