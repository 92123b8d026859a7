"""Earley charts in plain Python: the oracle of the items that the compiled loops keep.

Does: follow a text byte by byte (Earley, "An efficient context-free parsing algorithm", 1970), with leaves read by
their automata, and find a shortest text that completes it, within limits of work and memory. It shares no code with
`grammar/earley`. Does not: compute masks.
"""

from dataclasses import dataclass, field

from intaglio.grammar.cfg.body import Label
from intaglio.grammar.cfg.form import ENDLESS, ByteGrammar

Waiting = tuple[str, int, int]  # a rule, its state after the callee, its first byte's index
Reading = tuple[int, int, str, int, int]  # a leaf, its state, and the `Waiting` item of its caller
MOST_STEPS = 1 << 15  # per byte
MOST_PLACES = 1 << 19  # items of one output, some 100 bytes each


@dataclass(slots=True)
class Column:
    """All items that are possible after a prefix of the output."""

    reading: dict[Reading, None] = field(default_factory=dict)
    waiting: dict[str, dict[Waiting, None]] = field(default_factory=dict)
    done: bool = False  # the text may end here
    places: int = 0  # items in this column and all before it
    # For each awaited rule: the fewest bytes from its end to the end of the output, and the caller on that path.
    after: dict[str, tuple[int, Waiting | None]] = field(default_factory=dict)


class Chart:
    """The columns of one output. Finished columns are immutable, and forks share them."""

    def __init__(self, form: ByteGrammar, columns: list[Column] | None = None) -> None:
        self.form = form
        self.columns = columns if columns is not None else [self._first()]

    def fork(self) -> "Chart":
        """An independent copy."""
        return Chart(self.form, list(self.columns))

    @property
    def length(self) -> int:
        """Number of bytes read."""
        return len(self.columns) - 1

    def cut(self, length: int) -> None:
        """Discard all bytes from offset `length` on."""
        del self.columns[length + 1 :]

    def read(self, text: bytes) -> bool:
        """Read more bytes. Reads nothing and returns false if the text would be illegal or too ambiguous."""
        before = self.length
        for byte in text:
            column = Column()
            work: list[Waiting] = []
            for leaf, state, name, after, begun in self.columns[-1].reading:
                dfa = self.form.leaves[leaf].dfa
                following = dfa.step(state, byte)
                if following >= 0:
                    column.reading[leaf, following, name, after, begun] = None
                    if dfa.outcome[following] >= 0:
                        work.append((name, after, begun))
            self.columns.append(column)
            if not column.reading or not self._close(column, work):
                self.cut(before)
                return False
        return True

    def _first(self) -> Column:
        column = Column(done=self.form.nullable)
        self.columns = [column]
        column.after[self.form.start] = 0, None
        self._close(column, [(self.form.start, 0, 0)])
        return column

    def _close(self, column: Column, work: list[Waiting]) -> bool:
        """Complete the newest column by prediction and completion; false if it exceeds the limits."""
        here, seen, steps = self.length, set(work), 0

        def add(place: Waiting) -> None:
            if place not in seen:
                seen.add(place)
                work.append(place)

        while work:
            name, state, begun = work.pop()
            body = self.form.bodies[name]
            for label, target in body.arcs[state].items():
                waiter = name, target, begun
                if isinstance(label, int):
                    column.reading[label, 0, *waiter] = None
                    continue
                column.waiting.setdefault(label, {})[waiter] = None
                add((label, 0, here))
            if body.final[state]:
                column.done |= name == self.form.start and begun == 0
                waiters = self.columns[begun].waiting.get(name, {})
                steps += len(waiters)
                if steps > MOST_STEPS:
                    return False
                for waiter in waiters:
                    add(waiter)
        column.places = len(seen) + len(column.reading)
        column.places += self.columns[here - 1].places if here else 0
        self._settle(column, here)
        return column.places <= MOST_PLACES

    def _settle(self, column: Column, here: int) -> None:
        """Compute `after` of the newest column: from rules that began earlier, then from rules that begin here."""
        inner = []
        for name, waiters in column.waiting.items():
            for waiter in waiters:
                if waiter[2] == here:
                    inner.append((name, waiter))
                else:
                    self._shorten(column, name, waiter)
        changed = True
        while changed:
            changed = False
            for name, waiter in inner:
                changed |= self._shorten(column, name, waiter)

    def _shorten(self, column: Column, name: str, waiter: Waiting) -> bool:
        """Update a rule's `after` if this caller's path to the end is shorter; returns whether it is."""
        total = self._cost(waiter)
        shorter = total < column.after.get(name, (ENDLESS, None))[0]
        if shorter:
            column.after[name] = total, waiter
        return shorter

    def _cost(self, waiter: Waiting) -> int:
        """The fewest bytes from an item to the end of the output."""
        name, state, begun = waiter
        return self.form.rest[name][state] + self.columns[begun].after.get(name, (ENDLESS, None))[0]

    def least(self) -> int:
        """The length in bytes of a shortest text that completes the output."""
        column = self.columns[-1]
        return 0 if column.done else min(map(self._distance, column.reading))

    def _distance(self, reading: Reading) -> int:
        leaf, state, *_ = reading
        return int(self.form.leaves[leaf].dfa.distance[state]) + self._cost(reading[2:])

    def closing(self) -> bytes:
        """A shortest text that completes the output."""
        column = self.columns[-1]
        if column.done:
            return b""
        leaf, state, *_ = best = min(column.reading, key=self._distance)
        text = bytearray(self._leaf_text(leaf, state))
        place: Waiting | None = best[2:]
        while place is not None:
            name, state, begun = place
            text += self._text(name, state)
            place = self.columns[begun].after[name][1]
        return bytes(text)

    def _leaf_text(self, leaf: int, state: int) -> bytes:
        return bytes(self.form.leaves[leaf].dfa.residual(state).shortest() or ())

    def _text(self, name: str, state: int) -> bytes:
        """A shortest text from a state of a rule to the rule's end."""
        text = bytearray()
        stack: list[Label | tuple[str, int]] = [(name, state)]
        while stack:
            top = stack.pop()
            if isinstance(top, int):
                text += self._leaf_text(top, 0)
                continue
            rule, at = top if isinstance(top, tuple) else (top, 0)
            label = self.form.shortest_labels[rule][at]
            if label is not None:
                stack += [(rule, self.form.bodies[rule].arcs[at][label]), label]
        return bytes(text)
