"""`pytest tests/property --times 50 --operations 1000000` runs random tests as long as one likes."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--operations", type=int, default=40_000, help="operations of the volume test")
    parser.addoption("--times", type=int, default=1, help="as many schedules and requests as usual")


@pytest.fixture(scope="session")
def times(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--times", 1))
