"""Quantisation schemes: how weights are held in memory, one file a scheme.

Does: name the schemes of the setting `quantization`. Does not: quantise.
"""

from collections.abc import Mapping

from .int8 import Int8
from .scheme import Dense, Scheme

SCHEMES: Mapping[str, Scheme] = {"none": Dense(), "int8": Int8()}
