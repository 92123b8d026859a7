"""Threads that run jobs that are waited for before jobs that may end later.

Does: run jobs in two orders of urgency, each in the order of its arrival. Does not: know what a job does.
"""

from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor


class ReadJobs:
    """`threads` threads, started as they are needed."""

    def __init__(self, threads: int) -> None:
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="weights")
        self._urgent = deque[tuple[Future[None], Callable[[], None]]]()
        self._later = deque[tuple[Future[None], Callable[[], None]]]()

    def submit(self, work: Callable[[], None], *, later: bool) -> Future[None]:
        """Have a thread call `work`; with `later`, when no other job waits."""
        future = Future[None]()
        (self._later if later else self._urgent).append((future, work))
        self._pool.submit(self._run_next)
        return future

    def close(self) -> None:
        """Return when no thread runs any more; jobs that have not begun never do."""
        self._pool.shutdown(cancel_futures=True)

    def _run_next(self) -> None:
        try:
            future, work = self._urgent.popleft()
        except IndexError:  # as many jobs as calls, so there is one
            future, work = self._later.popleft()
        if not future.set_running_or_notify_cancel():
            return
        try:
            work()
        except BaseException as error:
            future.set_exception(error)  # for the thread that waits
            raise
        else:
            future.set_result(None)
