"""What `intaglio job …` does: begin, go on, ask, show.

Does: turn options into a job, run it with progress on standard error, write its outputs when it ends. Does not: parse
options (`cli_job_app`) or know rows (`jobs`).
"""

import os
import shlex
import signal
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Literal, NoReturn

from ..schemas.jobs import JobSpec, JobState, JobStatus, Prices
from .cli_console import errors, results, waiting, write_json
from .cli_job_progress import Meter, told
from .cli_offline import offline
from .cli_trouble import Exit, Trouble
from .client import Options
from .config import ServiceConfig

try:
    from .cli_job_asked import Asked
    from .jobs.estimate import Estimate, estimate
    from .jobs.extracting import Extracting, Local, Remote
    from .jobs.ingest import chosen, source_mark
    from .jobs.ledger import Ledger
    from .jobs.lock import sole_runner
    from .jobs.opening import insist_harmless
    from .jobs.publish import publish
    from .jobs.report import contract_of_job
    from .jobs.row import spec_digest
    from .jobs.runner import Runner
    from .jobs.targets import Reads, check, insist_known, insist_own
    from .jobs.targets import partial as partial_name
except ModuleNotFoundError as missing:
    raise Trouble(
        f"jobs need {missing.name!r}, which is not installed",
        Exit.UNREACHABLE,
        hint="pip install 'intaglio[server,bulk]'",
    ) from missing


@dataclass(frozen=True, slots=True)
class Engine:
    """Where the extractions are done: a service at `url`, a Ray cluster, or here."""

    url: str | None
    model: str | None
    at_once: int | None = None
    cluster: str | None = None
    workers: int | None = None

    @contextmanager
    def ready(self, spec: JobSpec) -> Iterator[Extracting]:
        """Whoever does them."""
        options: Options = spec.options.model_dump(exclude_unset=True)  # type: ignore[assignment]
        more = {} if self.at_once is None else {"at_once": self.at_once}
        if self.cluster is not None:
            with _on_cluster(self.cluster, self.model, options, self.workers) as clustered:
                yield clustered
            return
        if self.url is not None:
            yield Remote(self.url, options, self.model, **more)
            return
        with offline(self.model) as loaded:
            yield Local(loaded.llm, options, **more)


@dataclass(frozen=True, slots=True)
class Run:
    """How a run is told, and what it may write over. `named` are the outputs that this command asks for; None: all."""

    as_json: bool
    overwrite: bool = False
    dead_too: bool = False
    named: frozenset[str] | None = None


def begin(asked: Asked, engine: Engine, ledger: str | None, how: Run, *, dry_run: bool) -> Exit:
    """A new job, or the same one again where it was interrupted."""
    spec = asked.spec()
    path = Path(spec.source.path)
    check(spec.outputs, Reads(path, asked.schema_file))
    mark = source_mark(path)
    # A source that cannot be read is refused before a model is loaded.
    if path.is_file():
        insist_harmless(path)
    next(chosen(spec, path), None)
    if dry_run:
        with engine.ready(spec) as extracting:
            with waiting("reading the source and trying a few rows"):
                found = estimate(spec, extracting)
            return _show_estimate(found, spec.prices, as_json=how.as_json)
    with _opened(ledger) as book:
        check(spec.outputs, Reads(path, asked.schema_file, book.file))
        if not how.overwrite:
            insist_known(spec.outputs, book.outputs(""))
        with engine.ready(spec) as extracting:
            job = _entered(book, asked, spec, mark, extracting.model, how)
            how = replace(how, named=frozenset(output.path for output in spec.outputs))
            return _run(book, job, extracting, how)


def _entered(book: Ledger, asked: Asked, spec: JobSpec, mark: str, model: str, how: Run) -> str:
    """The name of the job, which the ledger has from now on with these outputs."""
    digest = spec_digest(spec, model)
    job = asked.job_name(digest)
    if not how.overwrite:
        insist_own(spec.outputs, book.outputs(job))
    if job not in book.names():
        book.create(job, spec, digest, mark, model)
    elif book.origin(job) != (digest, mark):
        raise Trouble(
            f"job {job!r} was begun with another source, schema, model or option",
            Exit.USAGE,
            hint="name this one otherwise (--job), or `intaglio job resume` that one",
        )
    else:
        book.outputs(job).ask_for(spec.outputs)
    return job


