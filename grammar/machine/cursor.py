"""One output's place in a byte machine: its state, its stack, what it said.

Does: read bytes (asking the machine to learn what it does not know yet), take steps back, say whether the output may
end and which bytes must come. Does not: know tokens (`native`, `masking`).
"""

from typing import Final, NamedTuple

import numpy as np

from ..base.array_types import Bytes, Ints, Longs
from ..contract.errors import ConstraintTooLarge
from . import byte_step as w
from . import walk_state as n
from .dead_prefixes import Tails, repeats
from .exhaustion import begins_exhausted
from .lazy_tables import ENTRY, FINAL, OUTCOME, ROW
from .machine import Machine
from .open_texts import Recall, recall
from .seen_texts import Memories, SeenTexts

NO_LOOKS: Final = np.empty((0, 3), np.int32)
NO_FRAMES: Final = np.empty((0, w.FRAME_COLUMNS), np.int32)


def _with(looks: Ints, answer: tuple[int, int, int]) -> Ints:
    return np.concatenate((looks, np.array([answer], np.int32)))


class Step(NamedTuple):
    """What a commit changed: enough to take it back.

    `state`, `stack` and `recalled` are as before it. `kept`: how many frames it left; `removed` int32 [n, 4]: the
    others, which stood on them. `length`: of the output before it; `memories`: how many versions there were.
    """

    state: int
    kept: int
    removed: Ints
    length: int
    memories: int
    stack: bytes
    recalled: Recall | None


class Refused(NamedTuple):
    """A text that came before, or that a judge refuses: its frame, and the offset in the output where it stops."""

    site: int
    parent: int
    memory: int
    begun: int
    until: int


