"""A way to the end of any text of any grammar: what a budget is kept with where no machine runs the grammar.

Does: follow an output byte by byte as Earley did ("An efficient context-free parsing algorithm", 1970), with leaves
read by their automata, and find a shortest text that completes it, within limits of work and memory. Does not: make
masks (`backends.earley`).
"""

from dataclasses import dataclass, field

from .body import Label
from .form import ENDLESS, Form

Waiting = tuple[str, int, int]  # a rule, its state after the callee, and where it began
Reading = tuple[int, int, str, int, int]  # a leaf and its state, and who waits for it
MOST_STEPS = 1 << 15  # from one byte to the next
MOST_PLACES = 1 << 19  # of one output, some 100 bytes each


@dataclass(slots=True)
class Column:
    """All that is possible after so many bytes."""

    reading: dict[Reading, None] = field(default_factory=dict)
    waiting: dict[str, dict[Waiting, None]] = field(default_factory=dict)
    done: bool = False  # the text may end here
    places: int = 0  # in this column and all before it
    # Of each rule waited for here: the fewest bytes from its end to the end of the output, and who is served by that.
    after: dict[str, tuple[int, Waiting | None]] = field(default_factory=dict)


class Chart:
    """The columns of one output. Columns never change once made; forks share them."""

    def __init__(self, form: Form, columns: list[Column] | None = None) -> None:
        self.form = form
        self.columns = columns if columns is not None else [self._first()]

    def fork(self) -> "Chart":
        """An independent copy."""
        return Chart(self.form, list(self.columns))

    @property
    def length(self) -> int:
        """Bytes read."""
        return len(self.columns) - 1

    def cut(self, length: int) -> None:
        """Forget the bytes from `length` on."""
        del self.columns[length + 1 :]

    def read(self, text: bytes) -> bool:
        """Read on; false, and nothing read, if the grammar does not have it, or has it in too many ways to follow."""
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
        """Everything that follows from places in the newest column without reading; false if that is too much."""
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
        """Find `after` of the newest column: first by rules that began before it, then by those that begin here."""
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
        """Whether it is shorter from the end of a rule to the end of the output by this waiter."""
        total = self._cost(waiter)
        shorter = total < column.after.get(name, (ENDLESS, None))[0]
        if shorter:
            column.after[name] = total, waiter
        return shorter

    def _cost(self, waiter: Waiting) -> int:
        """The fewest bytes from a place to the end of the output."""
        name, state, begun = waiter
        return self.form.rest[name][state] + self.columns[begun].after.get(name, (ENDLESS, None))[0]

    def least(self) -> int:
        """Bytes of a shortest text that completes the output."""
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
        """A shortest text from a state of a rule to its end."""
        text = bytearray()
        stack: list[Label | tuple[str, int]] = [(name, state)]
        while stack:
            top = stack.pop()
            if isinstance(top, int):
                text += self._leaf_text(top, 0)
                continue
            rule, at = top if isinstance(top, tuple) else (top, 0)
            label = self.form.ways[rule][at]
            if label is not None:
                stack += [(rule, self.form.bodies[rule].arcs[at][label]), label]
        return bytes(text)
