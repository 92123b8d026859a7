"""A cursor: the configuration of one output in a byte machine, with the texts the output has written.

Does: read bytes (the machine fills in missing table entries on the way), take steps back, tell whether the output may
end and which bytes are forced. Does not: handle tokens (`native`, `compute_masks`).
"""

from typing import Final

import numpy as np

from ..base.array_types import Bytes, Ints, Longs
from ..base.parts import Parts, whole
from ..contract.errors import ConstraintTooLarge
from . import byte_step as w
from . import text_step as t
from . import walk_state as n
from .compiled_view import CompiledView
from .copied_step import go_on
from .dead_prefixes import DeadPrefixes
from .exhaustion import begins_exhausted
from .lazy_tables import FINAL, OUTCOME, ROW
from .machine import Machine
from .open_texts import OpenTexts, open_texts_of
from .seen_texts import SeenText, SeenTexts
from .text_reader import Refused, Restacked, Step, and_left

NO_ANSWERS: Final = np.empty((0, 3), np.int32)
_UNSOUGHT: Final = OpenTexts((), (), (), ())
NO_TEXT: Final = np.empty(0, np.uint8)
_FRAME: Final = np.dtype(np.int32).itemsize * w.FRAME_COLUMNS  # bytes of a frame
_SITE: Final = np.dtype(np.int32).itemsize  # bytes of its first column, the call site
_UNCHANGED: Final = -1
_BEGIN: Final = -1  # instead of a number of forced bytes found


def _with(answers: Ints, answer: tuple[int, int, int]) -> Ints:
    added = np.array((answer,), np.int32)
    return np.concatenate((answers, added)) if len(answers) else added