class Cursor:
    """Mutable, one per output. Between calls `state` and `frames[:depth]` are the configuration.

    `frames` int32 [room, 4] and `note` int64 [`NOTES`]: see `walk`. `stack`: the call sites of the frames, as bytes of
    int32, the bottom first. `recalled`: what they remember.
    """

    def __init__(self, machine: Machine) -> None:
        self.machine = machine
        self.state = machine.start
        self.frames: Ints = np.zeros((64, w.FRAME_COLUMNS), np.int32)
        self.frames[0] = 0, -1, 0, 0
        self.depth = 1
        self.stack = self.frames[:1, w.SITE].tobytes()
        self.recalled: Recall | None = None
        self.output = bytearray()
        self.memories = Memories()
        self.tails = Tails()
        self.note: Longs = np.zeros(n.NOTES, np.int64)
        # Versions of the memories made since `begin`: see `Tails.grow`.
        self._grown: list[tuple[int, int, SeenTexts]] = []

    def fork(self) -> "Cursor":
        """An independent copy."""
        twin = Cursor(self.machine)
        twin.state, twin.depth = self.state, self.depth
        twin.frames = self.frames.copy()
        twin.stack, twin.recalled = self.stack, self.recalled
        twin.output = bytearray(self.output)
        twin.memories = self.memories.fork()
        twin.tails = self.tails
        return twin

    def begin(self, exact: bool) -> None:
        """Start walking ahead: write the configuration to `note`. `exact`: assume nothing about texts."""
        note = self.note
        self._grown.clear()
        note[n.STATE], note[n.TOP], note[n.COUNT] = self.state, self.depth - 1, self.depth
        note[n.DEPTH] = note[n.LOWEST] = self.depth
        note[n.EXACT], note[n.OFFSET], note[n.ASKED] = exact, len(self.output), 0

    def make_room(self, frames: int) -> None:
        """Have room for so many frames above the stack."""
        while len(self.frames) < self.depth + frames:
            self.frames = np.concatenate((self.frames, np.zeros_like(self.frames)))

    def read(self, text: Bytes) -> bool:
        """Read ahead; whether all of `text` is legal. The configuration after it is in `note` until `commit`.

        Memories may grow: cut them back unless this is committed.

        Raises:
            ConstraintTooLarge: see `learn`.
        """
        done, _ = self.reach(text)
        if done < len(text) or len(self.memories) == 1:
            return done == len(text)
        barred = self.memories.barred and repeats(self, text)
        return not barred and not begins_exhausted(self, text)

    def reach(self, text: Bytes) -> tuple[int, Refused | None]:
        """Read ahead as far as `text` is legal: (bytes read, the text that was refused then).

        A text is refused because it came before, or by a judge. A beginning that nothing new completes is legal here.

        Raises:
            ConstraintTooLarge: see `learn`.
        """
        self.begin(exact=True)
        done, looks, refused = 0, NO_LOOKS, None
        while True:
            before = done
            tables = self.machine.tables  # held until the call is over
            done = w.read_at(tables.addresses, self.frames, self.note, looks, text, done)
            if done > before:
                looks, refused = NO_LOOKS, None
            status = self.note[n.STATUS]
            if status in (w.MOVED, w.REFUSED):
                return done, refused
            if status == w.LOOK:
                whole = bytes(self.output) + text.tobytes()
                frame, until = self.note.item(n.WHAT), self.note.item(n.UNTIL)
                answer = self.look(whole, len(self.output) + done)
                looks = _with(looks, answer)
                if answer[0] < 0 or answer[1]:
                    site, parent, memory, begun = map(int, self.frames[frame])
                    refused = Refused(site, parent, memory, begun, until)
            else:
                self.learn()

    def fresh(self, state: int) -> "Cursor":
        """Another output of the same machine, that begins in a state."""
        fresh = Cursor(self.machine)
        fresh.state = state
        return fresh

    def commit(self, text: Bytes, memories: int) -> Step:
        """Move to where `read` went; `memories`: how many there were before it."""
        if self.machine.renewals.sites:
            self._renew(text)
        top, kept, removed = self.note.item(n.TOP), self.depth, NO_FRAMES
        before = self.stack, self.recalled
        if top != self.depth - 1:
            kept, fresh = w.chain(self.frames, top, self.depth)
            removed = self.frames[kept : self.depth].copy()
            self.depth = kept + len(fresh)
            self.frames[kept : self.depth] = fresh
            self.stack = self.frames[: self.depth, w.SITE].tobytes()
            sites = self.machine.tables.sites
            self.recalled = recall(sites, self.frames, self.depth, self.memories)
        for versions in self._grown:
            self.tails.grow(self, *versions)
        step = Step(self.state, kept, removed, len(self.output), memories, *before)
        self.state = self.note.item(n.STATE)
        self.output += text.tobytes()
        return step

    def _renew(self, text: Bytes) -> None:
        """Leave a leaf that is to be read from another state on; see `Call.renew`."""
        note, machine = self.note, self.machine
        site, _, _, begun = self.frames[note[n.TOP]].tolist()
        if note[n.TOP] >= 0 and site in machine.renewals.sites:
            state = machine.renew(site, bytes((self.output + text.tobytes())[begun:]))
            if state >= 0:
                note[n.STATE], note[n.TOP] = state, self.frames[note[n.TOP], w.PARENT]

    def undo(self, step: Step) -> None:
        """Take back the last commit that has not been taken back."""
        self.depth = step.kept + len(step.removed)
        self.frames[step.kept : self.depth] = step.removed
        self.state, self.stack, self.recalled = step.state, step.stack, step.recalled
        del self.output[step.length :]
        self.memories.cut(step.memories)

    def can_end(self) -> bool:
        """Whether the output may end here."""
        memories = len(self.memories)
        self.begin(exact=True)
        ended = self._unwind()
        self.memories.cut(memories)
        return ended

    def _unwind(self) -> bool:
        note = self.note
        while note[n.STATE] != FINAL:
            state, top, count = note[n.STATE], note[n.TOP], note[n.COUNT]
            if self.machine.tables.states[state, ROW] < 0:
                self.machine.expand(int(state))
            ending = self.machine.tables.states[state, OUTCOME]
            if ending < 0:
                return False
            looks = NO_LOOKS
            while True:
                note[n.STATE], note[n.TOP], note[n.COUNT], note[n.LOOKS] = state, top, count, 0
                tables = self.machine.tables
                status = w.leave_at(tables, self.frames, note, looks, ending, len(self.output))
                if status == w.REFUSED:
                    return False
                if status == w.MOVED:
                    break
                note[n.STATUS] = status
                if status != w.LOOK:
                    self.learn()
                else:
                    looks = _with(looks, self.look(bytes(self.output), len(self.output)))
        return True

    def force(self, most: int) -> tuple[bytes, bool]:
        """(bytes that must come next, at most so many; whether the output is over then)."""
        text, done = np.zeros(most, np.uint8), 0
        self.begin(exact=True)
        while True:
            done = w.force(self.machine.tables, self.frames, self.note, NO_LOOKS, text, done)
            if self.note[n.STATUS] in (w.MOVED, w.LOOK):
                return text[:done].tobytes(), bool(self.note[n.STATE] == FINAL)
            self.learn()

    def look(self, text: bytes, done: int) -> tuple[int, int, int]:
        """The answer to a `LOOK`, for `step`.

        `text` is the output with what was read ahead, of which `done` bytes had been read before the one that asks.
        """
        frame = self.frames[self.note[n.WHAT]]
        site, ending = int(frame[w.SITE]), int(self.note[n.ENDING])
        place = self.machine.sites[site]
        assert place is not None
        piece = text[int(frame[w.BEGUN]) : int(self.note[n.UNTIL])]
        if place.call.judge is not None:
            verdict = place.call.judge(self.machine.meaning(site, ending), piece)
            if verdict < 0:
                return -1, 0, 0
            ending = self.machine.number(site, verdict)
        if place.call.same is None:
            return ending, 0, 0
        memory = int(self.frames[frame[w.PARENT], w.MEMORY])
        entry = -1 if place.call.judge else int(self.machine.tables.sites[site, ENTRY])
        until = int(self.note[n.UNTIL])
        said = SeenTexts(piece, until, entry, self.machine.meaning(site, ending), until > done)
        twin, grown = self.memories.add(memory, place.call.same(piece), said)
        if not twin:
            # What the text itself bars counts once it has been said: see `barred_texts`.
            self.memories.inherit(memory, grown)
            self._grown.append((memory, grown, said))
        return ending, int(twin), grown

    def learn(self) -> None:
        """Fill in what stopped the walk.

        Raises:
            ConstraintTooLarge: the tables are full, or rules call one another without end.
        """
        note = self.note
        status = note[n.STATUS]
        if status == w.EXPAND:
            self.machine.expand(int(note[n.WHAT]))
        elif status == w.RESOLVE:
            self.machine.resolve(int(note[n.WHAT]), int(note[n.ENDING]), bool(note[n.TWIN]))
        elif status == w.FULL:
            self.frames = np.concatenate((self.frames, np.zeros_like(self.frames)))
        else:
            raise ConstraintTooLarge(
                "the rules of this constraint call one another without reading a byte"
            )
