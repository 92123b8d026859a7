"""Quantisation schemes of weights, one file for each scheme.

Does: map the values of the setting `quantization` to schemes. Does not: quantise.
"""

from collections.abc import Mapping

from .int8 import Int8
from .scheme import Dense, Scheme

SCHEMES: Mapping[str, Scheme] = {"none": Dense(), "int8": Int8()}
