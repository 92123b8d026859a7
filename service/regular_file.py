"""Text files that a command reads whole, pipes and devices refused.

Does: open a regular file. Does not: wait for the writer of a pipe, or read a device that never ends.
"""

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TextIO


@contextmanager
def open_text(path: Path, encoding: str = "utf-8-sig") -> Iterator[TextIO]:
    """Open a regular file for reading; opening never waits.

    Raises:
        OSError: it cannot be read, or is not a regular file; `strerror` says so.
    """
    number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(number, encoding=encoding) as file:
        if not stat.S_ISREG(os.fstat(number).st_mode):
            raise OSError(
                errno.EINVAL, "it is a pipe or a device; write it to a file first", str(path)
            )
        yield file
