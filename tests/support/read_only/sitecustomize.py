"""Makes a Python process, and those it starts, see a file system that is read-only but for TMPDIR and /dev.

Python imports a module of this name at its start if its folder is in PYTHONPATH. An audit hook sees each attempt to
write, whatever the user's rights are, so that tests that run as root find it as well.
"""

import errno
import os
import sys
from typing import Any

_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND
_CHANGES = {
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
}
_FREE = (os.environ["TMPDIR"] + "/", "/dev/", "/proc/")


def _refuse(event: str, args: tuple[Any, ...]) -> None:
    is_open = event == "open"
    if not is_open and event not in _CHANGES:
        return
    path = args[0]
    if not isinstance(path, str | bytes) or (is_open and not args[2] & _WRITES):
        return
    found = os.path.abspath(os.fsdecode(path))  # noqa: PTH100 - pathlib resolves links, which opens files
    if not found.startswith(_FREE):
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), found)


sys.addaudithook(_refuse)
