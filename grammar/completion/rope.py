"""Texts in pieces, which other texts may share.

Does: put one together. Does not: find any.
"""

from typing import TypeAlias

Rope: TypeAlias = "tuple[bytes | Rope, Rope] | None"
"""A text in pieces, from its first one on: states that share the rest of a way share the pieces."""


def text_of(rope: Rope) -> bytes:
    """The text, in one piece."""
    pieces, todo = [], [rope]
    while todo:
        part = todo.pop()
        if part is not None:
            piece, rest = part
            todo.append(rest)
            if isinstance(piece, bytes):
                pieces.append(piece)
            else:
                todo.append(piece)
    return b"".join(pieces)
