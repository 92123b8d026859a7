"""The byte ranges of the scalars in a JSON text.

Does: map JSON Pointers to ranges of bytes, in one pass over a valid text of any depth. Does not: validate or parse
values.
"""

import json
import re
from typing import Final

from intaglio.schemas.json_pointer import child_pointer

_TOKEN: Final = re.compile(rb'"(?:[^"\\]|\\.)*"|[-+.0-9A-Za-z]+|[\[\]{},:]', re.DOTALL)


def value_ranges(text: bytes) -> dict[str, tuple[int, int]]:
    """The range of every scalar of a valid JSON text, by JSON Pointer, in order. Quotes belong to a string."""
    found = dict[str, tuple[int, int]]()
    # The pointer of each open value, and the index of its item, -1 in objects.
    open_values = list[tuple[str, int]]()
    name: str | None = None
    for token in _TOKEN.finditer(text):
        written = token.group()
        if written in b",:":
            if written == b"," and open_values[-1][1] >= 0:
                open_values[-1] = (open_values[-1][0], open_values[-1][1] + 1)
            continue
        if written in b"]}":
            open_values.pop()
            continue
        if open_values and open_values[-1][1] < 0 and name is None:
            name = json.loads(written)
            continue
        pointer = ""
        if open_values:
            parent, index = open_values[-1]
            pointer = child_pointer(parent, index if name is None else name)
            name = None
        if written in b"[{":
            open_values.append((pointer, 0 if written == b"[" else -1))
        else:
            found[pointer] = token.span()
    return found
