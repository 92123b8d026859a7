"""Reads the bytes of tensors in chunks, in parallel, straight into the tensors.

Does: allocate a tensor, divide its bytes in the file into chunks, and have threads read each into its place: on a host
without a copy between where the dtype stays; where it changes, or on a GPU, through one staging buffer for each thread.
Does not: know which tensors a model needs, or map files.

In addition to the tensors this takes at most `STAGING_BYTES` of host memory, whatever their sizes. Threads wait for the
disk outside the interpreter's lock, so that the disk has `THREADS` requests in flight.
"""

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Final, Protocol

import torch
from torch import Tensor

from ..errors import ModelError

THREADS: Final = 8
CHUNK_BYTES: Final = 8 << 20
STAGING_BYTES: Final = THREADS * CHUNK_BYTES


@dataclass(frozen=True, slots=True)
class Span:
    """A tensor in a file: the place of its bytes, and their meaning."""

    path: Path
    begin: int
    shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def numel(self) -> int:
        """The number of values."""
        return prod(self.shape)

    @property
    def nbytes(self) -> int:
        """The number of bytes."""
        return self.numel * self.dtype.itemsize


class Uploads(Protocol):
    """Copies from staging buffers to a device, which may take place later."""

    def buffer(self, nbytes: int) -> Tensor:
        """A new staging buffer of this many bytes of host memory."""
        ...

    def upload(self, staged: Tensor, place: Tensor) -> None:
        """Copy `staged`, part of a buffer, to `place`, and return when the buffer may be written again."""
        ...

    def finish(self) -> None:
        """Let the work of the caller's stream follow all copies so far."""
        ...


class HostUploads:
    """Conversions on the host."""

    def buffer(self, nbytes: int) -> Tensor:
        """See `Uploads`."""
        return torch.empty(nbytes, dtype=torch.uint8)

    def upload(self, staged: Tensor, place: Tensor) -> None:
        """See `Uploads`."""
        place.copy_(staged)

    def finish(self) -> None:
        """See `Uploads`."""


class CudaUploads:
    """Copies from pinned memory on a stream of their own.

    Each thread waits for its own copies alone, so that the copies of one and the reads of the others overlap.
    """

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)

    def buffer(self, nbytes: int) -> Tensor:
        """See `Uploads`."""
        return torch.empty(nbytes, dtype=torch.uint8, pin_memory=True)

    def upload(self, staged: Tensor, place: Tensor) -> None:
        """See `Uploads`. The dtype is converted on the device."""
        with torch.inference_mode(), torch.cuda.stream(self._stream):
            if staged.dtype == place.dtype:
                place.copy_(staged, non_blocking=True)
            else:
                place.copy_(staged.to(self._device, non_blocking=True))
            done = torch.cuda.Event()
            done.record(self._stream)
        done.synchronize()

    def finish(self) -> None:
        """See `Uploads`."""
        torch.cuda.current_stream(self._device).wait_stream(self._stream)


class ParallelReads:
    """Reads tensors to one device; for one thread, until it is closed."""

    def __init__(
        self,
        device: torch.device,
        uploads: Uploads | None = None,
        chunk_bytes: int = CHUNK_BYTES,
    ) -> None:
        """`uploads`: how staged bytes come to the device; by default as it suits the device, and not staged on a host
        where the dtype stays. `chunk_bytes` is a multiple of 8.
        """
        self._device = device
        self._chunk_bytes = chunk_bytes
        self._in_place = uploads is None and device.type == "cpu"
        self._uploads = uploads or (CudaUploads(device) if device.type == "cuda" else HostUploads())
        self._pool = ThreadPoolExecutor(THREADS, thread_name_prefix="weights")
        self._buffers = SimpleQueue[Tensor]()
        self._files: dict[Path, int] = {}
        self.read_bytes = 0
        """Bytes read so far."""

    def close(self) -> None:
        """End the threads and close the files."""
        self._pool.shutdown(cancel_futures=True)
        for file in self._files.values():
            os.close(file)
        self._files.clear()

    def tensor(self, span: Span, dtype: torch.dtype) -> Tensor:
        """The tensor at `span`, in `dtype`, on the device.

        Raises:
            ModelError: the file cannot be read, or has become shorter.
        """
        out = torch.empty(span.shape, dtype=dtype, device=self._device)
        if self._device.type == "cuda":  # its memory may still be in use by work of this stream
            torch.cuda.current_stream(self._device).synchronize()
        file, values = self._file(span.path), out.view(-1)
        step = self._chunk_bytes // span.dtype.itemsize
        jobs = [
            self._pool.submit(self._fill, file, span, values, at, min(at + step, span.numel))
            for at in range(0, span.numel, step)
        ]
        try:
            for job in jobs:
                job.result()
        finally:
            for job in jobs:
                job.cancel()
        self._uploads.finish()
        self.read_bytes += span.nbytes
        return out

    def _fill(self, file: int, span: Span, values: Tensor, first: int, last: int) -> None:
        """Read the values from `first` up to `last`."""
        size = span.dtype.itemsize
        offset, count = span.begin + first * size, (last - first) * size
        place = values[first:last]
        if self._in_place and values.dtype == span.dtype:
            _read(file, span.path, offset, place.view(torch.uint8))
            return
        with self._staging() as buffer:
            _read(file, span.path, offset, buffer[:count])
            with torch.inference_mode():
                self._uploads.upload(buffer[:count].view(span.dtype), place)

    @contextmanager
    def _staging(self) -> Iterator[Tensor]:
        """A buffer that no other thread uses. There are never more than threads."""
        try:
            buffer = self._buffers.get_nowait()
        except Empty:
            buffer = self._uploads.buffer(self._chunk_bytes)
        try:
            yield buffer
        finally:
            self._buffers.put(buffer)

    def _file(self, path: Path) -> int:
        if path not in self._files:
            try:
                self._files[path] = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
            except OSError as error:
                raise ModelError(f"cannot read {path}: {error}", where=str(path)) from error
        return self._files[path]


def _read(file: int, path: Path, offset: int, place: Tensor) -> None:
    """Fill `place`, bytes in host memory, from `offset` of a file on."""
    left = place.numpy().data.cast("B")
    try:
        while left:
            count = os.preadv(file, (left,), offset)
            if not count:
                raise ModelError(
                    f"{path} ends at byte {offset}, within a tensor",
                    where=str(path),
                    hint="the file became shorter while it was read: download it again",
                )
            left, offset = left[count:], offset + count
    except OSError as error:
        raise ModelError(f"cannot read {path}: {error}", where=str(path)) from error
