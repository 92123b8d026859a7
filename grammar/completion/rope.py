"""Ropes: texts as linked pieces, which several texts can share.

Does: join the pieces. Does not: find any text.
"""

from typing import TypeAlias

Rope: TypeAlias = "tuple[bytes | Rope, Rope] | None"
"""A text as (first piece, rest). Completions with the same end share its pieces."""


def text_of(rope: Rope) -> bytes:
    """The whole text of a rope."""
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
