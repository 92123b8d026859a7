"""Names for the array types of tables, masks and compiled code, one per element type.

Does: define the names; shapes are documented where they are used. Does not: make arrays.
"""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint32]
"""Usually a mask: bit t % 32 of word t // 32 is token t."""
Places = npt.NDArray[np.intp]
"""Indices into an array, in the only type that numpy uses without converting it: saves 1.6 us per mask."""
