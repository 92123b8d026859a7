"""Regular expressions of ECMA-262, compiled to automata over code points.

Does: export the public names of the package. Does not: match by backtracking.
"""

from .pattern import search, whole

__all__ = ["search", "whole"]
