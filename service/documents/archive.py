"""Members of a ZIP archive, within limits that hold while it is unpacked.

Does: refuse archives with too many members, absurd sizes or ratios, encrypted or doubled members; unpack one member at
a time, in memory. Does not: write files, so that the path in a member's name leads nowhere.
"""

import zipfile
import zlib
from io import BytesIO
from types import TracebackType
from typing import Final, Self

from .refused import encrypted, too_large, unreadable

MAX_MEMBERS: Final = 10_000
MAX_MEMBER_BYTES: Final = 96 << 20
MAX_TOTAL_BYTES: Final = 256 << 20
MAX_RATIO: Final = 400
_SMALL: Final = 1 << 20  # ratios of smaller members do no harm
_CHUNK: Final = 1 << 18
_BROKEN: Final = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    NotImplementedError,
    OSError,
    RuntimeError,
    ValueError,
)


class Archive:
    """A ZIP archive in memory. `names` are those of its members.

    Every method raises `ReadingRefused` if the archive is damaged, encrypted or exceeds a limit.
    """

    def __init__(self, content: bytes) -> None:
        try:
            self._zip = zipfile.ZipFile(BytesIO(content))
            members = self._zip.infolist()
        except _BROKEN:
            raise unreadable("the document is a damaged archive") from None
        if len(members) > MAX_MEMBERS:
            raise too_large(f"the document is an archive of more than {MAX_MEMBERS} files")
        self.names = frozenset(member.filename for member in members)
        if len(self.names) < len(members):
            raise unreadable("the document is an archive with two files of one name")
        if any(member.flag_bits & 1 for member in members):
            raise encrypted("the document is an encrypted archive")
        for member in members:
            ratio = member.file_size / max(1, member.compress_size)
            if member.file_size > MAX_MEMBER_BYTES:
                raise too_large(f"a part of the document unpacks to {member.file_size} bytes")
            if member.file_size > _SMALL and ratio > MAX_RATIO:
                raise too_large("a part of the document unpacks to hundreds of times its size")
        if sum(member.file_size for member in members) > MAX_TOTAL_BYTES:
            raise too_large(f"the document unpacks to more than {MAX_TOTAL_BYTES} bytes")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._zip.close()

    def read(self, name: str) -> bytes:
        """The content of a member, never longer than the archive declares."""
        if name not in self.names:
            raise unreadable(f"the document lacks its part {name}")
        content = bytearray()
        try:
            with self._zip.open(name) as member:
                while chunk := member.read(_CHUNK):
                    content += chunk
                    if len(content) > MAX_MEMBER_BYTES:
                        raise too_large(
                            f"a part of the document unpacks to over {MAX_MEMBER_BYTES} bytes"
                        )
        except _BROKEN:
            raise unreadable("a part of the document is damaged") from None
        return bytes(content)
