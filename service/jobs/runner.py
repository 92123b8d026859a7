"""Gets the rows of a job done.

Does: hand rows to whoever extracts so that its batch stays full, keep the lease on them, give back those in hand when
asked to stop or when nothing can come of it. Does not: read the source (`reading`), book outcomes (`books`), write
outputs (`publish`). It holds no more rows than are in hand, however long the job.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from typing import Final
from uuid import uuid4

from ...schemas.jobs import JobState, JobStatus
from .books import TIMING, Books, Progress, Timing
from .extending import with_given
from .extracting import Extracting, Feed, Stopped, Task
from .ledger import Ledger
from .reading import Reading
from .row import Claim

_CLAIMED: Final = 32  # rows handed out at a time
_BEAT_S: Final = 0.5


class Runner:
    """Runs one job in the calling thread. `told` hears of progress a few times a second."""

    def __init__(
        self,
        ledger: Ledger,
        job: str,
        extracting: Extracting,
        told: Callable[[Progress], None] | None = None,
        timing: Timing = TIMING,
    ) -> None:
        self._ledger = ledger
        self._job = job
        self._spec = ledger.spec(job)
        self._rows = ledger.rows(job)
        self._extracting = extracting
        self._told = told
        self._holder = uuid4().hex
        self._stop = threading.Event()
        self._reading = Reading(self._spec, self._rows, ledger.origin(job)[1], self._stop)
        self._books = Books(self._rows, self._spec, timing)
        self._beaten = 0.0
        self._in_hand: set[int] = set()

    def stop(self) -> None:
        """Have `run` give back the rows in hand and return. May be called from a signal handler."""
        self._stop.set()

    def run(self) -> JobStatus:
        """Work until every row has come to its end, or somebody asks for something else.

        A job that is not to be run, since it was paused or cancelled before, stays as it is.

        Raises:
            LedgerRefused: the ledger cannot be written; what it has stays, and the job can be resumed.
            IntaglioError: what no row would survive, such as a schema that cannot be enforced; the job has failed.
        """
        if not self._ledger.begin(self._job):
            return self._ledger.status(self._job)
        if not self._ledger.shared:
            self._rows.release()  # whoever held them is gone: there is one runner at a time
        self._reading.start()
        try:
            while not self._stop.is_set():
                self._in_hand.clear()
                self._take_turn()
                self._books.settle()
                if self._is_done() or self._books.hopeless:
                    break
                self._stop.wait(self._pause())
                self._beat()
        finally:
            self._stop.set()
            self._books.settle()
            self._rows.release(self._holder)
            self._reading.join()
        return self._end()

    def _take_turn(self) -> None:
        """Extract until there is nothing to do just now, or the run is stopped."""
        feed = Feed(self._feed(), self._look)
        with suppress(Stopped), closing(self._extracting.extract(feed)) as finished:
            for claim, outcome in finished:
                self._in_hand.discard(claim.row)
                self._books.enter(claim, outcome)
                self._look()

    def _look(self) -> None:
        """Beat; have what is in hand aborted where the run is stopped, or nothing can come of it."""
        self._beat()
        if self._stop.is_set() or self._books.hopeless:
            raise Stopped

    def _feed(self) -> Generator[Task | None, None, None]:
        """Rows as somebody asks for them; None while there is none. A suspect is alone in hand."""
        claims: deque[Claim] = deque()
        looked, alone = 0.0, None
        while not self._stop.is_set() and not self._books.hopeless:
            self._beat()
            if not claims and time.monotonic() - looked > _BEAT_S / 5:
                claims.extend(self._rows.claim(self._holder, _CLAIMED, self._books.timing.lease_s))
                looked = 0.0 if claims else time.monotonic()
            if claims and not (self._in_hand and (claims[0].suspect or alone in self._in_hand)):
                claim = claims.popleft()
                self._in_hand.add(claim.row)
                alone = claim.row if claim.suspect else None
                yield Task(claim, with_given(self._spec.schema_, claim.given))
            else:
                yield None

    def _beat(self) -> None:
        """Twice a second: settle, keep the lease, hear what is wanted, tell how far it is."""
        now = time.monotonic()
        if now - self._beaten < _BEAT_S:
            return
        self._beaten = now
        self._books.settle()
        self._rows.renew(self._holder, self._books.timing.lease_s)
        if self._ledger.wanted(self._job) is not None:
            self._stop.set()
        if self._told is not None:
            self._told(self._books.progress(whole=self._reading.whole))

    def _pause(self) -> float:
        """Seconds until there may be a row to do."""
        due = self._rows.next_due()
        return _BEAT_S if due is None else min(max(due - time.time(), 0.01), _BEAT_S)

    def _is_done(self) -> bool:
        if not self._reading.is_over:
            return False
        counts = self._rows.counts()
        return counts.pending == 0 and counts.running == 0

    def _end(self) -> JobStatus:
        wanted = self._ledger.wanted(self._job)
        progress = self._books.final(whole=self._reading.whole)
        counts, fatal, refused = progress.counts, self._books.fatal, self._reading.refused
        over = counts.pending == 0 and counts.running == 0
        state, error = JobState.PAUSED, None
        if fatal is not None:
            state, error = JobState.FAILED, fatal.message
        elif self._books.too_many_dead:
            state, error = (
                JobState.FAILED,
                f"{counts.dead} of {counts.dead + counts.done} rows died",
            )
        elif wanted == "cancel":
            state = JobState.CANCELLED
        elif over and refused is not None:
            state, error = JobState.FAILED, refused.message
        elif over and progress.whole:
            state = JobState.COMPLETED_WITH_ERRORS if counts.dead else JobState.COMPLETED
        elif counts.running:
            state = JobState.RUNNING  # others are still at it
        self._ledger.move(self._job, state, error)
        if self._told is not None:
            self._told(progress)
        if fatal is not None:
            raise fatal
        return self._ledger.status(self._job)
