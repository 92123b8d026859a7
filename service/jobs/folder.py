"""The data folder of a server: files of its clients.

Does: store uploads atomically within a quota; resolve file names to paths. Does not: follow names out of the folder: a
name consists of letters, digits, dots, dashes and underscores only.
"""

import os
import re
import stat
import time
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryFile

from .records.errors import FolderRefused, InputRefused, UnknownFile

_ABANDONED_S = 3600.0  # other processes may be receiving uploads
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class DataFolder:
    """Files by name, at most `max_bytes` in total. Raises `FolderRefused` if the folder is not writable."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._files = path / "files"
        self._max_bytes = max_bytes
        try:
            # The databases of jobs lie beside the files: a folder that is made here is for this user only.
            path.mkdir(parents=True, exist_ok=True, mode=0o700)
            self._files.mkdir(exist_ok=True, mode=0o700)
            for part in self._files.glob(".*.part"):
                if time.time() - part.lstat().st_mtime > _ABANDONED_S:
                    part.unlink()  # an upload interrupted by a crash
            with TemporaryFile(dir=self._files):
                pass
        except OSError as error:
            raise FolderRefused(
                f"the data folder {path} cannot be used: {error.strerror}",
                param="data",
                hint="name a folder that this user may write to, or one that does not exist yet",
            ) from None

    def names(self) -> dict[str, int]:
        """All files with their sizes in bytes."""
        found = {p.name: p.lstat() for p in self._files.iterdir() if _NAME.fullmatch(p.name)}
        return {n: s.st_size for n, s in sorted(found.items()) if stat.S_ISREG(s.st_mode)}

    def path(self, name: str) -> Path:
        """The path of a file.

        Raises:
            InputRefused: the name is invalid.
            UnknownFile: there is no file of that name.
        """
        path = self._path_of(name)
        if not self._is_file(path):
            raise UnknownFile(f"there is no file {name!r}", hint="PUT /v1/files/NAME uploads one")
        return path

    async def save(self, name: str, chunks: AsyncIterator[bytes]) -> int:
        """Store the chunks as file `name`, replacing one of that name; returns the size in bytes.

        Raises:
            InputRefused: the name is invalid or the quota is exceeded. Nothing is stored.
        """
        path = self._path_of(name)
        room = self._room(name)
        part = path.with_name(f".{name}.{os.urandom(4).hex()}.part")
        size = 0
        try:
            with part.open("xb") as file:
                async for chunk in chunks:
                    size += len(chunk)
                    self._require_room(size <= room)
                    file.write(chunk)
                file.flush()
                os.fsync(file.fileno())
            self._require_room(size <= self._room(name))  # other uploads may have arrived meanwhile
            part.replace(path)
        except OSError as error:
            raise InputRefused(f"the file cannot be stored: {error.strerror}") from None
        finally:
            part.unlink(missing_ok=True)
        return size

    def status(self, name: str) -> tuple[int, float] | None:
        """Size in bytes and time of the last change of a file; None if there is none.

        Raises:
            InputRefused: the name is invalid.
        """
        try:
            found = self._path_of(name).lstat()
        except OSError:
            return None
        return (found.st_size, found.st_mtime) if stat.S_ISREG(found.st_mode) else None

    def delete(self, name: str) -> None:
        """Delete a file. Raises as `path`."""
        self.path(name).unlink(missing_ok=True)

    def discard(self, name: str) -> None:
        """Delete a file if there is one. Raises `InputRefused` if the name is invalid."""
        self._path_of(name).unlink(missing_ok=True)

    def require_name(self, name: str) -> None:
        """Return if `name` can be the name of a file. Raises `InputRefused`."""
        self._path_of(name)

    def _room(self, name: str) -> int:
        """The maximum size in bytes of a file of this name."""
        sizes = self.names()
        return self._max_bytes - sum(sizes.values()) + sizes.get(name, 0)

    def _is_file(self, path: Path) -> bool:
        """Whether the path is a regular file: not a link, which could lead out of the folder, and not a pipe."""
        try:
            return stat.S_ISREG(path.lstat().st_mode)
        except OSError:
            return False

    def _require_room(self, fits: bool) -> None:
        if not fits:
            raise InputRefused(
                f"the files would take more than {self._max_bytes} bytes",
                hint="delete some, or raise the server's max_data_bytes",
            )

    def _path_of(self, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise InputRefused(
                f"{name[:40]!r} is not a valid file name",
                param="source.path",
                hint="send the file (PUT /v1/files/NAME) and give its name: up to 128 letters, digits, dots, dashes "
                "and underscores",
            )
        return self._files / name
