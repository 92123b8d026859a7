"""Regular expressions of ECMA-262 as automata over code points.

Does: name what the rest of the package uses. Does not: match by backtracking, ever.
"""

from .pattern import search, whole

__all__ = ["search", "whole"]
