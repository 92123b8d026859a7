"""The folder that a server keeps its clients' files in.

Does: take uploads in, whole or not at all, within a quota; give a file's path by its name. Does not: follow names out
of the folder: a name is letters, digits, dots, dashes and underscores, and nothing else.
"""

import os
import re
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from tempfile import TemporaryFile

from .errors import FolderRefused, InputRefused, UnknownFile

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,127}")


class DataFolder:
    """Files by name, `most_bytes` of them together. Raises `FolderRefused` where the folder cannot be written to."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self._files = path / "files"
        self._max_bytes = max_bytes
        try:
            self._files.mkdir(parents=True, exist_ok=True, mode=0o700)
            for part in self._files.glob(".*.part"):
                part.unlink()  # an upload that a crash cut short
            with TemporaryFile(dir=self._files):
                pass
        except OSError as error:
            raise FolderRefused(
                f"the data folder {path} cannot be used: {error.strerror}",
                param="data",
                hint="name a folder that this user may write to, or one that is not there yet",
            ) from None

    def names(self) -> dict[str, int]:
        """Every file with its size in bytes."""
        found = {p.name: p.lstat() for p in self._files.iterdir() if _NAME.fullmatch(p.name)}
        return {n: s.st_size for n, s in sorted(found.items()) if stat.S_ISREG(s.st_mode)}

    def path(self, name: str) -> Path:
        """Where a file lies.

        Raises:
            InputRefused: that is no name.
            UnknownFile: there is none of that name.
        """
        path = self._path_of(name)
        if not self._is_file(path):
            raise UnknownFile(f"there is no file {name!r}", hint="PUT /v1/files/NAME uploads one")
        return path

    async def save(self, name: str, chunks: AsyncIterator[bytes]) -> int:
        """Keep what comes under `name`, in place of what was there; its size in bytes.

        Raises:
            InputRefused: that is no name, or there is no room. Nothing is kept of it.
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
            self._require_room(size <= self._room(name))  # others may have come meanwhile
            part.replace(path)
        except OSError as error:
            raise InputRefused(f"the file cannot be kept: {error.strerror}") from None
        finally:
            part.unlink(missing_ok=True)
        return size

    def delete(self, name: str) -> None:
        """Forget a file. Raises as `path`."""
        self.path(name).unlink(missing_ok=True)

    def _room(self, name: str) -> int:
        """Bytes that a file of this name may take."""
        sizes = self.names()
        return self._max_bytes - sum(sizes.values()) + sizes.get(name, 0)

    def _is_file(self, path: Path) -> bool:
        """Whether a regular file is there: no link, which could lead out of the folder, and no pipe."""
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
                f"{name[:40]!r} is no name of a file",
                param="source.path",
                hint="up to 128 letters, digits, dots, dashes and underscores",
            )
        return self._files / name
