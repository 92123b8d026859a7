"""What programs that tests start call first, to be like those that a user starts."""

import ctypes
import os
import signal
from typing import Final

_PR_CAPBSET_DROP: Final = 24
_ABOVE_PERMISSIONS: Final = (1, 2, 3)  # CAP_DAC_OVERRIDE, CAP_DAC_READ_SEARCH, CAP_FOWNER
_VERSION_3: Final = 0x20080522


def as_a_user() -> None:
    """Makes this process and the program that it becomes obey Ctrl-C and the permissions of files.

    A shell that runs the tests in the background has them, and so their children, ignore Ctrl-C; root may read and
    write every file.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if os.geteuid() == 0:
        system = ctypes.CDLL(None)
        for capability in _ABOVE_PERMISSIONS:
            system.prctl(_PR_CAPBSET_DROP, capability)  # of the next program
        header = (ctypes.c_uint32 * 2)(_VERSION_3, 0)
        own = (
            ctypes.c_uint32 * 6
        )()  # effective, permitted and inheritable: bits below 32, then those above
        if system.capget(header, own) == 0:
            for place in range(3):
                own[place] &= ~sum(1 << capability for capability in _ABOVE_PERMISSIONS)
            system.capset(header, own)
