"""The working state of a walk through the byte machine: configuration, status of the last step, node of the trie.

Does: name the fields, as a record for compiled code, and as slots of an int64 array for Python. Does not: walk.
"""

from typing import Final

from .records import Whole, record_of


class Note:
    """The fields, all int64. The configuration is (state, top, count); `byte_step` lists the values of `status`."""

    state: Whole
    top: Whole  # the innermost frame
    count: Whole  # frames in use
    status: Whole  # the status of the last step
    what: Whole  # the state, site or frame to which `status` refers
    ending: Whole  # the outcome of the last rule that ended
    twin: Whole  # 1 if the text that ended repeats an earlier text
    until: Whole  # the offset of the end of the text that decides
    lowest: Whole  # the outermost frame of the stack that was left or changed
    answered: Whole  # number of answers that this byte has used
    depth: Whole  # frames of the stack before the walk
    exact: Whole  # 1: do not assume that texts are new
    offset: Whole  # offset in the output of the first byte read
    node: Whole  # the next node of the trie
    end: Whole  # the node to stop at
    undecided: Whole  # number of nodes found where a text decides
    exit: Whole  # the exit of the leaf that is being walked
    found: Whole  # number of tokens found
    arcs: Whole  # the alphabet with the class 0 that is skipped at the first byte, or -1
    leaf_top: Whole  # the frame of the leaf in which a walk starts
    leaf_count: Whole  # frames in use at the start in that leaf
    assumption: Whole  # `INNER` or `OPEN` where a text was assumed to be new
    assumed: Whole  # number of nodes found where a text was assumed to be new
    unwritten: Whole  # 1: some text that began within the walk is not compared byte by byte
    inside: Whole  # 1 while the nodes behind `exit` or below `head` are being walked
    head: Whole  # the first byte of the tokens being walked, as a node of the trie
    chooses: Whole  # 1 after a text if certainly no token is forced next
    kept: Whole  # frames of the stack that the move to a new one has kept
    texts: Whole  # number of ends so far where a text decided
    ended: Whole  # bytes read before the one at which the last of them came
    done: Whole  # bytes read of a text, where its reading stopped
    site: Whole  # the call site of that text,
    begun: Whole  # ... the offset in the output at which it began,
    memory: Whole  # ... and the version of the texts with which it is compared


note_of = record_of(Note)
"""The record view of an int64 array [NOTES]; for compiled code only."""

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
ANSWERED: Final = _SLOTS.index("answered")
DEPTH: Final = _SLOTS.index("depth")
EXACT: Final = _SLOTS.index("exact")
OFFSET: Final = _SLOTS.index("offset")
NODE: Final = _SLOTS.index("node")
END: Final = _SLOTS.index("end")
UNDECIDED_NODES: Final = _SLOTS.index("undecided")
FOUND: Final = _SLOTS.index("found")
ARCS: Final = _SLOTS.index("arcs")
LEAF_TOP: Final = _SLOTS.index("leaf_top")
LEAF_COUNT: Final = _SLOTS.index("leaf_count")
ASSUMED: Final = _SLOTS.index("assumed")
UNWRITTEN: Final = _SLOTS.index("unwritten")
CHOOSES: Final = _SLOTS.index("chooses")
KEPT: Final = _SLOTS.index("kept")
ENDED: Final = _SLOTS.index("ended")
DONE: Final = _SLOTS.index("done")
TEXT_SITE: Final = _SLOTS.index("site")
BEGUN: Final = _SLOTS.index("begun")
MEMORY: Final = _SLOTS.index("memory")
