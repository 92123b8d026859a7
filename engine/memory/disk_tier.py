"""Contents of KV blocks in files, which survive a restart: one file for each block, with a checksum.

Does: write files in a separate thread, read and verify them, and keep their total size within a bound by deleting the
least recently used. A damaged, short or foreign file is a miss and is deleted. Does not: sync files: after a loss of
power some are damaged. After a failed write nothing is written for a while.

A folder belongs to one process at a time, which holds its lock: `open_tier` takes the first free one.
"""

import fcntl
import os
import re
import shutil
import threading
import time
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import blake2b
from pathlib import Path
from typing import IO, Final

from ..errors import ConfigError
from .block_contents import Content
from .page_key import CHAIN_BYTES, Chain

MAGIC: Final = b"intaglio kv 1\n"
SUFFIX: Final = ".kv"
PART: Final = ".part"
LOCK: Final = "lock"
MOST_QUEUED: Final = 64 << 20  # the most bytes waiting to be written; contents beyond are dropped
PAUSE_S: Final = 30.0  # without writing after a failed write
MOST_FOLDERS: Final = 64  # processes with the same disk

_CHECKSUM: Final = 16
_NAME: Final = re.compile(f"[0-9a-f]{{{2 * CHAIN_BYTES}}}")


def write_file(path: Path, content: bytes) -> None:
    """Write a file that only this user may read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as file:
        file.write(content)


def open_tier(disk: Path, version: str, most_bytes: int) -> "DiskTier":
    """The tier of this process in the folder `disk`, for contents of one `version`: a model and its layout of blocks.

    Contents of other versions and of processes that have ended are deleted where all together exceed the bound.

    Raises:
        ConfigError: the folder cannot be used.
    """
    try:
        for number in range(MOST_FOLDERS):
            folder = disk / version / str(number)
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = _locked(folder)
            if lock is not None:
                _make_room(disk, folder, most_bytes)
                return DiskTier(folder, most_bytes, lock=lock)
    except OSError as error:
        raise ConfigError(
            f"the folder {disk} cannot be used: {error}",
            where="kv_disk",
            hint="give a folder that this user may write to",
        ) from error
    raise ConfigError(f"{MOST_FOLDERS} processes use {disk} already", where="kv_disk")


class DiskTier:
    """The files of one folder, of at most `most_bytes` bytes. `put` and `get` may be called from any thread."""

    def __init__(
        self,
        folder: Path,
        most_bytes: int,
        *,
        lock: IO[bytes] | None = None,
        write: Callable[[Path, bytes], None] = write_file,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._folder = folder
        self._most_bytes = most_bytes
        self._lock_file = lock
        self._write = write
        self._clock = clock
        self._guard = threading.Lock()
        self._sizes: OrderedDict[Chain, int] = OrderedDict()  # least recently used first
        self._bytes = 0
        self._queued = 0
        self._paused_until = 0.0
        self._faults = {"write": 0, "damaged": 0}
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="kv-disk")
        self._scan()

    def __contains__(self, chain: object) -> bool:
        return chain in self._sizes

    def __len__(self) -> int:
        return len(self._sizes)

    @property
    def nbytes(self) -> int:
        """Bytes of all files."""
        return self._bytes

    @property
    def faults(self) -> dict[str, int]:
        """Failed writes, and files found damaged."""
        return dict(self._faults)

    def put(self, chain: Chain, content: Content) -> None:
        """Start to write a content, unless it is stored already, the queue is full, or a write failed recently."""
        with self._guard:
            if (
                chain in self._sizes
                or self._queued + content.nbytes > MOST_QUEUED
                or self._clock() < self._paused_until
            ):
                return
            self._queued += content.nbytes
        self._writer.submit(self._store, chain, content)

    def get(self, chain: Chain) -> bytes | None:
        """The content of this chain; None if it is not here or damaged."""
        path = self._path(chain)
        try:
            data = path.read_bytes()
        except OSError:
            self._drop(chain)
            return None
        content = _content(chain, data)
        if content is None:
            self._faults["damaged"] += 1
            self._drop(chain)
            return None
        with self._guard:
            if chain in self._sizes:
                self._sizes.move_to_end(chain)
        return content

    def flush(self) -> None:
        """Wait until all that was put is written."""
        self._writer.submit(lambda: None).result()

    def close(self) -> None:
        """Finish writing and release the folder."""
        self._writer.shutdown()
        if self._lock_file is not None:
            self._lock_file.close()

    def _store(self, chain: Chain, content: Content) -> None:
        """Write one content: whole, or not at all, whenever this process is killed."""
        path = self._path(chain)
        part = path.with_suffix(PART)
        try:
            body = MAGIC + chain + content.tobytes()
            self._write(part, body + blake2b(body, digest_size=_CHECKSUM).digest())
            part.replace(path)
            size = path.stat().st_size
        except OSError:
            part.unlink(missing_ok=True)
            with self._guard:
                self._faults["write"] += 1
                self._paused_until = self._clock() + PAUSE_S
                self._queued -= content.nbytes
            return
        with self._guard:
            self._queued -= content.nbytes
            self._sizes[chain] = size
            self._bytes += size
            dropped = []
            while self._bytes > self._most_bytes:
                oldest, freed = self._sizes.popitem(last=False)
                self._bytes -= freed
                dropped.append(oldest)
        for oldest in dropped:
            self._path(oldest).unlink(missing_ok=True)

    def _scan(self) -> None:
        """Find the files of earlier processes, the oldest first, and delete unfinished ones."""
        found = []
        for path in self._folder.iterdir():
            name = path.name.removesuffix(SUFFIX)
            if path.suffix == PART:
                path.unlink(missing_ok=True)
            elif path.suffix == SUFFIX and _NAME.fullmatch(name):
                status = path.stat()
                found.append((status.st_mtime_ns, bytes.fromhex(name), status.st_size))
        for _, chain, size in sorted(found):
            self._sizes[chain] = size
            self._bytes += size

    def _path(self, chain: Chain) -> Path:
        return self._folder / (chain.hex() + SUFFIX)

    def _drop(self, chain: Chain) -> None:
        with self._guard:
            self._bytes -= self._sizes.pop(chain, 0)
        self._path(chain).unlink(missing_ok=True)


def _content(chain: Chain, data: bytes) -> bytes | None:
    """The content in the bytes of a file; None if they are damaged, or of another chain."""
    body, checksum = data[:-_CHECKSUM], data[-_CHECKSUM:]
    head = MAGIC + chain
    if not body.startswith(head) or blake2b(body, digest_size=_CHECKSUM).digest() != checksum:
        return None
    return body[len(head) :]


def _locked(folder: Path) -> IO[bytes] | None:
    """The lock of a folder, held until it is closed or this process ends; None if another process holds it."""
    file = (folder / LOCK).open("ab")
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        file.close()
        return None
    return file


def _make_room(disk: Path, own: Path, most_bytes: int) -> None:
    """Delete folders without a process, the longest unused first, while all files exceed the bound."""
    folders = {
        folder: sum(path.stat().st_size for path in folder.iterdir())
        for folder in disk.glob("*/[0-9]*")
        if folder.is_dir()
    }
    total = sum(folders.values())
    for folder in sorted(folders, key=lambda each: each.stat().st_mtime_ns):
        if total <= most_bytes:
            return
        lock = None if folder == own else _locked(folder)
        if lock is not None:
            with lock:
                shutil.rmtree(folder)
            total -= folders[folder]