def go_on(job: str, engine: Engine, ledger: str | None, how: Run) -> Exit:
    """A job that the ledger knows."""
    with _opened(ledger) as book:
        spec = book.spec(job)
        check(spec.outputs, Reads(Path(spec.source.path), ledger=book.file))
        if not how.overwrite:
            insist_own(spec.outputs, book.outputs(job))
        with engine.ready(spec) as extracting:
            if spec_digest(spec, extracting.model) != book.origin(job)[0]:
                raise Trouble(
                    f"job {job!r} was begun with the model {book.status(job).model}, "
                    f"not {extracting.model}",
                    Exit.USAGE,
                    hint="name that model (--model or --url)",
                )
            return _run(book, job, extracting, how)


def ask(job: str, what: Literal["pause", "cancel"], ledger: str | None) -> Exit:
    """Tell a job's runner what is wanted; where there is none, do it."""
    with _opened(ledger) as book:
        book.ask(job, what)
        if book.status(job).state is JobState.RUNNING:
            errors().print(f"{job} will stop in a moment and give back the rows in hand")
        return Exit.OK


def show_status(job: str, ledger: str | None, *, as_json: bool) -> Exit:
    """One job."""
    with _opened(ledger) as book:
        status = book.status(job)
    if as_json:
        write_json(status.model_dump(mode="json"), raw=True)
    else:
        results().print(told(status), soft_wrap=True)
    return Exit.OK


def show_all(ledger: str | None, *, as_json: bool) -> Exit:
    """Every job."""
    with _opened(ledger) as book:
        every = [book.status(job) for job in book.names()]
    if as_json:
        write_json([status.model_dump(mode="json") for status in every], raw=True)
    else:
        for status in every:
            results().print(told(status), soft_wrap=True)
        if not every:
            errors().print("there are no jobs yet: intaglio job run --help")
    return Exit.OK


def write_again(job: str, ledger: str | None, how: Run) -> Exit:
    """The outputs of a job, from the ledger."""
    with _opened(ledger) as book:
        check(book.spec(job).outputs, Reads(Path(book.spec(job).source.path), ledger=book.file))
        written = publish(book, job, overwrite=how.overwrite)
    if how.as_json:
        write_json([str(path) for path in written], raw=True)
    else:
        for path in written:
            results().print(str(path), soft_wrap=True)
    return Exit.OK


@contextmanager
def _on_cluster(
    address: str, model: str | None, options: Options, workers: int | None
) -> Iterator[Extracting]:
    try:
        from .jobs.clustered import Clustered
        from .llm import LLM
    except ModuleNotFoundError as missing:
        raise Trouble(
            f"a cluster needs {missing.name!r}, which is not installed",
            Exit.UNREACHABLE,
            hint="pip install 'intaglio[server,bulk,cluster]'",
        ) from missing
    with waiting("starting the workers"):
        try:
            clustered = Clustered(address, partial(LLM, model), options, workers)
        except (ConnectionError, ValueError) as error:
            reason = str(error).splitlines()[0]
            raise Trouble(f"no cluster at {address}: {reason}", Exit.UNREACHABLE) from None
    try:
        yield clustered
    finally:
        clustered.close()


@contextmanager
def _opened(ledger: str | None) -> Iterator[Ledger]:
    book = Ledger(ledger or ServiceConfig.load().ledger)
    try:
        yield book
    finally:
        book.close()


