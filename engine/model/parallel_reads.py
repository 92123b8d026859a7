"""Reads the bytes of tensors in chunks, in parallel, straight into their final places.

Does: divide the bytes of tensors in files into chunks, and have threads read each into its place: on a host without a
copy between where the dtype stays; where it changes, or on a GPU, through a ring of staging buffers. Does not: know
which tensors a model needs, or map files.

In addition to the tensors this takes at most `STAGING_BYTES` of host memory, whatever their sizes. Threads wait for the
disk outside the interpreter's lock, so that the disk has as many requests in flight. Places that are filled later let
chunks of all tensors follow one another without a pause: disk and link are idle only before the first and after the
last.
"""

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from math import prod
from pathlib import Path
from typing import Final

import torch
from torch import Tensor

from ..errors import ModelError
from .file_spans import Span, refuse_replaced
from .read_jobs import ReadJobs
from .weight_uploads import CudaUploads, HostUploads, StagingRing, Uploads

THREADS: Final = min(16, max(8, os.cpu_count() or 1))
CHUNK_BYTES: Final = 8 << 20
SPARE_BUFFERS: Final = 8
"""Staging buffers in addition to one for each thread, which are copied meanwhile."""
STAGING_BYTES: Final = (THREADS + SPARE_BUFFERS) * CHUNK_BYTES
SMALL_BYTES: Final = 64 << 10
"""The most bytes of a tensor that the calling thread reads itself: a thread would take longer to wake up. The driver
copies as many from pageable memory without waiting for the device."""
VECTORS: Final = 1024
"""The most buffers of one call of the system."""


