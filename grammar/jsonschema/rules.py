"""One JSON value, judged against several formulas at once, as a rule of the machine.

Does: write the punctuation of objects and arrays around names, items and values, and hand each value to the rule of
exactly what is asked of it. Does not: decide what that is (`objects`, `arrays`), make leaves (`scalars`, `leaves`) or
white space (`spacing`).
"""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING

from ..rule import UNKNOWN, Call, End, Expansion, Goto, Target
from .arrays import Row
from .atoms import Kind
from .counted import Chars, Counted
from .equal import EQUALITY
from .formula import Formula
from .keys import Keys, keys
from .members import PlainKeys, PlainMembers, Written
from .names import Between
from .residual import Fold, ended
from .spacing import Blank, Gap, Line, Spacing
from .spots import START, After, Close, Colon, Entry, Given, Opened, Start, State
from .values import Value

if TYPE_CHECKING:
    from .costs import Cost
    from .language import Language


class ValueRule:
    """Values for which `must` holds; bit i of the outcome says whether `asks[i]` does. Made by `Language.rule`."""

    def __init__(
        self, language: "Language", must: Formula, asks: tuple[Formula, ...], depth: int
    ) -> None:
        """`depth`: how many containers are around the value, in the pretty form; else 0."""
        self._language = language
        self._spacing = Spacing(language.options, depth)
        self._must = must
        self._asks = asks
        self._depth = depth
        self._keys: dict[Between | Written, Keys | PlainKeys | None] = {}
        self._layout = language.layout(self._fold(Kind.OBJECT))
        self._sequence = language.sequence(self._fold(Kind.ARRAY))

    def _fold(self, kind: Kind) -> Fold:
        to = self._language.restriction.to
        return Fold(to(self._must, kind), tuple(to(ask, kind) for ask in self._asks))

    @property
    def start(self) -> Hashable:
        """Before the value."""
        return START

    def expand(self, key: Hashable) -> Expansion:
        """What can come next; see `Rule.expand`."""
        if isinstance(key, Start):
            return self._value()
        if isinstance(key, Opened | Entry | After | Close):
            return self._between(key)
        if isinstance(key, Chars):
            return Expansion(call=Call(self._counted.following(key), key))
        if isinstance(key, Colon):
            return Expansion(((b":", self._spacing.after_colon(key.given)),))
        if isinstance(key, Given):
            return Expansion(call=self._call(key))
        assert isinstance(key, Line | Blank | Gap)
        return self._spacing.expand(key, self.expand)

    def resume(self, back: Hashable, outcome: int, twin: bool) -> Target | None:
        """Where to go on; see `Rule.resume`."""
        if isinstance(back, Start):
            scalars = self._language.scalars.of(self._must, self._asks)
            assert scalars is not None  # it was called
            return End(scalars.vectors[outcome])
        if isinstance(back, Given):
            state = self._after(back, outcome, twin)
            return None if state is None else self._spacing.anywhere(After(state))
        if isinstance(back, Chars):
            more = self._counted.after(back, outcome)
            return End(0) if more is None else Goto(more)
        assert isinstance(back, Keys | PlainKeys)
        if twin:
            return None
        return self._spacing.anywhere(Colon(Given(*back.given(outcome))))

    def _after(self, given: Given, outcome: int, twin: bool) -> State | None:
        if isinstance(given.member, Written):
            return given.member
        if given.member is None:
            used = frozenset[Value]()
            if given.used is not None:
                outcome, value = self._sequence.noted(outcome)
                used = given.used | value
            fold = given.plan.after(outcome, twin)
            return None if fold is None else Row(fold, used)
        base, label, seen = given.member
        fold = self._layout.after(given.plan, base, label, outcome)
        return None if fold is None else Between(fold, seen)

    def least(self, key: Hashable) -> int | None:
        """Bytes that suffice; see `Rule.least`."""
        costs = self._language.costs
        if isinstance(key, Chars):
            return self._counted.least(key)
        if isinstance(key, Start):
            cost = costs.value(self._must)
        elif isinstance(key, Opened | After):
            cost = self._rest(key.state, opened=isinstance(key, Opened))
        else:
            return UNKNOWN
        return None if cost is None else cost.base + cost.lines * self._spacing.outer

    def _rest(self, state: State, opened: bool) -> "Cost | None":
        """What the rest of a container costs; None: it has no end."""
        if isinstance(state, Written):
            return self._members.least(state, opened)
        container = self._layout if isinstance(state, Between) else self._sequence
        return self._language.costs.of_state(container, state, opened)

    @property
    def _members(self) -> PlainMembers:
        members = self._layout.members
        assert members is not None  # else nothing is `Written`
        return members

    def demands(self, opening: int) -> bool:
        """Whether the schema says anything of the objects or arrays that begin with this byte."""
        container = self._layout if opening == ord("{") else self._sequence
        return container.start.fold.must is not self._language.normal.pool.true

    def names_in(self, state: Between | Written) -> Keys | PlainKeys | None:
        """The names that can come next, None if there are none."""
        if state not in self._keys:
            if isinstance(state, Written):
                self._keys[state] = self._members.names(state)
            else:
                self._keys[state] = keys(self._language, self._layout, state)
        return self._keys[state]

    def _value(self) -> Expansion:
        """The first byte tells objects and arrays; everything else is one leaf."""
        language = self._language
        arcs: list[tuple[bytes, Target]] = []
        for byte, container in ((b"{", self._layout), (b"[", self._sequence)):
            if language.costs.of_state(container, container.start, opened=True) is not None:
                arcs.append((byte, self._spacing.anywhere(Opened(container.first))))
        scalars = language.scalars.of(self._must, self._asks)
        if scalars is None:
            return Expansion(tuple(arcs))
        if scalars.counted is not None and scalars.counted.start is not None:
            arcs.append((b'"', Goto(scalars.counted.start)))
        call = Call(scalars.dfa, START, judge=scalars.judge)
        return Expansion(tuple(arcs), None if scalars.dfa.empty else call)

    @property
    def _counted(self) -> Counted:
        scalars = self._language.scalars.of(self._must, self._asks)
        assert scalars is not None
        assert scalars.counted is not None
        return scalars.counted

    def _between(self, key: Opened | Entry | After | Close) -> Expansion:
        """Around members and items."""
        state, spacing = key.state, self._spacing
        arcs: list[tuple[bytes, Target]] = []
        outcome = None if isinstance(key, Entry) else self._ended(state)
        if outcome is not None:
            if spacing.lines and isinstance(key, After):
                arcs.append((b"\n", spacing.indented(spacing.outer, Close(state))))
            else:
                closer = b"]" if isinstance(state, Row) else b"}"
                arcs.append((closer, End(outcome)))
        entry = None if isinstance(key, Close) else self._entry(state)
        if entry is None:
            return Expansion(tuple(arcs))
        if isinstance(key, After):
            arcs.append((b",", spacing.after_comma(Entry(state))))
        elif isinstance(key, Opened) and spacing.lines:
            arcs.append((b"\n", spacing.indented(spacing.inner, Entry(state))))
        else:
            return Expansion(tuple(arcs), entry)
        return Expansion(tuple(arcs))

    def _ended(self, state: State) -> int | None:
        """The outcome if the container ends here; None if it may not."""
        if isinstance(state, Written):
            return 0 if self._members.complete(state) else None
        return ended(self._language.normal.pool, state.fold)

    def _entry(self, state: State) -> Call | None:
        """The call that reads a name or an item, None if there can be none."""
        if not isinstance(state, Row):
            names = self.names_in(state)
            return None if names is None else names.call
        plan = self._sequence.plan(state)
        if plan is None:
            return None
        if self._sequence.few(state) is not None:
            return self._call(Given(plan, used=state.used), EQUALITY.key, self._sequence.note)
        unique = self._sequence.unique(state)
        return self._call(Given(plan, used=state.used or None), EQUALITY.key if unique else None)

    def _call(
        self,
        given: Given,
        same: Callable[[bytes], Hashable] | None = None,
        judge: Callable[[int, bytes], int] | None = None,
    ) -> Call:
        plan = given.plan
        rule = self._language.rule(plan.must, plan.asks, self._depth + self._spacing.lines)
        return Call(rule, given, same, judge, comparison=None if same is None else EQUALITY)
