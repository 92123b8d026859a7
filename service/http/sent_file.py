"""A file as a response, whole or one range of it.

Does: send it; refuse a range beyond its end; delete a temporary file when the response ends, however that happens.
Does not: send several ranges. A `Range` header that is malformed or names several is ignored, as HTTP permits, so that
every answer is one that the operation documents.
"""

import re
from pathlib import Path
from typing import Final

from starlette.responses import FileResponse
from starlette.types import Receive, Scope, Send

from ..errors import RangeNotSatisfiable

_RANGE: Final = b"range"
_ONE_RANGE: Final = re.compile(rb"bytes=(?:(\d{1,18})-(\d{0,18})|-(\d{1,18}))")


class SentFile(FileResponse):
    """A file; a `temporary` one is this response's own.

    Raises `RangeNotSatisfiable` when it is called with a range beyond the end.
    """

    def __init__(self, path: Path, *, media: str, filename: str, temporary: bool = False) -> None:
        self._file = path
        self._temporary = temporary
        found = path.stat()
        self._size = found.st_size
        super().__init__(path, media_type=media, filename=filename, stat_result=found)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            headers = [one for one in scope["headers"] if one[0] != _RANGE or self._has(one[1])]
            await super().__call__({**scope, "headers": headers}, receive, send)
        finally:
            if self._temporary:
                self._file.unlink()

    def _has(self, header: bytes) -> bool:
        """Whether to send the range that a header asks for."""
        found = _ONE_RANGE.fullmatch(header.strip())
        if found is None:
            return False
        first, last, of_the_end = found.groups()
        if of_the_end is not None:
            satisfiable = int(of_the_end) > 0 and self._size > 0
        elif last and int(last) < int(first):
            return False
        else:
            satisfiable = int(first) < self._size
        if not satisfiable:
            raise RangeNotSatisfiable(
                f"the file has {self._size} bytes, and none in this range",
                hint="send the request without a Range header",
            )
        return True
