"""The working state of a walk through the byte machine: configuration, outcome of the last step, place in the trie.

Does: name its fields, for compiled code as a record and for Python as slots of an int64 array. Does not: walk.
"""

from typing import Final

import numpy as np

from .records import record_of


class Note:
    """The fields, all int64. The configuration is (state, top, count); `walk` lists what `status` may be."""

    state: np.int64
    top: np.int64  # the innermost frame
    count: np.int64  # frames in use
    status: np.int64  # the outcome of the last step
    what: np.int64  # the state, site or frame that `status` is about
    ending: np.int64  # the outcome of the rule that ended last
    twin: np.int64  # 1 where the text that ended repeats an earlier one
    until: np.int64  # the offset where the text that decides stops
    lowest: np.int64  # the deepest frame of the stack that was left or changed
    looks: np.int64  # answers used up by this byte
    depth: np.int64  # frames of the stack before the walk
    exact: np.int64  # 1: assume nothing about texts
    offset: np.int64  # of the first byte read
    node: np.int64  # the next node of the trie
    end: np.int64  # the node to stop at
    asked: np.int64  # nodes found where a text decides
    exit: np.int64  # the exit of the leaf that is being walked
    found: np.int64  # tokens found
    arcs: np.int64  # the alphabet whose class 0 is left out at the first byte, or -1
    leaf_top: np.int64  # the frame of the leaf that a walk starts in
    leaf_count: np.int64  # frames in use then
    doubt: np.int64  # `INNER` or `OPEN` where a text was taken to be new
    doubts: np.int64  # nodes found where that was done
    unwritten: np.int64  # 1: some text that began within the walk is not compared as written
    inside: np.int64  # 1 while the nodes behind `exit`, or below `head`, are being walked
    head: np.int64  # the first byte that is being walked, by its place in the vocabulary


note_of = record_of(Note)
"""The note that an int64 array [NOTES] holds; compiled code only."""

_SLOTS: Final = tuple(Note.__annotations__)
NOTES: Final = len(_SLOTS)

# Slots of the array, for Python.
STATE: Final = _SLOTS.index("state")
TOP: Final = _SLOTS.index("top")
COUNT: Final = _SLOTS.index("count")
STATUS: Final = _SLOTS.index("status")
WHAT: Final = _SLOTS.index("what")
ENDING: Final = _SLOTS.index("ending")
TWIN: Final = _SLOTS.index("twin")
UNTIL: Final = _SLOTS.index("until")
LOWEST: Final = _SLOTS.index("lowest")
LOOKS: Final = _SLOTS.index("looks")
DEPTH: Final = _SLOTS.index("depth")
EXACT: Final = _SLOTS.index("exact")
OFFSET: Final = _SLOTS.index("offset")
NODE: Final = _SLOTS.index("node")
END: Final = _SLOTS.index("end")
ASKED: Final = _SLOTS.index("asked")
FOUND: Final = _SLOTS.index("found")
ARCS: Final = _SLOTS.index("arcs")
LEAF_TOP: Final = _SLOTS.index("leaf_top")
LEAF_COUNT: Final = _SLOTS.index("leaf_count")
DOUBTS: Final = _SLOTS.index("doubts")
UNWRITTEN: Final = _SLOTS.index("unwritten")