class Cursor:
    """The mutable position of one output. Between calls, `state` and `frames[:depth]` are the configuration.

    `frames` int32 [room, 4] and `note` int64 [`NOTES`]: see `byte_step`. `stack`: the call sites of the frames, as
    bytes of int32, outermost first. `memories`: versions of the texts seen in objects and arrays. `chooses`: whether
    certainly no token is forced next, as far as the last read, or `force`, told: two bytes are legal, or, where the
    pairs of bytes in tokens are known, no token ends with the forced text.
    """

    __slots__ = (
        *("machine", "state", "frames", "depth", "stack", "_open_texts", "output", "memories"),
        *("dead_prefixes", "note", "chooses", "_view"),
    )

    def __init__(self, machine: Machine, joined: Bytes = NO_TEXT) -> None:
        """At the start of an output. `joined` uint8 [65,536]: 1 for the pairs of bytes that a token has together."""
        self.machine = machine
        self.state = machine.start
        self.note: Longs = np.zeros(n.NOTES, np.int64)
        self.frames: Ints = np.zeros((64, w.FRAME_COLUMNS), np.int32)
        self.frames[0] = 0, -1, 0, 0
        self._view = CompiledView(machine, self.note, self.frames, joined)
        self.depth = 1
        self.stack = self.frames[:1, w.SITE].tobytes()
        self._open_texts: OpenTexts | None = None
        self.output = bytearray()
        self.memories = SeenTexts()
        self.dead_prefixes = DeadPrefixes(machine)
        self.chooses = False

    @property
    def open_texts(self) -> OpenTexts | None:
        """The texts that have begun and must differ from earlier ones; None if there are none."""
        if self._open_texts is _UNSOUGHT:
            self._open_texts = None
            if len(self.memories) > 1:
                sites = self.machine.tables.sites
                self._open_texts = open_texts_of(sites, self.frames, self.depth, self.memories)
        return self._open_texts

    def fork(self) -> "Cursor":
        """An independent copy."""
        twin = Cursor(self.machine, self._view.joined)
        twin.state, twin.depth = self.state, self.depth
        twin.take_frames(self.frames.copy())
        twin.stack, twin._open_texts = self.stack, self._open_texts
        twin.chooses = self.chooses
        twin.output = bytearray(self.output)
        twin.memories = self.memories.fork()
        twin.dead_prefixes = self.dead_prefixes
        return twin

    def begin(self, exact: bool) -> None:
        """Begin to read ahead: copy the configuration to `note`. `exact`: do not assume that texts are new."""
        self.memories.added.clear()
        w.begin_at(self.note, self.state, self.depth, len(self.output), int(exact))

    def take_frames(self, frames: Ints) -> None:
        """Replace the array of frames, of which the first `depth` are the stack."""
        self.frames = frames
        self._view = CompiledView(self.machine, self.note, frames, self._view.joined)

    def make_room(self, frames: int) -> None:
        """Make room for `frames` more frames above the stack."""
        while len(self.frames) < self.depth + frames:
            self.take_frames(np.concatenate((self.frames, np.zeros_like(self.frames))))

    def read(self, text: Bytes) -> bool:
        """Read ahead; whether all of `text` is legal. The configuration after it is in `note` until `commit`.

        `memories` may grow: without a commit, cut it back to its former length.

        Raises:
            ConstraintTooLarge: see `fill_in`.
        """
        self.memories.added.clear()
        tables = self.machine.tables  # keeps the arrays alive during the call
        place = self.state, self.depth, len(self.output)
        done, status = t.read_from(tables.addresses, self.frames, self.note, text, place)
        if status not in (w.MOVED, w.REFUSED):
            done, _ = self.reach(text, done)
        if done < len(text):
            return False
        barred = self.memories.barred and self.dead_prefixes.begun(self, text)
        return not barred and not begins_exhausted(self, text)

    def reach(self, text: Bytes, done: int = -1) -> tuple[int, Refused | None]:
        """Read ahead as far as `text` is legal: (bytes read, the text in it that was refused at that point, if any).

        Dead ends count as legal here: a beginning that only seen texts complete is refused by `read` only. `done`: the
        bytes of `text` already read since `begin`, which stopped there; -1: begin again.

        Raises:
            ConstraintTooLarge: see `fill_in`.
        """
        return whole(reach_parts(self, text, done))

    def commit(self, text: Bytes, memories: int) -> Step:
        """Move to the configuration after the last `read`; `memories`: the number of versions before that read."""
        if self._view.noted[n.TOP] != self.depth - 1:
            _settle(self, 0)
        step = self._moved(text, memories)
        return _renewed(self, step) if self.machine.special.renewing else step

    def advance(self, text: Bytes) -> Step | None:
        """Move by `text`; None: it is not legal, and nothing has moved.

        Raises:
            ConstraintTooLarge: see `fill_in`.
        """
        memories, special = self.memories, self.machine.special
        if not (memories.barred or special.unique_items):
            view, output, state = self._view, self.output, self.state
            length, versions = len(output), len(memories.versions)
            found = view.advance(view.held, text, state, self.depth, length, versions)
            step: Step | None
            if found >= 0:  # the usual case: the stack stays as it is
                self.state, self.chooses = found >> 1, found & 1 == 1
                output.extend(text)
                step = length, state, None
            else:
                step = _restacked(self, text, -1 - found, versions)
            if step is not None:
                if not special.unique_items:
                    return _renewed(self, step) if special.renewing else step
                # Another thread reached such items meanwhile, maybe those of this text.
                self.undo(step)
        versions = len(self.memories)
        if self.read(text):
            return self.commit(text, versions)
        self.memories.cut(versions)
        return None

    def _moved(self, text: Bytes, memories: int) -> Step:
        """Take over the configuration in `note`, the frames of which are the stack already; `memories`: see `Step`."""
        for versions in self.memories.added:
            self.dead_prefixes.record(self.memories, *versions)
        noted, depth = self._view.noted, self.depth
        moved: Restacked | None = None
        if noted[n.TOP] != depth - 1:
            kept, at, stack, removed = noted[n.KEPT], _FRAME * noted[n.COUNT], self.stack, b""
            if kept < depth:
                end = at + _FRAME * (depth - kept)
                removed, at = self._view.framed[at:end].tobytes(), end
            moved = kept, removed, stack, self._open_texts, memories
            self.depth = depth = noted[n.DEPTH]
            sites = self._view.framed[at : at + _SITE * (depth - kept)]
            self.stack = stack[: _SITE * kept] + sites.tobytes()
            self._open_texts = _UNSOUGHT
        elif memories != _UNCHANGED:
            moved = depth, b"", self.stack, self._open_texts, memories
        step = len(self.output), self.state, moved
        self.state, self.chooses = noted[n.STATE], noted[n.CHOOSES] == 1
        self.output.extend(text)
        return step

    def undo(self, step: Step) -> None:
        """Take back the last step that has not been taken back."""
        length, self.state, moved = step
        self.chooses = False  # not known
        del self.output[length:]
        if moved is not None:
            kept, removed, self.stack, self._open_texts, memories = moved
            self.depth = kept + len(removed) // _FRAME
            self._view.framed[_FRAME * kept : _FRAME * self.depth] = removed
            if memories != _UNCHANGED:
                self.memories.cut(memories)

    def can_end(self) -> bool:
        """Whether the output may end here."""
        memories = len(self.memories)
        self.begin(exact=True)
        ended = _unwind(self)
        self.memories.cut(memories)
        return ended

    def force(self, most: int) -> tuple[bytes, bool]:
        """(the forced bytes that come next, at most `most`; whether the output is over after them)."""
        text, done = np.empty(most, np.uint8), _BEGIN
        state, depth, length, noted = self.state, self.depth, len(self.output), self._view.noted
        self.memories.added.clear()
        while True:
            tables, view = self.machine.tables, self._view  # keep the arrays alive during the call
            done = view.force(view.held, tables.addresses, text, done, state, depth, length)
            if noted[n.STATUS] in (w.MOVED, w.UNDECIDED):
                self.chooses = noted[n.CHOOSES] == 1
                return text[:done].tobytes(), noted[n.STATE] == FINAL
            self.fill_in()

    def fill_in(self) -> None:
        """Fill in the table entry, or add the frames, that stopped the walk.

        Raises:
            ConstraintTooLarge: the tables are full, or rules call one another endlessly without reading.
        """
        note = self.note
        status = note[n.STATUS]
        if status == w.EXPAND:
            self.machine.expand(int(note[n.WHAT]))
        elif status == w.RESOLVE:
            self.machine.resolve(int(note[n.WHAT]), int(note[n.ENDING]), bool(note[n.TWIN]))
        elif status == w.FULL:
            self.take_frames(np.concatenate((self.frames, np.zeros_like(self.frames))))
        else:
            raise ConstraintTooLarge(
                "the rules of this constraint call one another without reading a byte"
            )


