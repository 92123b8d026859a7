"""The commands of `intaglio job`: start, resume, pause and show jobs.

Does: make a job from options, run it with progress on standard error, write its outputs when it ends. Does not: parse
options (`job_commands`) or process rows (`jobs`).
"""

import os
import shlex
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NoReturn

from intaglio.schemas.jobs import JobSpec, JobState, JobStatus

from ..config import ServiceConfig
from .adapter_option import chosen_adapter
from .cli_errors import CliError, Exit
from .console import errors, results, spinner, write_json
from .job_estimate import show_estimate
from .job_progress import ProgressBar, status_line
from .local_model import offline, require_local_calibration

try:
    from ..jobs.backends import ExtractionBackend, LocalBackend, RemoteBackend, RowOptions
    from ..jobs.estimate import estimate
    from ..jobs.ingest import selected_rows, source_fingerprint
    from ..jobs.job_runner import Runner
    from ..jobs.ledger import Ledger
    from ..jobs.lock import is_running, sole_runner
    from ..jobs.publish import publish
    from ..jobs.records.errors import LedgerMissing
    from ..jobs.records.input_files import check_expansion
    from ..jobs.records.row import spec_digest
    from ..jobs.report import contract_of_job
    from ..jobs.source_images import EVERYTHING, image_access
    from ..jobs.targets import (
        JobInputs,
        check,
        partial_path,
        require_known_files,
        require_own_files,
    )
    from .job_options import JobCommand
except ModuleNotFoundError as missing:
    raise CliError(
        f"jobs need {missing.name!r}, which is not installed",
        Exit.UNREACHABLE,
        hint="pip install 'intaglio[server,bulk]'",
    ) from missing


@dataclass(frozen=True, slots=True)
class EngineOptions:
    """The choice of an extraction backend: a service at `url`, a Ray cluster, or a local engine.

    `calibration` is the file of a calibration for engines of this command's own; a service has its own.
    """

    url: str | None
    model: str | None
    at_once: int | None = None
    cluster: str | None = None
    workers: int | None = None
    calibration: Path | None = None

    def __post_init__(self) -> None:
        """Refuse options that would be ignored. Raises `CliError`."""
        if self.cluster is not None and self.url is not None:
            raise _excluded("--url", "a cluster computes the rows itself: omit --url or --cluster")
        if self.cluster is not None and self.at_once is not None:
            raise _excluded(
                "--at-once", "the engines of a cluster take as many rows as they can: omit it"
            )
        if self.cluster is None and self.workers is not None:
            raise _excluded("--workers", "it belongs to --cluster: give that, too, or omit it")

    @contextmanager
    def ready(self, spec: JobSpec) -> Iterator[ExtractionBackend]:
        """Open the backend for the duration of the context, with the adapter that the job names.

        Raises:
            CliError, JobError, IntaglioError: the model or the adapter cannot be used.
        """
        require_local_calibration(self.calibration, self.url)
        options: RowOptions = spec.options.model_dump(exclude_unset=True)  # type: ignore[assignment]
        chosen = chosen_adapter(spec.adapter, self.url, self.model)
        if chosen is not None:
            options["adapter"] = chosen.name
        folders = None if chosen is None else chosen.folders
        limits = {} if self.at_once is None else {"at_once": self.at_once}
        if self.cluster is not None:
            with _on_cluster(self.cluster, self, options, folders) as clustered:
                yield clustered
            return
        if self.url is not None:
            remote = RemoteBackend(self.url, options, self.model, **limits)
            if chosen is not None:
                remote.find_model()  # refuses an adapter that the service lacks
            yield remote
            return
        with offline(self.model, self.calibration, folders) as loaded:
            yield LocalBackend(loaded.llm, options, **limits)


def _excluded(option: str, hint: str) -> CliError:
    return CliError(f"{option} has no effect here", Exit.USAGE, hint=hint, where=option)


@dataclass(frozen=True, slots=True)
class RunOptions:
    """Options of output and overwriting for one run. `named` are the outputs of this command; None: all of the job."""

    as_json: bool
    overwrite: bool = False
    retry_dead: bool = False
    named: frozenset[str] | None = None


