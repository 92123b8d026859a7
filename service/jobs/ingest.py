"""Ingestion of a source into the rows of a job.

Does: name and select records and add them to the ledger in chunks, resuming after an interruption. Does not: read
formats (`readers`) or extract.
"""

import hashlib
import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Final

from intaglio.schemas.jobs import JobSpec

from .readers import kept_types, records
from .readers.files import members
from .records.errors import InputRefused, JobChanged
from .records.file_formats import source_format
from .records.record import Record, Rejected
from .records.row import Failure, NewRow
from .records.row_files import RowFileRefused, RowFiles
from .rows import JobRows
from .source_images import NOTHING, ImageAccess

_CHUNK: Final = 500
_POLL_S: Final = 0.5  # how often a runner checks whether it must take over as reader


def ingest(
    spec: JobSpec,
    path: Path,
    rows: JobRows,
    fingerprint: str,
    stop: Callable[[], bool],
    images: ImageAccess = NOTHING,
) -> None:
    """Read the source from the position in the ledger to its end, or until `stop()`. `images`: what its rows may see.

    Raises:
        InputRefused: the source cannot be read further; the rows read so far are in the ledger.
        JobChanged: the source differs from the one that the job started with, or changes while it is read.
    """
    while not stop():
        with rows.reader_lock() as is_reader:
            if is_reader:
                _read_from_position(spec, path, rows, fingerprint, stop, images)
                return
        if rows.read_position()[1]:
            return
        time.sleep(_POLL_S)


def _read_from_position(
    spec: JobSpec,
    path: Path,
    rows: JobRows,
    fingerprint: str,
    stop: Callable[[], bool],
    images: ImageAccess,
) -> None:
    read, whole = rows.read_position()
    if whole:
        return
    _require_unchanged(path, fingerprint, images)
    kept = rows.kept_types()
    if kept is None:
        if read and spec.source.keep and source_format(spec.source, path) in ("jsonl", "parquet"):
            raise JobChanged(
                "this job was started by an older version, which kept its columns as text",
                hint="finish it with that version, or start it again under another name (--job)",
            )
        kept = kept_types(spec.source, path)
    found = selected_rows(spec, path, images, begin=read, stop=stop)
    failed: InputRefused | None = None
    while failed is None and not stop():
        chunk: list[NewRow | None] = []
        try:
            for row in islice(found, _CHUNK):
                chunk.append(row)  # noqa: PERF402  rows before an error are kept
        except InputRefused as error:
            failed = error
        read += len(chunk)
        whole = failed is None and len(chunk) < _CHUNK and not stop()
        # Rows of the ledger are all of one version of a file. Reading the times of all files of a folder takes long.
        if whole or failed is not None or path.is_file():
            _require_unchanged(path, fingerprint, images)
        rows.add_rows([row for row in chunk if row is not None], read, whole=whole, kept=kept)
        if whole:
            return
    if failed is not None:
        raise failed


def _require_unchanged(path: Path, fingerprint: str, images: ImageAccess) -> None:
    """Refuse a source that is not the one that the job started with. Raises `JobChanged`."""
    if source_fingerprint(path, images=images.sees) != fingerprint:
        raise JobChanged(
            f"{path.name} has changed since the job started to read it",
            hint="start another job, or restore the old file",
        )


def selected_rows(
    spec: JobSpec,
    path: Path,
    images: ImageAccess = NOTHING,
    *,
    begin: int = 0,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[NewRow | None]:
    """A row for each record after number `begin` (counted from 1), None for records outside the sample.

    It ends early once `stop()` is true, also while it skips records.

    Raises:
        InputRefused: as `readers.records`.
    """
    every = enumerate(records(spec.source, path, sees=images.sees), 1)
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
            # Without its id in the record, a row has none: its number might be the id of another.
            shown = name if record.id or spec.source.id is None else ""
            yield _row(number, shown, _with_files(record, images, path))


def source_fingerprint(path: Path, *, images: bool = False) -> str:
    """The fingerprint of a source: sizes and modification times of its files; with `images` also of the images in a
    folder.

    Raises:
        InputRefused: the source does not exist.
    """
    try:
        if path.is_file():
            found = path.stat()
            return f"{found.st_size}:{found.st_mtime_ns}"
        stats = [
            f"{file}:{file.stat().st_size}:{file.stat().st_mtime_ns}"
            for file in members(path, images=images)
        ]
    except OSError as error:
        raise InputRefused(f"cannot read {path}: {error.strerror}", param="source.path") from None
    return hashlib.sha256("\n".join(stats).encode("utf-8", "surrogateescape")).hexdigest()


def _in_sample(name: str, share: float) -> bool:
    digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).digest()
    return int.from_bytes(digest[:8]) < share * 2**64


def _with_files(record: Record | Rejected, images: ImageAccess, path: Path) -> Record | Rejected:
    """A record with the images that it states as files."""
    if isinstance(record, Rejected) or not record.images:
        return record
    try:
        found = images.stored(record.images, path)
    except RowFileRefused as error:
        return Rejected(
            error.message, record.where, error.hint, error.code, id=record.id, keep=record.keep
        )
    return replace(record, images=(), files=RowFiles(found, len(found)))


def _row(number: int, name: str, record: Record | Rejected) -> NewRow:
    keep = json.dumps(dict(record.keep), ensure_ascii=False).replace("\\u0000", "")
    if isinstance(record, Rejected):
        failure = Failure(record.code, record.reason, record.pointer, record.hint)
        return NewRow(number, _storable(name), None, _storable(keep), failure)
    return NewRow(number, _storable(name), record.text, _storable(keep), files=record.files)


def _storable(text: str) -> str:
    """`text` without characters that databases refuse: NUL and unpaired surrogates."""
    return text.replace("\0", "").encode("utf-8", "replace").decode("utf-8")
