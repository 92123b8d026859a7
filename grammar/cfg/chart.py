"""A way to the end of any text of any grammar: what a budget is kept with where no machine runs the grammar.

Does: follow an output byte by byte as Earley did ("An efficient context-free parsing algorithm", 1970), with leaves
read by their automata, and find a shortest text that completes it. Does not: make masks (`backends.earley`).
"""

from dataclasses import dataclass, field

from .body import Label
from .form import ENDLESS, Form

Waiting = tuple[str, int, int]  # a rule, its state after the callee, and where it began
Reading = tuple[int, int, str, int, int]  # a leaf and its state, and who waits for it


@dataclass(slots=True)
class Column:
    """All that is possible after so many bytes."""

    reading: dict[Reading, None] = field(default_factory=dict)
    waiting: dict[str, dict[Waiting, None]] = field(default_factory=dict)
    done: bool = False  # the text may end here
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
        """Read on; false, and nothing read, if the grammar does not have it."""
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
            if not column.reading:
                self.cut(before)
                return False
            self.columns.append(column)
            self._close(column, work)
        return True

    def _first(self) -> Column:
        column = Column(done=self.form.nullable)
        self.columns = [column]
        column.after[self.form.start] = 0, None
        self._close(column, [(self.form.start, 0, 0)])
        return column

    def _close(self, column: Column, work: list[Waiting]) -> None:
        """Everything that follows from places in the newest column without reading."""
        here, seen = self.length, set(work)

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
                for waiter in self.columns[begun].waiting.get(name, ()):
                    add(waiter)
        self._settle(column)

    def _settle(self, column: Column) -> None:
        """Find `after` of the newest column."""
        changed = True
        while changed:
            changed = False
            for name, waiters in column.waiting.items():
                for waiter in waiters:
                    total = self._cost(waiter)
                    if total < column.after.get(name, (ENDLESS, None))[0]:
                        column.after[name] = total, waiter
                        changed = True

    def _cost(self, waiter: Waiting) -> int:
        """The fewest bytes from a place to the end of the output."""
        name, state, begun = waiter
        return self.form.rest[name][state] + self.columns[begun].after.get(name, (ENDLESS, None))[0]

    def closing(self) -> bytes:
        """A shortest text that completes the output."""
        column = self.columns[-1]
        if column.done:
            return b""
        distance = {
            reading: int(self.form.leaves[reading[0]].dfa.distance[reading[1]])
            + self._cost(reading[2:])
            for reading in column.reading
        }
        leaf, state, *_ = best = min(distance, key=lambda reading: distance[reading])
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
