"""A job's outputs: from the ledger to files that are whole or not there.

Does: write each output, the dead letters and the report beside it, sync it to the disk, and only then give it its name.
A job that is not complete gets other names (`targets.partial`), and what it wrote under these is removed once it is.
Does not: decide when (`service/cli_job.py` does: whenever a run ends), or write over a file that is not the job's own.
"""

import errno
import glob
import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from ...schemas.jobs import JobState, Output
from .errors import OutputFailed, OutputRefused
from .layout import Layout
from .ledger import Ledger
from .outputs import JobOutputs, content_digest
from .report import as_html, as_json, gather
from .row import RowResult, dead_row
from .tables import DEAD, DONE
from .targets import check, companion_files, partial_path, require_own_file
from .writers import write

__all__ = ["check", "publish"]

_COMPLETE = (JobState.COMPLETED, JobState.COMPLETED_WITH_ERRORS)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)


@dataclass(frozen=True, slots=True)
class OverwritePolicy:
    """Where one job may write: over its own files, and over others only where `overwrite` says so."""

    files: JobOutputs
    overwrite: bool = False

    def require_replaceable(self, path: Path) -> None:
        """Raise `OutputRefused` for a file that is not the job's."""
        if not self.overwrite:
            require_own_file(path, self.files)


def publish(
    ledger: Ledger,
    job: str,
    *,
    overwrite: bool = True,
    named: frozenset[str] | None = None,
    warn: Callable[[str], None] = lambda _: None,
) -> tuple[Path, ...]:
    """Write everything there is to be told of a job, whatever its state; the files that were written.

    Without `overwrite` a file that is there and is not the job's own is refused; the command line says so by default.
    Outputs that are not among the paths `named`, but were asked for earlier, are left out where they cannot be written,
    and `told` hears why. None: all are named.

    Raises:
        OutputRefused: a file cannot be written, or is not the job's; those named before it have been written.
    """
    whole = ledger.status(job).state in _COMPLETE
    policy = OverwritePolicy(ledger.outputs(job), overwrite)
    written: list[Path] = []
    outputs = ledger.spec(job).outputs
    for number, output in enumerate(outputs):
        final = Path(output.path)
        try:
            written.append(_write_output(ledger, job, output, policy, whole=whole))
            if number == 0:
                written += _write_reports(ledger, job, written[0], policy)
        except OutputRefused as refused:
            if named is None or output.path in named:
                raise
            warn(f"left out: {refused.message}")
        if whole:
            for path in (partial_path(final), *companion_files(partial_path(final))):
                _remove(path, policy.files, warn)
    return tuple(written)


def _write_output(
    ledger: Ledger, job: str, output: Output, policy: OverwritePolicy, *, whole: bool
) -> Path:
    path = Path(output.path) if whole else partial_path(Path(output.path))
    rows = ledger.rows(job)
    layout = Layout.of(ledger.spec(job), rows.kept_types())
    with replacing(path, policy) as file:
        if output.path.endswith(".gz"):
            # No name and no time in the header: the same rows make the same bytes.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                write(cast("BinaryIO", packed), lambda: rows.results(DONE), layout, output)
        else:
            write(file, lambda: rows.results(DONE), layout, output)
    return path


def _write_reports(ledger: Ledger, job: str, first: Path, policy: OverwritePolicy) -> list[Path]:
    """The dead letters (no file where nothing died), and the report in both forms, beside the output `first`."""
    letters, *reports = companion_files(first)
    written = []
    found = ledger.rows(job).results(DEAD)
    row = next(found, None)
    if row is None:
        _remove(letters, policy.files)
    else:
        with replacing(letters, policy) as file:
            for one in _chained(row, found):
                file.write(dead_row(one).model_dump_json().encode() + b"\n")
        written.append(letters)
    report = gather(ledger, job)
    for path, text in zip(reports, (as_json(report), as_html(report)), strict=True):
        with replacing(path, policy) as file:
            file.write(text.encode())
        written.append(path)
    return written


@contextmanager
def replacing(path: Path, policy: OverwritePolicy) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` in one moment, when it is whole and on the disk; else it leaves no trace.

    Raises:
        OutputRefused: it cannot be written, or something is there that may not be replaced.
    """
    policy.require_replaceable(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        _clear(path)
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        digest = content_digest(part) or ""
        policy.files.expect(path, digest)
        policy.require_replaceable(path)  # it took a while to write
        _give_name(part, path)
        _sync_folder(path.parent)
        policy.files.forget_others(path, digest)
    except OSError as error:
        raise OutputFailed(
            f"{path} cannot be written: {error.strerror or error}",
            hint="the results are in the ledger: make room, then `intaglio job report`",
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _give_name(part: Path, path: Path) -> None:
    """Give a file its name in one moment. Where nothing has it, what takes it just now is not written over."""
    if os.path.lexists(path):
        part.replace(path)
        return
    try:
        os.link(part, path)
    except FileExistsError:
        raise OutputRefused(
            f"{path} was made by another program meanwhile",
            hint="give another name (--out), or say --overwrite: `intaglio job report`",
        ) from None
    except OSError as error:
        if error.errno not in _NO_LINKS:
            raise
        part.replace(path)


def _sync_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _remove(path: Path, files: JobOutputs, warn: Callable[[str], None] = lambda _: None) -> None:
    """Remove a file that says less than there is to say now, if it is the job's own."""
    if files.owns(path):
        path.unlink(missing_ok=True)
        files.forget_others(path, None)
    elif os.path.lexists(path) and files.wrote(path):
        warn(f"{path} was changed since it was written, and stays")


def _chained(first: RowResult, rest: Iterator[RowResult]) -> Iterator[RowResult]:
    yield first
    yield from rest


def _clear(path: Path) -> None:
    """Remove what processes left that died while they wrote this output."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        pid = part.name.split(".")[-2]
        if pid.isdigit() and not Path("/proc", pid).exists():
            part.unlink(missing_ok=True)
