"""For all tests: one thread of torch per process, a folder of the test run in place of the user's cache folder, and
property tests that neither time their examples nor choose others in every run (`--hypothesis-profile random` does).

Tests run in a process per core. Threads of torch would wait for each other there: for small tensors a test that runs
in two threads takes four times the CPU time, and on busy cores more.
"""

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported, which no plugin does

# A busy machine takes any time for an example.
UNTIMED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeatable", **UNTIMED, derandomize=True)
settings.register_profile("random", **UNTIMED)
settings.load_profile("repeatable")


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
