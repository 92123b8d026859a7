"""The runner of a job: gets its rows extracted.

Does: keep the batch of the backend full, renew leases, release rows in flight when the run stops or cannot continue.
Does not: read the source (`source_reader`), buffer outcomes (`outcome_buffer`) or write outputs (`publish`). It holds
only rows in flight, whatever the size of the job.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Generator
from contextlib import closing, suppress
from typing import Final
from uuid import uuid4

from intaglio.schemas.jobs import JobState, JobStatus

from .backends import ExtractionBackend, Stopped, Task, TaskFeed
from .fixed_values import with_fixed_values
from .ledger import Ledger
from .outcome_buffer import TIMING, OutcomeBuffer, Progress, Timing
from .records.row import Claim
from .records.row_files import RowFileRefused, load
from .source_images import FindImage
from .source_reader import SourceReader

_CLAIM_ROWS: Final = 32  # rows claimed at a time
_HEARTBEAT_S: Final = 0.5
_IMAGE_BYTES: Final = 512 * 1024 * 1024
"""The most memory of images in flight, about; a row with more runs without others that have images."""


class Runner:
    """Runs one job in the calling thread. `on_progress` is called about twice a second."""

    def __init__(
        self,
        ledger: Ledger,
        job: str,
        backend: ExtractionBackend,
        on_progress: Callable[[Progress], None] | None = None,
        timing: Timing = TIMING,
        find_image: FindImage | None = None,
    ) -> None:
        """`find_image`: see `ImageAccess`."""
        self._ledger = ledger
        self._job = job
        self._spec = ledger.spec(job)
        self._rows = ledger.rows(job)
        self._backend = backend
        self._on_progress = on_progress
        self._holder = uuid4().hex
        self._stop = threading.Event()
        fingerprint = ledger.origin(job)[1]
        self._reader = SourceReader(self._spec, self._rows, fingerprint, self._stop, find_image)
        self._outcomes = OutcomeBuffer(self._rows, self._spec, timing)
        self._last_heartbeat = 0.0
        self._in_flight: dict[int, int] = {}  # the rows, with the memory that their images take

    def stop(self) -> None:
        """Make `run` release the rows in flight and return. Safe to call from a signal handler."""
        self._stop.set()

    def run(self, stopped: JobState = JobState.PAUSED) -> JobStatus:
        """Run until every row has ended, or a pause or cancel is requested.

        A job that was paused or cancelled before stays unchanged. `stopped`: the state of one that `stop` interrupts.

        Raises:
            LedgerRefused: the ledger cannot be written; its contents are intact, and the job can be resumed.
            IntaglioError: no row would survive it, such as a schema that cannot be enforced; the job has failed.
            InputRefused: the rows have images, and the model reads none.
        """
        self._reader.look(self._backend)
        if not self._ledger.begin(self._job):
            return self._ledger.status(self._job)
        if not self._ledger.shared:
            self._rows.release()  # the previous holder is gone: there is one runner at a time
        self._reader.start()
        try:
            while not self._stop.is_set():
                self._in_flight.clear()
                self._extract_due_rows()
                self._outcomes.flush()
                if self._is_done() or self._outcomes.must_stop:
                    break
                self._stop.wait(self._idle_s())
                self._heartbeat()
        finally:
            self._stop.set()
            try:
                self._outcomes.flush()
                self._rows.release(self._holder)
            finally:
                self._reader.join()
        return self._finish(stopped)

    def _extract_due_rows(self) -> None:
        """Extract until no row is due, or the run stops."""
        feed = TaskFeed(self._tasks(), self._heartbeat_or_stop)
        with suppress(Stopped), closing(self._backend.extract(feed)) as finished:
            for claim, outcome in finished:
                self._in_flight.pop(claim.row, None)
                self._outcomes.add(claim, outcome)
                self._heartbeat_or_stop()

    def _heartbeat_or_stop(self) -> None:
        """Run the heartbeat; abort the rows in flight if the run is stopped or cannot continue."""
        self._heartbeat()
        if self._stop.is_set() or self._outcomes.must_stop:
            raise Stopped

    def _tasks(self) -> Generator[Task | None, None, None]:
        """Rows for the backend; None while no row is due. A suspect runs alone."""
        claims: deque[Claim] = deque()
        last_claim, exclusive = 0.0, None
        while not self._stop.is_set() and not self._outcomes.must_stop:
            self._heartbeat()
            if not claims and time.monotonic() - last_claim > _HEARTBEAT_S / 5:
                claims.extend(
                    self._rows.claim(self._holder, _CLAIM_ROWS, self._outcomes.timing.lease_s)
                )
                last_claim = 0.0 if claims else time.monotonic()
            must_wait = (
                self._in_flight
                and claims
                and (
                    claims[0].suspect
                    or exclusive in self._in_flight
                    or not self._has_room(claims[0])
                )
            )
            if not claims or must_wait:
                yield None
                continue
            claim = claims.popleft()
            try:
                files = load(claim.files)
            except RowFileRefused as error:
                self._outcomes.refuse(claim, error)
                continue
            self._in_flight[claim.row] = _weight(claim)
            exclusive = claim.row if claim.suspect else None
            yield Task(claim, with_fixed_values(self._spec.schema_, claim.given), files)

    def _has_room(self, claim: Claim) -> bool:
        """Whether the images of a row may be in memory beside those of the rows in flight."""
        held, more = sum(self._in_flight.values()), _weight(claim)
        return not (held and more) or held + more <= _IMAGE_BYTES

    def _heartbeat(self) -> None:
        """Twice a second: flush outcomes, renew leases, check for requests, report progress."""
        now = time.monotonic()
        if now - self._last_heartbeat < _HEARTBEAT_S:
            return
        self._last_heartbeat = now
        self._outcomes.flush()
        self._rows.renew(self._holder, self._outcomes.timing.lease_s)
        if self._ledger.stop_request(self._job) is not None:
            self._stop.set()
        if self._on_progress is not None:
            self._on_progress(self._outcomes.progress(whole=self._reader.whole))

    def _idle_s(self) -> float:
        """Seconds until a row may be due."""
        due = self._rows.next_due()
        return _HEARTBEAT_S if due is None else min(max(due - time.time(), 0.01), _HEARTBEAT_S)

    def _is_done(self) -> bool:
        if not self._reader.is_done:
            return False
        counts = self._rows.counts()
        return counts.pending == 0 and counts.running == 0

    def _finish(self, stopped: JobState) -> JobStatus:
        progress = self._outcomes.recounted_progress(whole=self._reader.whole)
        end = self._end(progress)
        if end is not None:
            self._ledger.move(self._job, *end)
        else:
            works = progress.counts.running > 0  # other runners do
            self._ledger.move(self._job, JobState.RUNNING if works else stopped)
        if self._on_progress is not None:
            self._on_progress(progress)
        if self._outcomes.fatal is not None:
            raise self._outcomes.fatal
        return self._ledger.status(self._job)

    def _end(self, progress: Progress) -> tuple[JobState, str | None] | None:
        """The state in which the job ends, with the error if it has failed; None if it can go on."""
        counts, fatal, refused = progress.counts, self._outcomes.fatal, self._reader.refused
        if fatal is not None:
            return JobState.FAILED, fatal.message
        if self._outcomes.too_many_dead:
            return JobState.FAILED, f"{counts.dead} of {counts.dead + counts.done} rows are dead"
        if counts.pending or counts.running or self._ledger.stop_request(self._job) == "cancel":
            return None
        if refused is not None:
            return JobState.FAILED, refused.message
        if progress.whole:
            done = JobState.COMPLETED_WITH_ERRORS if counts.dead else JobState.COMPLETED
            return done, None
        return None


def _weight(claim: Claim) -> int:
    return 0 if claim.files is None else claim.files.weight