def start(
    command: JobCommand,
    engine: EngineOptions,
    ledger_url: str | None,
    options: RunOptions,
    *,
    dry_run: bool,
) -> Exit:
    """Start a job, or resume it if the same command was interrupted."""
    spec = command.spec()
    path = Path(spec.source.path)
    check(spec.outputs, JobInputs(path, command.schema_file))
    source_fingerprint(path)  # refuses a source that does not exist
    # Refuse an unreadable source before a model is loaded.
    if path.is_file():
        check_expansion(path)
    next(selected_rows(spec, path, EVERYTHING), None)
    if dry_run:
        with engine.ready(spec) as backend:
            with spinner("reading the source and trying a few rows"):
                found = estimate(spec, backend)
            return show_estimate(found, spec.prices, as_json=options.as_json)
    with open_ledger(ledger_url, create=True) as ledger:
        check(spec.outputs, JobInputs(path, command.schema_file, ledger.file))
        if not options.overwrite:
            require_known_files(spec.outputs, ledger.outputs(""))
        with engine.ready(spec) as backend:
            images = image_access(spec.source, path, backend)
            fingerprint = source_fingerprint(path, images=images.sees)
            job = _registered(ledger, command, spec, fingerprint, backend.model, options)
            options = replace(options, named=frozenset(output.path for output in spec.outputs))
            return _run(ledger, job, backend, options)


def _registered(
    ledger: Ledger,
    command: JobCommand,
    spec: JobSpec,
    fingerprint: str,
    model: str,
    options: RunOptions,
) -> str:
    """Create the job in the ledger, or add outputs to the existing one; returns its name."""
    digest = spec_digest(spec, model)
    job = command.job_name(digest)
    if spec.extends is not None:
        ledger.status(spec.extends)  # refuses the name of no job
    if not options.overwrite:
        require_own_files(spec.outputs, ledger.outputs(job))
        _require_no_rival(ledger, job, spec)
    if job not in ledger.names():
        ledger.create(job, spec, digest, fingerprint, model)
    elif ledger.origin(job) != (digest, fingerprint):
        raise CliError(
            f"job {job!r} was started with another source, schema, model or option",
            Exit.USAGE,
            hint="choose another name (--job), or run `intaglio job resume`",
        )
    else:
        ledger.outputs(job).request(spec.outputs)
    return job


def _require_no_rival(ledger: Ledger, job: str, spec: JobSpec) -> None:
    """Refuse an output that a running job will write: the later one would find it there, after all its work."""
    for rival, path in ledger.outputs(job).rivals(spec.outputs).items():
        if is_running(ledger, rival):
            raise CliError(
                f"{path} is an output of job {rival!r}, which is running",
                Exit.USAGE,
                hint="choose another name (--out), or wait until that job has ended",
                where="--out",
            )


def resume(job: str, engine: EngineOptions, ledger_url: str | None, options: RunOptions) -> Exit:
    """Resume a job of the ledger."""
    with open_ledger(ledger_url) as ledger:
        spec = ledger.spec(job)
        check(spec.outputs, JobInputs(Path(spec.source.path), ledger=ledger.file))
        if not options.overwrite:
            require_own_files(spec.outputs, ledger.outputs(job))
        with engine.ready(spec) as backend:
            if spec_digest(spec, backend.model) != ledger.origin(job)[0]:
                raise CliError(
                    f"job {job!r} was started with the model {ledger.status(job).model}, "
                    f"not {backend.model}",
                    Exit.USAGE,
                    hint="select that model (--model or --url)",
                )
            return _run(ledger, job, backend, options)


def request_stop(job: str, what: Literal["pause", "cancel"], ledger_url: str | None) -> Exit:
    """Ask the runner of a job to pause or cancel; without a runner, change the state directly."""
    with open_ledger(ledger_url) as ledger:
        ledger.request(job, what)
        if ledger.status(job).state is JobState.RUNNING:
            errors().print(f"{job} will stop in a moment and release its rows in flight")
        return Exit.OK


def show_status(job: str, ledger_url: str | None, *, as_json: bool) -> Exit:
    """Print the status of one job."""
    with open_ledger(ledger_url) as ledger:
        status = ledger.status(job)
    if as_json:
        write_json(status.model_dump(mode="json"), raw=True)
    else:
        results().print(status_line(status), soft_wrap=True)
    return Exit.OK


def show_all(ledger_url: str | None, *, as_json: bool) -> Exit:
    """Print the status of every job."""
    try:
        with open_ledger(ledger_url) as ledger:
            statuses = [ledger.status(job) for job in ledger.names()]
    except LedgerMissing:
        if ledger_url is not None:
            raise
        statuses = []  # no job has run yet
    if as_json:
        write_json([status.model_dump(mode="json") for status in statuses], raw=True)
    else:
        for status in statuses:
            results().print(status_line(status), soft_wrap=True)
        if not statuses:
            errors().print("there are no jobs yet: intaglio job run --help")
    return Exit.OK


def rewrite_outputs(job: str, ledger_url: str | None, options: RunOptions) -> Exit:
    """Write the outputs of a job again from the ledger."""
    with open_ledger(ledger_url) as ledger:
        check(
            ledger.spec(job).outputs,
            JobInputs(Path(ledger.spec(job).source.path), ledger=ledger.file),
        )
        written = publish(ledger, job, overwrite=options.overwrite)
    if options.as_json:
        write_json([str(path) for path in written], raw=True)
    else:
        for path in written:
            results().print(str(path), soft_wrap=True)
    return Exit.OK


