"""Asks the system to read a checkpoint's weights into its page cache while other things are done.

Does: ask for all files of a folder, in a thread, if free memory holds them. Does not: wait for them, or report errors,
which reading itself does. torch need not be loaded: loading it takes longer than asking.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from threading import Thread

STEP_BYTES = 1 << 20
"""Bytes of one request. Some systems read no more than a device's largest transfer of what they are asked for."""
LEFT_BYTES = 1 << 30
"""Memory that is left free."""


def read_ahead(folder: Path, available: int | None = None) -> Thread | None:
    """Begin to read the safetensors files of `folder`; the thread that asks, None if it is not done.

    `available`: bytes of memory for them; None: what the system has free or can free.
    """
    if not hasattr(os, "posix_fadvise"):
        return None
    files = sorted(folder.expanduser().glob("*.safetensors"))
    most = _available() if available is None else available
    try:
        total = sum(file.stat().st_size for file in files)
    except OSError:
        return None
    if not files or total + LEFT_BYTES > most:
        return None
    thread = Thread(target=_ask, args=(files,), name="read ahead", daemon=True)
    thread.start()
    return thread


def _ask(files: Sequence[Path]) -> None:
    for path in files:
        try:
            file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            return
        try:
            for at in range(0, os.fstat(file).st_size, STEP_BYTES):
                os.posix_fadvise(file, at, STEP_BYTES, os.POSIX_FADV_WILLNEED)
        except OSError:
            return
        finally:
            os.close(file)


def _available() -> int:
    """Bytes of memory that the system has free or can free; 0 if it does not say."""
    try:
        rows = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return 0
    found = [row.split()[1] for row in rows if row.startswith("MemAvailable:")]
    return int(found[0]) << 10 if found else 0
