"""The types of the arrays that tables, masks and compiled code work with.

Does: name them, one for each type of number; shapes are told where they are used. Does not: make arrays.
"""

import numpy as np
import numpy.typing as npt

Ints = npt.NDArray[np.int32]
Longs = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]
Bytes = npt.NDArray[np.uint8]
Words = npt.NDArray[np.uint32]
"""Of a mask, mostly: bit t % 32 of word t // 32 is token t."""
Places = npt.NDArray[np.intp]
"""Places in an array, in the one type that numpy writes by without converting: 1.6 us less a mask."""
