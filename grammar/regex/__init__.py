"""Regular expressions of ECMA-262, with common additions of other dialects, compiled to automata over code points.

Does: export the public names of the package. Does not: match by backtracking.
"""

from .pattern import search, whole, whole_extended

__all__ = ["search", "whole", "whole_extended"]
