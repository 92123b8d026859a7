"""Compilation of the loops over a step's tokens to machine code.

Does: one typed decorator. Does not: hold any loop itself, or compile: `grammar/jit/kernel.py` does that, for grammars
as well.
"""

from collections.abc import Callable
from typing import TypeVar

from intaglio.grammar.api import brief_kernel

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """`function` compiled for the types it gets.

    Such functions take and return numbers and arrays only, and never raise. They keep the interpreter lock: they take
    microseconds.
    """
    return brief_kernel(function)
