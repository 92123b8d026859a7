"""From a source to the rows of a job.

Does: name and choose records, and take them into the ledger a few hundred at a time, going on where it was interrupted.
Does not: read formats (`readers`) or extract.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import Final

from ...schemas.jobs import JobSpec
from .errors import InputRefused, JobChanged
from .formats import source_format
from .readers import kept_types, records
from .readers.files import members
from .record import Record, Rejected
from .row import Failure, NewRow
from .rows import JobRows

_CHUNK: Final = 500
_POLL_S: Final = 0.5  # how often a runner looks whether it is to read in another's place


def ingest(spec: JobSpec, path: Path, rows: JobRows, mark: str, stop: Callable[[], bool]) -> None:
    """Read the source from where the ledger has it to its end, or until `stop()`.

    Raises:
        InputRefused: it cannot be read any further; what was read is in the ledger.
        JobChanged: it is another file than the one that was begun.
    """
    while not stop():
        with rows.reader_lock() as is_reader:
            if is_reader:
                _read_from_position(spec, path, rows, mark, stop)
                return
        if rows.read_position()[1]:
            return
        time.sleep(_POLL_S)


def _read_from_position(
    spec: JobSpec, path: Path, rows: JobRows, mark: str, stop: Callable[[], bool]
) -> None:
    read, whole = rows.read_position()
    if whole:
        return
    if source_mark(path) != mark:
        raise JobChanged(
            f"{path.name} has changed since the job began to read it",
            hint="begin another job, or put the old file back",
        )
    kept = rows.kept_types()
    if kept is None:
        if read and spec.source.keep and source_format(spec.source, path) in ("jsonl", "parquet"):
            raise JobChanged(
                "an older program began this job and kept its columns as text",
                hint="let that program finish it, or begin it anew under another name (--job)",
            )
        kept = kept_types(spec.source, path)
    found = selected_rows(spec, path, begin=read, stop=stop)
    failed: InputRefused | None = None
    while failed is None and not stop():
        chunk: list[NewRow | None] = []
        try:
            for row in islice(found, _CHUNK):
                chunk.append(row)  # noqa: PERF402  what came before an error counts
        except InputRefused as error:
            failed = error
        read += len(chunk)
        whole = failed is None and len(chunk) < _CHUNK and not stop()
        rows.add_rows([row for row in chunk if row is not None], read, whole=whole, kept=kept)
        if whole:
            return
    if failed is not None:
        raise failed


def selected_rows(
    spec: JobSpec, path: Path, *, begin: int = 0, stop: Callable[[], bool] = lambda: False
) -> Iterator[NewRow | None]:
    """A row for each record from number `begin` (counted from 0) on, None for those that the sample leaves out.

    It ends early where `stop()` says so, also among the records before `begin`.

    Raises:
        InputRefused: as `readers.records`.
    """
    every = enumerate(records(spec.source, path), 1)
    if spec.limit is not None:
        every = islice(every, spec.limit)  # type: ignore[assignment]  # an iterator of the same
    for number, record in every:
        if stop():
            return
        if number <= begin:
            continue
        name = record.id or str(number)
        if spec.sample is not None and not _in_sample(name, spec.sample):
            yield None
        else:
            yield _row(number, name, record)


def source_mark(path: Path) -> str:
    """What tells whether a source is still the same: sizes and times of its files.

    Raises:
        InputRefused: there is no such file.
    """
    try:
        if path.is_file():
            found = path.stat()
            return f"{found.st_size}:{found.st_mtime_ns}"
        stats = [
            f"{file}:{file.stat().st_size}:{file.stat().st_mtime_ns}" for file in members(path)
        ]
    except OSError as error:
        raise InputRefused(f"cannot read {path}: {error.strerror}", param="source.path") from None
    return hashlib.sha256("\n".join(stats).encode("utf-8", "surrogateescape")).hexdigest()


def _in_sample(name: str, share: float) -> bool:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def _row(number: int, name: str, record: Record | Rejected) -> NewRow:
    keep = json.dumps(dict(record.keep), ensure_ascii=False).replace("\\u0000", "")
    if isinstance(record, Rejected):
        failure = Failure(record.code, record.reason, record.pointer, record.hint)
        return NewRow(number, _storable(name), None, _storable(keep), failure)
    return NewRow(number, _storable(name), record.text, _storable(keep))


def _storable(text: str) -> str:
    """Without what no database takes: NUL and halves of surrogate pairs."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
