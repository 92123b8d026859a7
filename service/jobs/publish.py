"""The output files of a job, written atomically from the ledger.

Does: write each output, the dead rows and the report, sync them to disk, then rename them into place. An incomplete job
gets other names (`targets.partial_path`), and those files are removed once it is complete. Does not: decide when to
write (`service/cli/job_command.py`: whenever a run ends), or overwrite files of others.
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

from intaglio.schemas.jobs import JobState, Output

from .job_outputs import JobOutputs, content_digest
from .ledger import Ledger
from .records.errors import OutputFailed, OutputRefused
from .records.result_columns import Layout
from .records.row import RowResult, dead_row
from .report import as_html, as_json, gather
from .tables import DEAD, DONE
from .targets import check, companion_files, partial_path, require_own_file
from .writers import write

__all__ = ["check", "publish"]

_COMPLETE = (JobState.COMPLETED, JobState.COMPLETED_WITH_ERRORS)
_NO_LINKS = (errno.EPERM, errno.ENOTSUP, errno.EOPNOTSUPP, errno.ENOSYS, errno.EMLINK, errno.EXDEV)


@dataclass(frozen=True, slots=True)
class OverwritePolicy:
    """The files that one job may overwrite: its own, and others only with `overwrite`."""

    files: JobOutputs
    overwrite: bool = False

    def require_replaceable(self, path: Path) -> None:
        """Raise `OutputRefused` for an existing file that the job may not overwrite."""
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
    """Write all outputs of a job in any state; returns the written files.

    Without `overwrite`, the default of the command line, an existing file of others is refused. Outputs that were
    requested earlier and are not in `named` are skipped with a call of `warn` if they cannot be written. None: all
    outputs are required.

    Raises:
        OutputRefused: a required file cannot be written or belongs to others; the files before it have been written.
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
            warn(f"skipped: {refused.message}")
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
            # No name and no time in the header, so that the same rows give the same bytes.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                write(cast("BinaryIO", packed), lambda: rows.results(DONE), layout, output)
        else:
            write(file, lambda: rows.results(DONE), layout, output)
    return path


def _write_reports(ledger: Ledger, job: str, first: Path, policy: OverwritePolicy) -> list[Path]:
    """Write the dead rows (no file if there are none) and both forms of the report, next to the output `first`."""
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
    """A file that atomically replaces `path` once it is complete and on disk; on failure no trace remains.

    Raises:
        OutputRefused: the file cannot be written, or `path` may not be replaced.
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
        policy.require_replaceable(path)  # check again, because writing took a while
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
    """Rename `part` to `path` atomically. If `path` did not exist before, a file that appears meanwhile is not
    overwritten.
    """
    if os.path.lexists(path):
        part.replace(path)
        return
    try:
        os.link(part, path)
    except FileExistsError:
        raise OutputRefused(
            f"{path} was created by another program meanwhile",
            hint="choose another name (--out), or use --overwrite: `intaglio job report`",
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
    """Remove an outdated file if the job wrote it."""
    if files.owns(path):
        path.unlink(missing_ok=True)
        files.forget_others(path, None)
    elif os.path.lexists(path) and files.wrote(path):
        warn(f"{path} was changed after it was written and is kept")


def _chained(first: RowResult, rest: Iterator[RowResult]) -> Iterator[RowResult]:
    yield first
    yield from rest


def _clear(path: Path) -> None:
    """Remove partial files of processes that died while they wrote this output."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        pid = part.name.split(".")[-2]
        if pid.isdigit() and not Path("/proc", pid).exists():
            part.unlink(missing_ok=True)
