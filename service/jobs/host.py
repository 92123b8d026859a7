"""Jobs that a server runs for its clients: one at a time, in a thread, resumed after a restart.

Does: accept jobs; run the oldest ready one, in one of the processes that share the folder; pause the running one when
the server stops. Does not: handle HTTP (`service/http/job_routes.py`).
"""

import hashlib
import threading
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Literal
from uuid import uuid4

from intaglio.schemas.jobs import ENDED, JobSpec, JobState, JobStatus

from ..client import IntaglioError
from .backends import ExtractionBackend
from .folder import DataFolder
from .ingest import selected_rows, source_fingerprint
from .job_runner import Runner
from .ledger import Ledger
from .lock import held, sole_runner
from .owners import job_name
from .records.errors import InputRefused, JobChanged, JobError, LedgerRefused, TooManyJobs
from .records.input_files import check_expansion
from .records.row import spec_digest
from .source_images import NOTHING, ImageAccess

MakeExtracting = Callable[[str, JobSpec], ExtractionBackend]
"""Makes the backend of a job from its name and specification."""

MakeRunner = Callable[[str], Runner]
FindJobImage = Callable[[str, str], Path]
"""As `FindImage`, for the job of the name that comes first."""

_POLL_S = 0.5  # other processes may create jobs, and end while they run some
_REFUSED_S = 5.0  # until a ledger that could not be written is tried again


class JobHost:
    """The jobs of one server in its data folder.

    `failed` is called for jobs that end with an unexpected error, `waits` for those that cannot go on at present,
    because the ledger cannot be written. These are tried again every `refused_s` seconds.
    """

    def __init__(
        self,
        folder: Path,
        max_bytes: int,
        max_open: int,
        failed: Callable[[str, Exception], None],
        waits: Callable[[str, Exception], None],
        refused_s: float = _REFUSED_S,
    ) -> None:
        self.files = DataFolder(folder, max_bytes)
        self.ledger = Ledger(str(folder / "jobs.db"))
        self._lock = folder / "jobs.lock"
        self._max_open = max_open
        self._failed = failed
        self._waits = waits
        self._refused_s = refused_s
        self._stop = threading.Event()
        self._changed = threading.Event()
        self._runner: Runner | None = None
        self._running = ""  # the job of the last run
        self._thread: threading.Thread | None = None

    def submit(
        self,
        spec: JobSpec,
        path: Path,
        model: str,
        key: str | None = None,
        owner: str = "",
        images: ImageAccess = NOTHING,
    ) -> JobStatus:
        """Create a job over the file `path`, for the API key of id `owner`. `images`: what its rows may see.

        The same idempotency `key` with the same job returns the existing job.

        Raises:
            InputRefused: the job names outputs, or its source cannot be read.
            JobChanged: the key was used for another job.
            TooManyJobs: the limit of unfinished jobs is reached.
        """
        if spec.outputs:
            raise InputRefused(
                "a server writes no files for its clients",
                param="outputs",
                hint="omit outputs; GET /v1/jobs/ID/results returns them in any format",
            )
        spec = spec.model_copy(
            update={"source": spec.source.model_copy(update={"path": str(path)})}
        )
        check_expansion(path)
        next(selected_rows(spec, path, images), None)  # refuse an unreadable source at once
        digest, fingerprint = spec_digest(spec, model), source_fingerprint(path)
        unique = hashlib.sha256(key.encode()).hexdigest()[:32] if key else uuid4().hex
        job = job_name(owner, unique)
        try:
            if job not in self.ledger.names() and self.ledger.open_jobs() >= self._max_open:
                raise TooManyJobs(
                    f"{self._max_open} jobs are unfinished", hint="try again when one has ended"
                )
            self.ledger.create(job, spec, digest, fingerprint, model)
        except JobChanged:
            if self.ledger.origin(job)[0] != digest:
                raise JobChanged(
                    "this idempotency key was used for another job", hint="use a new key"
                ) from None
        self._changed.set()
        return self.ledger.status(job)

    def request(self, job: str, what: Literal["pause", "cancel", "resume"]) -> JobStatus:
        """Pause, cancel or resume a job.

        Raises:
            UnknownJob: there is no job of that name.
            JobChanged: the job has ended.
        """
        if what != "resume":
            self.ledger.request(job, what)
        else:
            state = self.ledger.status(job).state
            if state in ENDED and state not in _RESUMABLE:
                raise JobChanged(f"job {job!r} has ended: {state.value}")
            self.ledger.resume(job)
            self._changed.set()
        return self.ledger.status(job)

    def start(self, make: MakeExtracting, find_image: FindJobImage | None = None) -> None:
        """Start to run jobs, first the one that a crash or restart interrupted."""

        def runner_of(job: str) -> Runner:
            find = None if find_image is None else partial(find_image, job)
            backend = make(job, self.ledger.spec(job))
            return Runner(self.ledger, job, backend, find_image=find)

        self._thread = threading.Thread(
            target=self._work, args=(runner_of,), name="jobs", daemon=True
        )
        self._thread.start()

    def close(self) -> None:
        """Stop after the rows in flight; the job continues at the next start."""
        self._stop.set()
        self._changed.set()
        runner = self._runner  # the thread may end its run meanwhile
        if runner is not None:
            runner.stop()
        if self._thread is not None:
            self._thread.join()
        self.ledger.close()

    def _work(self, make: MakeRunner) -> None:
        while not self._stop.is_set():
            with held(self._lock) as is_held:
                while is_held and not self._stop.is_set():
                    self._run_next_or_wait(make)
            self._stop.wait(_POLL_S)

    def _run_next_or_wait(self, make: MakeRunner) -> None:
        """`_run_next`; while the ledger cannot be written, its jobs wait: none of them has failed."""
        try:
            self._run_next(make)
        except LedgerRefused as error:
            self._waits(self._running, error)
            self._stop.wait(self._refused_s)

    def _run_next(self, make: MakeRunner) -> None:
        self._changed.clear()
        job = self._next()
        if job is None:
            self._changed.wait(_POLL_S)
        else:
            self._run(job, make)

    def _next(self) -> str | None:
        """The oldest ready job."""
        for job in reversed(self.ledger.names()):
            if self.ledger.status(job).state in (JobState.READY, JobState.RUNNING):
                return job
        return None

    def _run(self, job: str, make: MakeRunner) -> None:
        self._running = job
        try:
            with sole_runner(self.ledger, job):
                self._runner = make(job)
                if self._stop.is_set():
                    return
                self._runner.run(stopped=JobState.READY)
        except LedgerRefused:
            raise
        except (IntaglioError, JobError) as error:
            self.ledger.move(job, JobState.FAILED, error.message)
            self._failed(job, error)
        finally:
            self._runner = None


_RESUMABLE = frozenset({JobState.CANCELLED, JobState.FAILED})
