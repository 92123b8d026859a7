"""`pytest tests/property --operations 1000000` runs the volume test as long as one likes."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--operations", type=int, default=100_000, help="operations of the volume test"
    )
