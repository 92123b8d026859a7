"""The working state of a walk through the byte machine: configuration, outcome of the last step, place in the trie.

Does: name its fields, for compiled code as a record and for Python as slots of an int64 array. Does not: walk.
"""

from typing import Final

from .records import Whole, record_of


class Note:
    """The fields, all int64. The configuration is (state, top, count); `walk` lists what `status` may be."""

    state: Whole
    top: Whole  # the innermost frame
    count: Whole  # frames in use
    status: Whole  # the outcome of the last step
    what: Whole  # the state, site or frame that `status` is about
    ending: Whole  # the outcome of the rule that ended last
    twin: Whole  # 1 where the text that ended repeats an earlier one
    until: Whole  # the offset where the text that decides stops
    lowest: Whole  # the deepest frame of the stack that was left or changed
    looks: Whole  # answers used up by this byte
    depth: Whole  # frames of the stack before the walk
    exact: Whole  # 1: assume nothing about texts
    offset: Whole  # of the first byte read
    node: Whole  # the next node of the trie
    end: Whole  # the node to stop at
    asked: Whole  # nodes found where a text decides
    exit: Whole  # the exit of the leaf that is being walked
    found: Whole  # tokens found
    arcs: Whole  # the alphabet whose class 0 is left out at the first byte, or -1
    leaf_top: Whole  # the frame of the leaf that a walk starts in
    leaf_count: Whole  # frames in use then
    doubt: Whole  # `INNER` or `OPEN` where a text was taken to be new
    doubts: Whole  # nodes found where that was done
    unwritten: Whole  # 1: some text that began within the walk is not compared as written
    inside: Whole  # 1 while the nodes behind `exit`, or below `head`, are being walked
    head: Whole  # the first byte that is being walked, by its place in the vocabulary


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
