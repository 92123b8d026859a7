"""The decorator for loops over a step's tokens that are compiled to machine code.

Does: type the decorator. Does not: contain loops, or compile: `grammar/jit/kernel.py` does that, for grammars as well.
"""

from collections.abc import Callable
from typing import TypeVar

from intaglio.grammar.api import brief_kernel

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """`function`, compiled for the types of its arguments.

    Compiled functions take and return numbers and arrays only, and never raise. They hold the interpreter lock, since
    they take microseconds.
    """
    return brief_kernel(function)
