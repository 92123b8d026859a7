"""The CUDA streams for copies between a GPU's cache and host memory, and the interface to them.

Does: launch work on a stream, mark positions in it, and let streams wait for marks; pin memory. Does not: decide what
is copied, or in which order (`device_blocks`). Tests pass simulated streams, which run work in any order that the marks
allow.
"""

from collections.abc import Callable
from typing import Any, Protocol

import torch
from torch import Tensor

from ...errors import ConfigError


class Mark(Protocol):
    """A position in a stream, behind all work launched there before: a CUDA event."""

    @property
    def passed(self) -> bool:
        """Whether the stream has passed it. Does not wait."""
        ...

    def join(self) -> None:
        """Wait until the stream has passed it."""
        ...

    def seconds_since(self, earlier: "Mark") -> float:
        """The seconds since another mark; both are `timed` and passed."""
        ...


class CopyStream(Protocol):
    """A stream: its work runs in the order of its launch, concurrently with that of other streams."""

    def launch(self, work: Callable[[], object]) -> None:
        """Launch all that `work` starts."""
        ...

    def mark(self, *, timed: bool = False) -> Mark:
        """Mark this position."""
        ...

    def wait(self, mark: Mark) -> None:
        """Let all work that is launched from now on wait for a mark of another stream."""
        ...


class CopyDevice(Protocol):
    """The streams of one device. Steps are launched on `compute`."""

    @property
    def compute(self) -> CopyStream:
        """Runs steps, and gathers the blocks that the next step overwrites."""
        ...

    @property
    def gather(self) -> CopyStream:
        """Gathers blocks while steps run."""
        ...

    @property
    def to_host(self) -> CopyStream:
        """Copies to the host what `compute` gathered."""
        ...

    @property
    def overlapped_to_host(self) -> CopyStream:
        """Copies to the host what `gather` gathered."""
        ...

    @property
    def to_device(self) -> CopyStream:
        """Copies contents to buffers on the device."""
        ...

    @property
    def scatter(self) -> CopyStream:
        """Scatters these buffers into blocks of the cache."""
        ...

    def indices(self, blocks: list[int]) -> Tensor:
        """Block numbers as int64 [blocks] on the device, copied on the stream of the `launch` that calls this."""
        ...

    def pin(self, memory: Tensor) -> None:
        """Let the device copy from and to memory of the host. Raises `ConfigError` if the system does not."""
        ...

    def unpin(self, memory: Tensor) -> None:
        """Undo `pin`. No copy from or to this memory may be in progress."""
        ...

    def synchronize(self) -> None:
        """Wait for all streams."""
        ...


class CudaCopies:
    """See `CopyDevice`. The current stream at construction computes; all steps are launched there."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        self._runtime = torch.cuda.cudart()
        caller = torch.cuda.current_stream(device)
        self.compute: CopyStream = _CudaStream(caller, caller)
        self.gather: CopyStream = self._side_stream(caller)
        self.to_host: CopyStream = self._side_stream(caller)
        self.overlapped_to_host: CopyStream = self._side_stream(caller)
        self.to_device: CopyStream = self._side_stream(caller)
        self.scatter: CopyStream = self._side_stream(caller)

    def indices(self, blocks: list[int]) -> Tensor:
        """See `CopyDevice`."""
        sent = torch.tensor(blocks, dtype=torch.int64).pin_memory()
        return sent.to(self._device, non_blocking=True)

    def pin(self, memory: Tensor) -> None:
        """See `CopyDevice`. Not torch's own pinned memory, which takes up the next power of two."""
        status = int(self._runtime.cudaHostRegister(memory.data_ptr(), memory.nbytes, 0))
        if status:
            raise ConfigError(
                f"{memory.nbytes} bytes of memory cannot be pinned: CUDA error {status}",
                where="kv_host_bytes",
                hint="lower kv_host_bytes, or raise the system's limit of locked memory",
            )

    def unpin(self, memory: Tensor) -> None:
        """See `CopyDevice`."""
        self._runtime.cudaHostUnregister(memory.data_ptr())

    def synchronize(self) -> None:
        """See `CopyDevice`."""
        torch.cuda.synchronize(self._device)

    def _side_stream(self, caller: torch.cuda.Stream) -> CopyStream:
        return _CudaStream(torch.cuda.Stream(self._device), caller)


class _CudaStream:
    """See `CopyStream`. `caller` is the current stream before and after a launch, and is never looked up."""

    def __init__(self, stream: torch.cuda.Stream, caller: torch.cuda.Stream) -> None:
        self._stream, self._caller = stream, caller

    def launch(self, work: Callable[[], object]) -> None:
        """See `CopyStream`."""
        torch.cuda.set_stream(self._stream)
        try:
            with torch.inference_mode():
                work()
        finally:
            torch.cuda.set_stream(self._caller)

    def mark(self, *, timed: bool = False) -> "_CudaMark":
        """See `CopyStream`."""
        return _CudaMark(self._stream, timed=timed)

    def wait(self, mark: Any) -> None:
        """See `CopyStream`."""
        self._stream.wait_event(mark.event)


class _CudaMark:
    """See `Mark`."""

    __slots__ = ("event",)

    def __init__(self, stream: torch.cuda.Stream, *, timed: bool) -> None:
        self.event = torch.cuda.Event(enable_timing=timed)
        self.event.record(stream)

    @property
    def passed(self) -> bool:
        """See `Mark`."""
        passed: bool = self.event.query()
        return passed

    def join(self) -> None:
        """See `Mark`."""
        self.event.synchronize()

    def seconds_since(self, earlier: Any) -> float:
        """See `Mark`."""
        milliseconds: float = earlier.event.elapsed_time(self.event)
        return milliseconds / 1e3
