"""For all tests: one thread of torch per process, an environment of the test run in place of the user's, programs and
workers that start by a fork, the longest tests first, and property tests that neither time their examples nor choose
others in every run (`--hypothesis-profile random` does).

Tests run in a process per core. Threads of torch would wait for each other there: for small tensors a test that runs
in two threads takes four times the CPU time, and on busy cores more.
"""

import atexit
import gc
import os
from collections.abc import Iterator
from typing import Any

import pytest
import trustme
from hypothesis import HealthCheck, settings

from tests.support import forked_programs

os.environ.setdefault("OMP_NUM_THREADS", "1")  # read when torch is imported, which no plugin does

# A busy machine takes any time for an example.
UNTIMED: dict[str, Any] = {"deadline": None, "suppress_health_check": [HealthCheck.too_slow]}
settings.register_profile("repeatable", **UNTIMED, derandomize=True)
settings.register_profile("random", **UNTIMED)
settings.load_profile("repeatable")


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config) -> None:
    """Workers of pytest-xdist are forked: each would import the same libraries, and prepare a process to fork from."""
    forked = forked_programs.install()
    config.add_cleanup(forked.close)
    forked.prepare()


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Imports all tests with the garbage collector off, and leaves what they import out of every later collection.

    It lives until the end, millions of objects: each full collection would take half a second.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        gc.enable()
        gc.set_threshold(10_000, 10, 50)  # by default, a tenth of the time of tests of grammars
        gc.freeze()
        atexit.register(gc.unfreeze)  # triton complains of objects that are left at the end


# They wait for other processes most of the time, a minute and more each: begun last, they would leave cores idle.
LONG = (
    "tests/docs/test_snippets.py",
    "tests/examples/",
    "tests/service/jobs/test_cluster_backend.py",
)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: not item.nodeid.startswith(LONG))  # stable: files stay together


@pytest.fixture(scope="session", autouse=True)
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The environment of all tests."""
    authority = tmp_path_factory.mktemp("authority") / "authority.pem"
    trustme.CA().cert_pem.write_to_path(str(authority))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        # An engine that starts compiles the most used grammars of the cache in the background: those of other tests.
        patch.setenv("INTAGLIO_ENGINE_GRAMMAR_WARM", "0")
        # Each HTTP client reads the certificates of the authorities that it trusts: 30 ms for those of the system.
        patch.setenv("SSL_CERT_FILE", str(authority))
        forked = forked_programs.install()
        yield
        forked.close()
        assert not forked.is_lost, "a test ended the process that programs are forked from"
