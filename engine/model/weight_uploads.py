"""Copies of weights from host memory to a device, through a bounded ring of staging buffers.

Does: lend staging buffers to threads, copy them to the device on a stream of its own, and convert the dtype there.
Does not: read files.

A buffer returns to the ring when its copy is launched, and is lent again when the copy has ended: a thread reads into
one while the others are copied.
"""

from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Protocol

import torch
from torch import Tensor


class Copied(Protocol):
    """A copy that takes place; an event of the device."""

    def query(self) -> bool:
        """Whether it has ended."""
        ...

    def synchronize(self) -> None:
        """Return when it has ended."""
        ...


class Uploads(Protocol):
    """Copies from staging buffers to a device, which may take place later."""

    def buffer(self, nbytes: int) -> Tensor:
        """A new staging buffer of this many bytes of host memory."""
        ...

    def begin(self) -> None:
        """Let later copies wait for the present work of the caller's stream: it may use their places still."""
        ...

    def upload(self, staged: Tensor, place: Tensor) -> Copied | None:
        """Copy `staged`, part of a buffer, to `place`. None: the copy has ended."""
        ...

    def finish(self) -> None:
        """Let the work of the caller's stream follow all copies so far."""
        ...

    def close(self) -> None:
        """Return when all copies have ended."""
        ...


class HostUploads:
    """Conversions on the host."""

    def buffer(self, nbytes: int) -> Tensor:
        """See `Uploads`."""
        return torch.empty(nbytes, dtype=torch.uint8)

    def begin(self) -> None:
        """See `Uploads`."""

    def upload(self, staged: Tensor, place: Tensor) -> None:
        """See `Uploads`."""
        place.copy_(staged)

    def finish(self) -> None:
        """See `Uploads`."""

    def close(self) -> None:
        """See `Uploads`."""


class CudaUploads:
    """Copies from pinned memory on a stream of their own. Where none can be pinned, from pageable memory, slower."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._stream = torch.cuda.Stream(device)

    def buffer(self, nbytes: int) -> Tensor:
        """See `Uploads`."""
        try:
            return torch.empty(nbytes, dtype=torch.uint8, pin_memory=True)
        except (
            RuntimeError
        ):  # the driver copies what is pageable before it returns, so a buffer is as safe
            return torch.empty(nbytes, dtype=torch.uint8)

    def begin(self) -> None:
        """See `Uploads`."""
        self._stream.wait_stream(torch.cuda.current_stream(self._device))

    def upload(self, staged: Tensor, place: Tensor) -> Copied:
        """See `Uploads`. The dtype is converted on the device."""
        with torch.cuda.stream(self._stream):
            if staged.dtype == place.dtype:
                place.copy_(staged, non_blocking=True)
            else:
                place.copy_(staged.to(self._device, non_blocking=True))
            # Threads that wait for it sleep: the others need the processors to read.
            done = torch.cuda.Event(blocking=True)
            done.record(self._stream)
        return done

    def finish(self) -> None:
        """See `Uploads`."""
        torch.cuda.current_stream(self._device).wait_stream(self._stream)

    def close(self) -> None:
        """See `Uploads`."""
        self._stream.synchronize()


class StagingRing:
    """At most `count` buffers of `nbytes` bytes each, lent to threads: no fewer than there are threads."""

    def __init__(self, uploads: Uploads, nbytes: int, count: int) -> None:
        self._uploads = uploads
        self._nbytes = nbytes
        self._left = count
        self._free = deque[tuple[Tensor, Copied | None]]()
        self._lock = Lock()

    @contextmanager
    def buffer(self) -> Iterator["Staging"]:
        """A buffer that no other thread and no copy uses."""
        with self._lock:
            made = self._oldest_free()
        if made is None:
            made = self._uploads.buffer(self._nbytes), None
        buffer, copied = made
        if copied is not None:
            copied.synchronize()
        staging = Staging(buffer)
        try:
            yield staging
        finally:
            with self._lock:
                self._free.append((buffer, staging.copied))

    def _oldest_free(self) -> tuple[Tensor, Copied | None] | None:
        """The buffer that was given back first; None: a new one is to be made, since that one is still copied."""
        if self._free:
            copied = self._free[0][1]
            if not self._left or copied is None or copied.query():
                return self._free.popleft()
        self._left -= 1
        return None


class Staging:
    """A buffer [nbytes] uint8 that is lent, and the copy that reads it."""

    def __init__(self, buffer: Tensor) -> None:
        self.buffer = buffer
        self.copied: Copied | None = None
