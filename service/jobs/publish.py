"""A job's outputs: from the ledger to files that are whole or not there.

Does: write each output, the dead letters and the report beside it, sync it to the disk, and only then give it its name.
Does not: decide when (`service/cli_job.py` does: whenever a run ends).
"""

import glob
import gzip
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, cast

from ...schemas.jobs import JobSpec, Output
from .errors import OutputRefused
from .layout import Layout
from .ledger import Ledger
from .report import as_html, as_json, gather
from .row import RowResult, dead_row
from .tables import DEAD, DONE
from .writers import format_of, write


def check(outputs: tuple[Output, ...]) -> None:
    """Raise `OutputRefused` for an output that could not be written in the end."""
    seen: set[Path] = set()
    for output in outputs:
        path = Path(output.path)
        format_of(output)
        if path.resolve() in seen:
            raise OutputRefused(f"two outputs are {path}", param="outputs")
        seen.add(path.resolve())
        if path.is_dir() or not path.parent.is_dir() or not os.access(path.parent, os.W_OK):
            raise OutputRefused(
                f"{path} cannot be written",
                param="outputs",
                hint="name a file in a folder that is there and that you may write to",
            )


def publish(ledger: Ledger, job: str) -> tuple[Path, ...]:
    """Write everything there is to be told of a job, whatever its state; the files that were written.

    Raises:
        OutputRefused: a file cannot be written; those named before it have been.
    """
    spec = ledger.spec(job)
    written = []
    for output in spec.outputs:
        written.append(Path(output.path))
        _write_output(ledger, job, spec, output)
    if spec.outputs:
        written += _write_reports(ledger, job, Path(spec.outputs[0].path))
    return tuple(written)


def _write_output(ledger: Ledger, job: str, spec: JobSpec, output: Output) -> None:
    layout, rows = Layout.of(spec), ledger.rows(job)
    with replacing(Path(output.path)) as file:
        if output.path.endswith(".gz"):
            # No name and no time in the header: the same rows make the same bytes.
            with gzip.GzipFile("", "wb", fileobj=file, mtime=0) as packed:
                write(cast("BinaryIO", packed), lambda: rows.results(DONE), layout, output)
        else:
            write(file, lambda: rows.results(DONE), layout, output)


def _write_reports(ledger: Ledger, job: str, beside: Path) -> list[Path]:
    """The dead letters (no file where nothing died), and the report in both forms."""
    dead = beside.with_name(beside.name + ".dead.jsonl")
    written = []
    found = ledger.rows(job).results(DEAD)
    first = next(found, None)
    if first is None:
        dead.unlink(missing_ok=True)
    else:
        with replacing(dead) as file:
            for row in _chained(first, found):
                file.write(dead_row(row).model_dump_json().encode() + b"\n")
        written.append(dead)
    report = gather(ledger, job)
    for ending, text in ((".report.json", as_json(report)), (".report.html", as_html(report))):
        path = beside.with_name(beside.name + ending)
        with replacing(path) as file:
            file.write(text.encode())
        written.append(path)
    return written


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """A file that takes the place of `path` in one moment, when it is whole and on the disk; else it leaves no trace.

    Raises:
        OutputRefused: it cannot be written.
    """
    _clear(path)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        with part.open("wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)
    except OSError as error:
        raise OutputRefused(
            f"{path} cannot be written: {error.strerror}",
            hint="the results are in the ledger: make room, then `intaglio job report`",
        ) from error
    finally:
        part.unlink(missing_ok=True)


def _chained(first: RowResult, rest: Iterator[RowResult]) -> Iterator[RowResult]:
    yield first
    yield from rest


def _clear(path: Path) -> None:
    """Remove what processes left that died while they wrote this output."""
    for part in path.parent.glob(f".{glob.escape(path.name)}.*.part"):
        pid = part.name.split(".")[-2]
        if pid.isdigit() and not Path("/proc", pid).exists():
            part.unlink(missing_ok=True)
