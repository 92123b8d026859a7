"""Python's collector in a process that computes steps.

Does: settle it once everything is loaded. Does not: collect while steps run, beyond what cycles need.
"""

import gc
from typing import Final

# Objects made before the youngest are looked through, and how often these then go on to the next generation. Nearly all
# of what a grammar makes stays, so with Python's own figures (700, 10, 10) the same objects are looked through time and
# again, and each time holds a step up for two milliseconds.
_THRESHOLDS: Final = 10_000, 50, 100


def settle() -> None:
    """Never look through what is there now again, and seldom through what comes."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_THRESHOLDS)
