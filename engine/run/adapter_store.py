"""The adapters in host memory, from which places on the device are filled.

Does: read adapters in a separate thread, keep those that open requests use and the most recently used others within a
bound, and copy them to the device. Does not: choose places on the device (`memory`).
"""

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path

from torch import Tensor

from ..errors import AdapterUnusable, InternalError
from ..model.adapter_files import adapter_digest, open_adapter
from ..model.adapter_tables import AdapterTables
from ..types import AdapterRef, Request


class AdapterStore:
    """Adapters by the digest of their files; those that no open request uses take at most `most_bytes`."""

    def __init__(self, tables: AdapterTables, most_bytes: int, *, pinned: bool) -> None:
        """With `pinned` they are in memory that a GPU copies from without waiting."""
        self._tables = tables
        self._most = most_bytes // (tables.layout.size * tables.dtype.itemsize)
        self._pinned = pinned
        self._kept: OrderedDict[str, Tensor] = OrderedDict()  # the least recently used first
        self._users: dict[str, str] = {}  # digests by request, also of those that wait
        self._reading: dict[str, Future[Tensor]] = {}
        self._reader = ThreadPoolExecutor(1, thread_name_prefix="adapter-read")

    def __len__(self) -> int:
        """The number of adapters in memory."""
        return len(self._kept)

    def hold(self, request: Request, read: Callable[[str], None]) -> bool:
        """See `Adapters`."""
        adapter = request.adapter
        if adapter is None:
            return True
        self._users[request.id] = adapter.digest
        self._collect()
        if adapter.digest in self._kept:
            self._kept.move_to_end(adapter.digest)
            return True
        reading = self._reading.get(adapter.digest)
        if reading is None:
            reading = self._reading[adapter.digest] = self._reader.submit(self._read, adapter)
        if not reading.done():
            reading.add_done_callback(partial(_tell, read, request.id))
            return False
        del self._reading[adapter.digest]
        self._kept[adapter.digest] = reading.result()
        return True

    def release(self, request_id: str) -> None:
        """See `Adapters`."""
        if self._users.pop(request_id, None) is not None:
            self._collect()

    def copy(self, place: int, digest: str) -> None:
        """Copy an adapter that an open request uses to a place on the device.

        Raises:
            InternalError: it is not in memory.
        """
        matrices = self._kept.get(digest)
        if matrices is None:
            raise InternalError(f"the adapter {digest} was planned and is not in memory")
        self._tables.fill(place, matrices)

    def close(self) -> None:
        """End the thread that reads."""
        self._reader.shutdown(cancel_futures=True)

    def _read(self, adapter: AdapterRef) -> Tensor:
        folder = Path(adapter.folder)
        try:
            if adapter_digest(folder) != adapter.digest:
                raise AdapterUnusable(
                    f"the files in {folder} have changed since the adapter was loaded",
                    hint="unload the adapter and load it again",
                )
            matrices = open_adapter(folder, self._tables.layout).read(self._tables.dtype)
        except AdapterUnusable as error:
            raise AdapterUnusable(
                f"the adapter {adapter.name!r}: {error.message}", where=error.where, hint=error.hint
            ) from error
        return matrices.pin_memory() if self._pinned else matrices

    def _collect(self) -> None:
        """Keep what has been read, and drop adapters that no open request uses, down to the bound.

        The least recently used ones are dropped first. Failures stay until they are asked for.
        """
        for digest, reading in list(self._reading.items()):
            if reading.done() and reading.exception() is None:
                self._kept[digest] = self._reading.pop(digest).result()
        used = set(self._users.values())
        unused = [digest for digest in self._kept if digest not in used]
        for digest in unused[: max(0, len(self._kept) - self._most)]:
            del self._kept[digest]


def _tell(read: Callable[[str], None], request_id: str, _: Future[Tensor]) -> None:
    read(request_id)
