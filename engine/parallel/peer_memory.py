"""Device memory that another process can map, by CUDA's handles.

Does: allocate memory that can be shared, give its handle, map the memory of another process, copy from it. Does not:
know what is in it.

The driver is called directly. Torch's allocator parts larger allocations and, with expandable segments, makes some that
have no handle; torch's own sharing labels memory with a device that the process need not see.
"""

import ctypes
from typing import Any, Final

import torch
from torch import Tensor

from ..errors import ConfigError
from ..memory.block_exchange import ExchangeError

HANDLE_BYTES: Final = 64
_LAZY_PEER_ACCESS: Final = 1
_OUT_OF_MEMORY: Final = 2


class _Handle(ctypes.Structure):
    """A `CUipcMemHandle`, which is passed by value."""

    _fields_ = (("reserved", ctypes.c_byte * HANDLE_BYTES),)


class _Array:
    """Memory that torch can view, by the interface of arrays on CUDA devices."""

    def __init__(self, address: int, nbytes: int) -> None:
        self.__cuda_array_interface__ = {
            "shape": (nbytes,),
            "typestr": "|u1",
            "data": (address, False),
            "strides": None,
            "version": 3,
        }


class PeerMemory:
    """The driver's calls, in the context of one device; for any thread."""

    def __init__(self, device: torch.device) -> None:
        """Raises `ConfigError` if the driver's library cannot be loaded."""
        torch.cuda.synchronize(device)  # from now on this thread has a context
        try:
            self._driver: Any = ctypes.CDLL("libcuda.so.1")
        except OSError as error:
            raise ConfigError(
                f"the CUDA driver cannot be loaded: {error}", where="kv_role"
            ) from error
        self._driver.cuIpcOpenMemHandle_v2.argtypes = (ctypes.c_void_p, _Handle, ctypes.c_uint)
        self._context = ctypes.c_void_p()
        status = self._driver.cuCtxGetCurrent(ctypes.byref(self._context))
        if status or not self._context:
            raise ConfigError(f"no CUDA context: {self._name(status)}", where="kv_role")
        self._device = device

    def allocate(self, nbytes: int) -> tuple[Tensor, bytes]:
        """Memory, [bytes], and its handle. It is freed when the process ends: others may have it mapped until then.

        Raises:
            ConfigError: there is not enough memory, or it cannot be shared.
        """
        address, handle = ctypes.c_uint64(), _Handle()
        status = self._call("cuMemAlloc_v2", ctypes.byref(address), ctypes.c_size_t(nbytes))
        if not status:
            status = self._call("cuIpcGetMemHandle", ctypes.byref(handle), address)
        if status:
            reason = "memory is short" if status == _OUT_OF_MEMORY else self._name(status)
            raise ConfigError(
                f"{nbytes} bytes of GPU memory cannot be kept for other engines: {reason}",
                where="kv_role",
                hint="lower memory_fraction, or leave out prefill_engines",
            )
        return torch.as_tensor(_Array(address.value, nbytes), device=self._device), bytes(handle)

    def map(self, handle: bytes) -> int:
        """The address of the memory of another process. Raises `ExchangeError` if the device cannot read it."""
        if len(handle) != HANDLE_BYTES:
            raise ExchangeError(f"a handle of {len(handle)} bytes, not of {HANDLE_BYTES}")
        address = ctypes.c_uint64()
        given = _Handle.from_buffer_copy(handle)
        flags = ctypes.c_uint(_LAZY_PEER_ACCESS)
        self._exchange("cuIpcOpenMemHandle_v2", ctypes.byref(address), given, flags)
        return address.value

    def unmap(self, address: int) -> None:
        """Unmap memory, from which nothing is being copied. Raises `ExchangeError`."""
        self._exchange("cuIpcCloseMemHandle", ctypes.c_uint64(address))

    def copy(self, target: int, source: int, nbytes: int, stream: torch.cuda.Stream) -> None:
        """Start a copy from a mapped address to one of this device. Raises `ExchangeError`."""
        self._exchange(
            "cuMemcpyDtoDAsync_v2",
            ctypes.c_uint64(target),
            ctypes.c_uint64(source),
            ctypes.c_size_t(nbytes),
            ctypes.c_void_p(stream.cuda_stream),
        )

    def _exchange(self, name: str, *arguments: Any) -> None:
        status = self._call(name, *arguments)
        if status:
            raise ExchangeError(f"{name}: {self._name(status)}")

    def _call(self, name: str, *arguments: Any) -> int:
        """The status of a call in the context of the device."""
        status: int = self._driver.cuCtxSetCurrent(self._context)
        return status or int(getattr(self._driver, name)(*arguments))

    def _name(self, status: int) -> str:
        text = ctypes.c_char_p()
        self._driver.cuGetErrorName(status, ctypes.byref(text))
        return f"CUDA error {status}" if text.value is None else text.value.decode()
