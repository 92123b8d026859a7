"""Leaf languages of JSON: strings, keys, numbers, formats.

Does: export the names that front ends use. Does not: read schemas.
"""

from .numbers import NumberSpec, number
from .strings import lengths, quoted

__all__ = ["NumberSpec", "lengths", "number", "quoted"]
