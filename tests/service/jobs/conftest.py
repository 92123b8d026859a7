"""`pytest tests/service/jobs --kills 500` kills jobs as often as one likes."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--kills", type=int, default=5, help="random moments at which a job is killed")


@pytest.fixture
def kills(request: pytest.FixtureRequest) -> int:
    return int(request.config.getoption("--kills", 5))
