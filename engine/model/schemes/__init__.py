"""Quantisation schemes of weights, one file for each format of checkpoints or form in memory.

Does: map the values of the setting `quantization` to schemes. Does not: quantise.
"""

from collections.abc import Mapping

from .int8 import Int8
from .scheme import Scheme

AT_LOADING: Mapping[str, Scheme] = {"int8": Int8()}
"""Schemes for unquantised checkpoints, by the values of the setting other than "none"."""