def _run(book: Ledger, job: str, extracting: Extracting, how: Run) -> Exit:
    with sole_runner(book, job):
        book.resume(job)
        if how.dead_too:
            errors().print(f"{book.rows(job).revive()} dead rows are tried again")
        before = book.status(job).counts
        if before.done:
            errors().print(f"{job}: going on, {before.done} rows are done", style="dim")
        with Meter(job) as meter:
            runner = Runner(book, job, extracting, meter.show)
            with _stopping(runner) as stopped:
                status = runner.run()
        # Where others share the job and are still at it, the last of them writes.
        written = () if status.state is JobState.RUNNING else _publish(book, job, how)
    if how.as_json:
        write_json(status.model_dump(mode="json"), raw=True)
    else:
        results().print(told(status), soft_wrap=True)
        for path in written:
            errors().print(f"  {path}", style="dim")
        contract = contract_of_job(book.spec(job)) if status.counts.done else None
        for note in contract.notes() if contract else ():
            errors().print(f"schema: {note}", style="yellow")
    _tell_partial(book.spec(job), status)
    return Exit.INTERRUPTED if stopped() else _end(status)


def _publish(book: Ledger, job: str, how: Run) -> tuple[Path, ...]:
    def left_out(reason: str) -> None:
        errors().print(reason, style="yellow")

    return publish(book, job, overwrite=how.overwrite, named=how.named, told=left_out)


def _tell_partial(spec: JobSpec, status: JobStatus) -> None:
    """Say that a job is not complete, where its results stand meanwhile, and how to go on."""
    if status.state in _COMPLETE or status.state is JobState.RUNNING or not spec.outputs:
        return
    counts, final = status.counts, Path(spec.outputs[0].path)
    rows = f"{counts.done + counts.dead} of {counts.rows}{'' if status.whole else '+'} rows"
    errors().print(
        f"not complete: {rows} came to their end, and what they gave is in "
        f"{partial_name(final).name}; {final.name} is written when all have",
        style="yellow",
    )
    errors().print(f"to go on: intaglio job resume {shlex.quote(status.id)}", style="dim")


_COMPLETE = (JobState.COMPLETED, JobState.COMPLETED_WITH_ERRORS)


def _end(status: JobStatus) -> Exit:
    return Exit.OK if status.state is JobState.COMPLETED else Exit.FAILED


@contextmanager
def _stopping(runner: Runner) -> Iterator[Any]:
    """Ctrl-C and SIGTERM stop the runner, which gives back the rows in hand; a second time, the process ends at once.

    The ledger bears that as it bears `kill -9`: the rows in hand are taken up again by the next run.
    """
    count = 0

    def stop(_number: int, _frame: FrameType | None) -> None:
        nonlocal count
        count += 1
        if count > 1:
            _end_now()
        errors().print("stopping, the rows in hand are given back; once more to end at once")
        runner.stop()

    old = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: count > 0
    finally:
        for number, handler in old.items():
            signal.signal(number, handler)


def _end_now() -> NoReturn:
    errors().show_cursor()
    os._exit(Exit.INTERRUPTED)


def _show_estimate(found: Estimate, prices: Prices | None, *, as_json: bool) -> Exit:
    prompt, output = found.scaled(found.prompt_tokens), found.scaled(found.output_tokens)
    seconds, cost = found.scaled(found.seconds), prices and prices.of(prompt, output)
    if as_json:
        write_json(
            {
                "rows": found.rows,
                "dead": found.dead,
                "characters": found.characters,
                "prompt_tokens": round(prompt),
                "output_tokens": round(output),
                "seconds": round(seconds, 1),
                "cost": cost,
                "tried": found.tried,
                "failed": list(found.failed),
            },
            raw=True,
        )
        return Exit.OK if found.rows > found.dead else Exit.FAILED
    out = results()
    out.print(f"{found.rows} rows, {found.dead} of them no documents; nothing was kept")
    for row in found.refused:
        assert row.failure is not None
        out.print(f"  {row.failure.pointer}: {row.failure.reason}")
    for reason in found.failed:
        out.print(f"  a row failed: {reason}")
    span = time.strftime("%H:%M:%S", time.gmtime(seconds))
    price = "" if cost is None else f", cost {cost:,.6f}"
    out.print(
        f"about {prompt:,.0f} tokens in, {output:,.0f} out, {span} at most{price}, "
        f"by {found.tried} rows"
    )
    return Exit.OK if found.rows > found.dead else Exit.FAILED