def addresses_of(cursor: Cursor) -> Longs:
    """The addresses of a cursor's note and frames and of its machine's tables; see `newest_addresses`."""
    return cursor._view.held


def _settle(cursor: Cursor, version: int) -> None:
    """Make the frames read ahead the stack. `version`: of the seen texts, with a text that was assumed to be new."""
    while t.settle(cursor.frames, cursor.note, version) == w.FULL:
        cursor.make_room(len(cursor.frames))


def _restacked(cursor: Cursor, text: Bytes, status: int, versions: int) -> Step | None:
    """Move by `text`, which `_advance` has read; None: it is not legal, or has to be read step by step."""
    cursor.memories.added.clear()
    if status == w.EXPAND:
        found = go_on(cursor.machine, cursor._view, text, cursor.depth, versions)
        if found >= 0:
            here: Step = len(cursor.output), cursor.state, None
            cursor.state, cursor.chooses = found >> 1, found & 1 == 1
            cursor.output.extend(text)
            return here
        status = -1 - found
    if status == w.MOVED:
        return cursor._moved(text, _UNCHANGED)
    if status == w.ASSUMED:
        _, twin, _ = _decide(cursor, text, cursor._view.noted[n.ENDED])
        step = cursor._moved(text, versions)
        if not twin:
            return step
        cursor.undo(step)
    return None