@contextmanager
def _on_cluster(
    address: str,
    engine: EngineOptions,
    options: RowOptions,
    adapters: Mapping[str, str] | None,
) -> Iterator[ExtractionBackend]:
    try:
        from ..jobs.cluster_backend import ClusterBackend
        from ..offline.llm import LLM
    except ModuleNotFoundError as missing:
        raise CliError(
            f"a cluster needs {missing.name!r}, which is not installed",
            Exit.UNREACHABLE,
            hint="pip install 'intaglio[server,bulk,cluster]'",
        ) from missing
    with spinner("starting the workers"):
        try:
            load = partial(LLM, engine.model, calibration=engine.calibration, adapters=adapters)
            clustered = ClusterBackend(address, load, options, engine.workers)
        except (ConnectionError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise CliError(f"no cluster at {address}: {reason}", Exit.UNREACHABLE) from None
    try:
        yield clustered
    finally:
        clustered.close()


@contextmanager
def open_ledger(ledger_url: str | None, *, create: bool = False) -> Iterator[Ledger]:
    """The ledger at a path or URL, or that of the settings. Raises `LedgerMissing` if it is absent, unless `create`."""
    ledger = Ledger(ledger_url or ServiceConfig.load().ledger, create=create)
    try:
        yield ledger
    finally:
        ledger.close()


def _run(ledger: Ledger, job: str, backend: ExtractionBackend, options: RunOptions) -> Exit:
    with sole_runner(ledger, job):
        ledger.resume(job)
        if options.retry_dead:
            dead, again = ledger.status(job).counts.dead, ledger.rows(job).requeue_dead()
            left = (
                f", and {dead - again} are not: their records are at fault" if dead > again else ""
            )
            errors().print(f"{again} dead rows are retried{left}")
        counts = ledger.status(job).counts
        if counts.done:
            errors().print(f"{job}: resumed, {counts.done} rows are done", style="dim")
        with ProgressBar(job) as meter:
            runner = Runner(ledger, job, backend, meter.show)
            with _stopping(runner) as stopped:
                status = runner.run()
        # If other runners still work on the job, the last one writes the outputs.
        written = () if status.state is JobState.RUNNING else _publish(ledger, job, options)
    if options.as_json:
        write_json(status.model_dump(mode="json"), raw=True)
    else:
        results().print(status_line(status), soft_wrap=True)
        for path in written:
            errors().print(f"  {path}", style="dim")
        contract = contract_of_job(ledger.spec(job)) if status.counts.done else None
        for note in contract.notes() if contract else ():
            errors().print(f"schema: {note}", style="yellow")
    _print_partial(ledger.spec(job), status)
    return Exit.INTERRUPTED if stopped() else _exit_code(status)


def _publish(ledger: Ledger, job: str, options: RunOptions) -> tuple[Path, ...]:
    def warn(reason: str) -> None:
        errors().print(reason, style="yellow")

    return publish(ledger, job, overwrite=options.overwrite, named=options.named, warn=warn)


def _print_partial(spec: JobSpec, status: JobStatus) -> None:
    """Print that a job is incomplete, where its results are, and how to resume it."""
    if status.state in _COMPLETE or status.state is JobState.RUNNING or not spec.outputs:
        return
    counts, final = status.counts, Path(spec.outputs[0].path)
    rows = f"{counts.done + counts.dead} of {counts.rows}{'' if status.whole else '+'} rows"
    errors().print(
        f"not complete: {rows} have ended, with results in "
        f"{partial_path(final).name}; {final.name} is written when all rows have ended",
        style="yellow",
    )
    errors().print(f"to resume: intaglio job resume {shlex.quote(status.id)}", style="dim")


_COMPLETE = (JobState.COMPLETED, JobState.COMPLETED_WITH_ERRORS)


def _exit_code(status: JobStatus) -> Exit:
    return Exit.OK if status.state is JobState.COMPLETED else Exit.FAILED


@contextmanager
def _stopping(runner: Runner) -> Iterator[Any]:
    """Make Ctrl-C and SIGTERM stop the runner, which releases its rows in flight; a second signal ends the process at
    once.

    The ledger survives that as it survives `kill -9`: the next run takes up the rows in flight.
    """
    count = 0

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count > 1:
            _exit_now()
        errors().print("stopping and releasing rows in flight; press again to exit at once")
        runner.stop()

    old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: count > 0
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _exit_now() -> NoReturn:
    errors().show_cursor()
    os._exit(Exit.INTERRUPTED)
