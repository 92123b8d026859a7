"""Jobs that a server runs for its clients: one after the other, in a thread, and on again after a restart.

Does: take jobs, run the oldest that is ready, pause the one at work when the server stops. Does not: speak HTTP
(`service/job_routes.py`).
"""

import hashlib
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Literal
from uuid import uuid4

from ...schemas.jobs import ENDED, JobSpec, JobState, JobStatus
from ..client import IntaglioError
from .errors import InputRefused, JobChanged, JobError, TooManyJobs
from .extracting import ExtractionBackend
from .folder import DataFolder
from .ingest import selected_rows, source_mark
from .ledger import Ledger
from .lock import sole_runner
from .opening import check_expansion
from .row import spec_digest
from .runner import Runner

MakeExtracting = Callable[[JobSpec], ExtractionBackend]
_POLL_S = 0.5


class JobHost:
    """The jobs of one server, in its data folder. `failed` hears of jobs that ended by an error of their own."""

    def __init__(
        self,
        folder: Path,
        max_bytes: int,
        max_open: int,
        failed: Callable[[str, Exception], None],
    ) -> None:
        self.files = DataFolder(folder, max_bytes)
        self.ledger = Ledger(str(folder / "jobs.db"))
        self._max_open = max_open
        self._failed = failed
        self._stop = threading.Event()
        self._changed = threading.Event()
        self._runner: Runner | None = None
        self._thread: threading.Thread | None = None

    def submit(self, spec: JobSpec, model: str, key: str | None) -> JobStatus:
        """Begin a job over a file of the data folder. The same `key` with the same job gives the job that is there.

        Raises:
            InputRefused: the job names outputs, or a source that cannot be read.
            JobChanged: the key was used for another job.
            TooManyJobs: as many as the server takes have not ended.
        """
        if spec.outputs:
            raise InputRefused(
                "a server writes no files for its clients",
                param="outputs",
                hint="leave outputs out; GET /v1/jobs/ID/results gives them in any format",
            )
        path = self.files.path(spec.source.path)
        spec = spec.model_copy(
            update={"source": spec.source.model_copy(update={"path": str(path)})}
        )
        check_expansion(path)
        next(
            selected_rows(spec, path), None
        )  # a source that cannot be read at all is refused at once
        digest, mark = spec_digest(spec, model), source_mark(path)
        job = f"job_{hashlib.sha256(key.encode()).hexdigest()[:32] if key else uuid4().hex}"
        try:
            if job not in self.ledger.names() and self.ledger.open_jobs() >= self._max_open:
                raise TooManyJobs(
                    f"{self._max_open} jobs have not ended yet", hint="try again when one has"
                )
            self.ledger.create(job, spec, digest, mark, model)
        except JobChanged:
            if self.ledger.origin(job)[0] != digest:
                raise JobChanged(
                    "this idempotency key was used for another job", hint="use a new key"
                ) from None
        self._changed.set()
        return self.ledger.status(job)

    def ask(self, job: str, what: Literal["pause", "cancel", "resume"]) -> JobStatus:
        """Pause, cancel or go on with a job.

        Raises:
            UnknownJob: there is none of that name.
            JobChanged: it has ended.
        """
        if what != "resume":
            self.ledger.ask(job, what)
        else:
            state = self.ledger.status(job).state
            if state in ENDED and state not in _RESUMABLE:
                raise JobChanged(f"job {job!r} has ended: {state.value}")
            self.ledger.resume(job)
            self._changed.set()
        return self.ledger.status(job)

    def start(self, make: MakeExtracting) -> None:
        """Begin to run jobs, first of all the one that a crash or restart cut short."""
        self._thread = threading.Thread(target=self._work, args=(make,), name="jobs", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop when the rows in hand are done; the job goes on at the next start."""
        self._stop.set()
        self._changed.set()
        if self._runner is not None:
            self._runner.stop()
        if self._thread is not None:
            self._thread.join()
        self.ledger.close()

    def _work(self, make: MakeExtracting) -> None:
        while not self._stop.is_set():
            self._changed.clear()
            job = self._next()
            if job is None:
                self._changed.wait(_POLL_S * 20)
            else:
                self._run(job, make)

    def _next(self) -> str | None:
        """The oldest job that is to be run."""
        for job in reversed(self.ledger.names()):
            if self.ledger.status(job).state in (JobState.READY, JobState.RUNNING):
                return job
        return None

    def _run(self, job: str, make: MakeExtracting) -> None:
        try:
            with sole_runner(self.ledger, job):
                self._runner = Runner(self.ledger, job, make(self.ledger.spec(job)))
                if self._stop.is_set():
                    return
                status = self._runner.run()
                if status.state is JobState.PAUSED and self._stop.is_set():
                    self.ledger.move(job, JobState.READY)
        except (IntaglioError, JobError) as error:
            self.ledger.move(job, JobState.FAILED, error.message)
            self._failed(job, error)
        finally:
            self._runner = None


_RESUMABLE = frozenset({JobState.CANCELLED, JobState.FAILED})