def _decide(cursor: Cursor, text: Bytes, done: int) -> tuple[int, int, int]:
    """Decide the end of a text where `step` returned `UNDECIDED`; returns a row of its `answers`.

    `text`: the text read ahead; `done`: its bytes that were read before the byte in question.
    """
    noted, machine, output = cursor._view.noted, cursor.machine, cursor.output
    site, begun, memory = noted[n.TEXT_SITE], noted[n.BEGUN], noted[n.MEMORY]
    ending, until, written = noted[n.ENDING], noted[n.UNTIL], len(output)
    place = machine.sites[site]
    assert place is not None
    call = place.call
    piece = bytes(output[begun:until])
    if until > written:
        piece += text.tobytes()[max(begun - written, 0) : until - written]
    meaning = machine.meaning(site, ending)
    if call.judge is not None:
        verdict = call.judge(meaning, piece)
        if verdict < 0:
            return -1, 0, 0
        ending, meaning = machine.number(site, verdict), verdict
    if call.same is None:
        return ending, 0, 0
    entry = -1 if call.judge else place.entry
    seen = SeenText(piece, until, entry, meaning, until > written + done)
    memories = cursor.memories
    twin, grown = memories.add(memory, call.same(piece), seen)
    if not twin and cursor.dead_prefixes.may_bar(memories, seen):
        # The dead prefixes of the text itself count after a commit: see `DeadPrefixes.of_open_texts`.
        memories.inherit(memory, grown)
        memories.added.append((memory, grown, seen))
    return ending, int(twin), grown


def _unwind(cursor: Cursor) -> bool:
    """End all rules of the configuration in `note`; whether they may end."""
    note = cursor.note
    while note[n.STATE] != FINAL:
        state, top, count = note[n.STATE], note[n.TOP], note[n.COUNT]
        if cursor.machine.tables.states[state, ROW] < 0:
            cursor.machine.expand(int(state))
        ending = cursor.machine.tables.states[state, OUTCOME]
        if ending < 0:
            return False
        answers = NO_ANSWERS
        while True:
            note[n.STATE], note[n.TOP], note[n.COUNT], note[n.ANSWERED] = state, top, count, 0
            tables = cursor.machine.tables
            status = w.end_rule_at(tables, cursor.frames, note, answers, ending, len(cursor.output))
            if status == w.REFUSED:
                return False
            if status == w.MOVED:
                break
            note[n.STATUS] = status
            if status != w.UNDECIDED:
                cursor.fill_in()
            else:
                answers = _with(answers, _decide(cursor, NO_TEXT, 0))
    return True


def _renewed(cursor: Cursor, step: Step) -> Step:
    """Go from a leaf to a state of its caller where the call asks for it (`Call.renew`); `step` with that move."""
    top, machine, view = cursor.depth - 1, cursor.machine, cursor._view
    site, state = view.site_of(top), None
    if site not in machine.special.renewing:
        return step
    try:
        state = machine.renew(site, bytes(cursor.output[cursor.frames.item(top, w.BEGUN) :]))
    finally:
        if state is None:  # an error, after which nothing has moved
            cursor.undo(step)
    if state < 0:
        return step
    frame = view.framed[_FRAME * top : _FRAME * (top + 1)].tobytes()
    left = top, frame, cursor.stack, cursor._open_texts, _UNCHANGED
    cursor.state, cursor.depth, cursor.stack = state, top, cursor.stack[: _SITE * top]
    cursor.chooses, cursor._open_texts = False, _UNSOUGHT  # neither is known
    return step[0], step[1], and_left(step[2], left)


def reach_parts(
    cursor: Cursor, text: Bytes, done: int = -1, *, distinct: bool = False
) -> Parts[tuple[int, Refused | None]]:
    """`Cursor.reach` in parts, as each table entry that is missing takes time. Nothing else may be read meanwhile.

    `distinct`: stop also where a repeated text is legal, as if it were refused.
    """
    answers, refused = NO_ANSWERS, None
    has_stopped = done >= 0
    if not has_stopped:
        cursor.begin(exact=True)
        done = 0
    while True:
        if not has_stopped:
            before = done
            tables = cursor.machine.tables  # keeps the arrays alive during the call
            done = t.read_at(tables.addresses, cursor.frames, cursor.note, answers, text, done)
            if done > before:
                answers, refused = NO_ANSWERS, None
        has_stopped = False
        status = cursor.note.item(n.STATUS)
        if status in (w.MOVED, w.REFUSED):
            return done, refused
        if status == w.UNDECIDED:
            frame, until = cursor.note.item(n.WHAT), cursor.note.item(n.UNTIL)
            answer = _decide(cursor, text, done)
            answers = _with(answers, answer)
            if answer[0] < 0 or answer[1]:
                site, parent, memory, begun = map(int, cursor.frames[frame])
                refused = Refused(site, parent, memory, begun, until)
                if distinct and answer[1]:
                    return done, refused
        else:
            cursor.fill_in()
        yield
