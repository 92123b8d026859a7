"""For all tests: one thread of torch per process, and a folder of the test run in place of the user's cache folder.

Tests run in a process per core. Threads of torch would wait for each other there: for small tensors a test that runs
in two threads takes four times the CPU time, and on busy cores more.
"""

import os
from collections.abc import Iterator

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported, which no plugin does


@pytest.fixture(scope="session", autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield
