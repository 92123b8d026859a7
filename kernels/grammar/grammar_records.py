"""Named tuples that the grammar passes take: pointers on the device, tensors on the host.

Does: name the fields. Does not: compute. Passes wrap their arguments again, for the reason in `sample_records`.
"""

from typing import Any, NamedTuple

Argument = Any
"""A torch tensor or a number where a kernel is launched, a pointer or a scalar inside of it."""


class RowStates(NamedTuple):
    """The configuration of every row: int32 `slots`, `states`, `depths` [rows] and `stacks` [rows, `stride`]."""

    slots: Argument
    states: Argument
    depths: Argument
    stacks: Argument
    stride: Argument


class Configuration(NamedTuple):
    """State, depth and stack: of one row, or as `before` (int32 [rows], [rows], [rows, stride]) of all rows."""

    states: Argument
    depths: Argument
    stacks: Argument


class Tables(NamedTuple):
    """The tables of all grammars in the arena: int32 `cells`, `sites`, `returns`; uint8 `columns` [slots, 256]."""

    cells: Argument
    sites: Argument
    returns: Argument
    columns: Argument


class TokenPlaces(NamedTuple):
    """Tokens as `walk_pass` reads them: see `vocabulary_layout.TokenTable`."""

    first_bytes: Argument
    words: Argument
    steps: Argument
    places: Argument
    end_words: Argument


class TokenTexts(NamedTuple):
    """The bytes of tokens: int32 `offsets` [width + 1] into uint8 `data`."""

    offsets: Argument
    data: Argument