class ParallelReads:
    """Reads tensors to one device; for one thread, until it is closed."""

    def __init__(
        self,
        device: torch.device,
        uploads: Uploads | None = None,
        chunk_bytes: int = CHUNK_BYTES,
        threads: int = THREADS,
    ) -> None:
        """`uploads`: how staged bytes come to the device; by default as it suits the device, and not staged on a host
        where the dtype stays. `chunk_bytes` is a multiple of 8.
        """
        self._device = device
        self._chunk_bytes = chunk_bytes
        self._threads = threads
        self._in_place = uploads is None and device.type == "cpu"
        self._uploads = uploads or (CudaUploads(device) if device.type == "cuda" else HostUploads())
        self._ring = StagingRing(self._uploads, chunk_bytes, threads + SPARE_BUFFERS)
        self._jobs = ReadJobs(threads)
        self._later: list[Future[None]] = []
        self._files: dict[Path, int] = {}
        self._spans: dict[Path, Span] = {}
        self.read_bytes = 0
        """Bytes of all tensors asked for so far, with the columns that were left out."""

    def close(self) -> None:
        """End the threads and close the files. Places that are not filled stay so."""
        self._jobs.close()
        self._uploads.close()
        for file in self._files.values():
            os.close(file)
        self._files.clear()

    def tensor(self, span: Span, dtype: torch.dtype) -> Tensor:
        """What is kept of the tensor at `span`, in `dtype`, on the device, for the work of the caller's stream.

        Raises:
            ModelError: the file cannot be read, is another one than that of `span.identity`, or has become shorter.
        """
        return self.begin(span, dtype)()

    def begin(self, span: Span, dtype: torch.dtype) -> Callable[[], Tensor]:
        """Begin to read what `tensor` gives. The result waits for it, and returns it or raises as `tensor` does."""
        out = torch.empty(span.kept, dtype=dtype, device=self._device)
        if span.columns is None and span.nbytes <= min(SMALL_BYTES, self._chunk_bytes):
            self._read_small(span, out)
            return lambda: out
        jobs = self._submit(span, out, later=False)

        def wait() -> Tensor:
            self._wait(jobs)
            return out

        return wait

    def joined(self, spans: Sequence[Span], dtype: torch.dtype) -> Tensor:
        """What is kept of the tensors at `spans`, concatenated along the first dimension; filled when `settle` returns.

        Until then it has zeros where it is staged, so that work on it is finite. Raises as `tensor` does, also when it
        is settled.
        """
        rows = sum(span.kept[0] for span in spans)
        make = torch.empty if self._in_place else torch.zeros
        out = make((rows, *spans[0].kept[1:]), dtype=dtype, device=self._device)
        row = 0
        for span in spans:
            place = out[row : row + span.kept[0]]
            self._later += self._submit(span, place, later=True)
            row += span.kept[0]
        return out

    def settle(self) -> None:
        """Return when all places are filled, for the work of the caller's stream.

        Raises:
            ModelError: a file could not be read, or was written meanwhile.
        """
        later, self._later = self._later, []
        self._wait(later)
        for path, file in self._files.items():
            refuse_replaced(path, self._spans[path].identity, os.fstat(file))

    def _wait(self, jobs: Sequence[Future[None]]) -> None:
        """Wait for these jobs; if one fails, the others that have not begun never do."""
        try:
            for job in jobs:
                job.result()
        finally:
            for job in jobs:
                job.cancel()
        self._uploads.finish()

    def _submit(self, span: Span, out: Tensor, *, later: bool) -> list[Future[None]]:
        """Have threads fill `out`, contiguous, with what is kept."""
        self._uploads.begin()
        file, values = self._file(span), out.view(-1)
        self.read_bytes += span.nbytes
        return [
            self._jobs.submit(partial(self._fill, file, part, values[first:last]), later=later)
            for part, first, last in _parts(span, self._step(span, later=later))
        ]

    def _step(self, span: Span, *, later: bool) -> int:
        """The bytes of a chunk: of a lone tensor few enough that all threads have one."""
        if later:
            return self._chunk_bytes
        share = -(-span.nbytes // self._threads)
        return min(self._chunk_bytes, max(share, self._chunk_bytes // 8))

    def _fill(self, file: int, span: Span, place: Tensor) -> None:
        """Read what is kept of `span`, a chunk, into `place`."""
        with torch.inference_mode():
            if self._in_place and place.dtype == span.dtype:
                _read(file, span, place.view(torch.uint8))
                return
            with self._ring.buffer() as staging:
                staged = staging.buffer[: prod(span.kept) * span.dtype.itemsize]
                _read(file, span, staged)
                staging.copied = self._uploads.upload(staged.view(span.dtype), place)

    def _read_small(self, span: Span, out: Tensor) -> None:
        """Read a tensor in this thread."""
        self.read_bytes += span.nbytes
        file, staged = self._file(span), torch.empty(span.nbytes, dtype=torch.uint8)
        if span.nbytes:
            _read(file, span, staged)
        with torch.inference_mode():
            out.view(-1).copy_(staged.view(span.dtype), non_blocking=True)

    def _file(self, span: Span) -> int:
        """The open file of `span`."""
        path = span.path
        if path not in self._files:
            try:
                self._files[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError as error:
                raise ModelError(f"cannot read {path}: {error}", where=str(path)) from error
            self._spans[path] = span
            refuse_replaced(path, span.identity, os.fstat(self._files[path]))
        return self._files[path]


def _parts(span: Span, step: int) -> Iterator[tuple[Span, int, int]]:
    """`span` in chunks of which at most `step` bytes are kept: each with its first and last value among those kept."""
    values = step // span.dtype.itemsize
    if span.columns is None:
        flat = Span(span.path, span.begin, (span.numel,), span.dtype)
        for first in range(0, span.numel, values):
            last = min(first + values, span.numel)
            yield flat.rows(slice(first, last)), first, last
        return
    rows, kept = span.kept
    if kept > values:
        for row in range(rows):
            for part, first, last in _parts(span.row(row), step):
                yield part, row * kept + first, row * kept + last
        return
    many = max(1, values // span.shape[1])
    for top in range(0, rows, many):
        bottom = min(top + many, rows)
        yield span.rows(slice(top, bottom)), top * kept, bottom * kept


def _read(file: int, span: Span, place: Tensor) -> None:
    """Fill `place`, bytes in host memory, with what is kept of `span`.

    Bytes between the columns of two rows are read as well, into a buffer that nothing reads: they are on pages that
    have to be read anyway, and one call takes hundreds of rows.
    """
    into = place.numpy().data.cast("B")
    if span.columns is None:
        _read_into(file, span.path, span.begin, [into])
        return
    size = span.dtype.itemsize
    row, own = span.shape[1] * size, span.kept[1] * size
    begin = span.begin + span.columns.start * size
    between = memoryview(bytearray(row - own))
    for first in range(0, span.shape[0], VECTORS // 2):
        last = min(first + VECTORS // 2, span.shape[0])
        views = [into[at * own : (at + 1) * own] for at in range(first, last)]
        alternating = [view for own_row in views for view in (own_row, between)][:-1]
        _read_into(file, span.path, begin + first * row, alternating)


def _read_into(file: int, path: Path, offset: int, views: list[memoryview]) -> None:
    """Fill `views` one after the other from `offset` of a file on."""
    views = [view for view in views if view.nbytes]
    try:
        while views:
            count = os.preadv(file, views, offset)
            if not count:
                raise ModelError(
                    f"{path} ends at byte {offset}, within a tensor",
                    where=str(path),
                    hint="the file became shorter while it was read: download it again",
                )
            offset += count
            while views and count >= views[0].nbytes:
                count -= views.pop(0).nbytes
            if count:
                views[0] = views[0][count:]
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error}", where=str(path)) from error
