"""One JSON value, judged against several formulas at once, as a rule of the machine.

Does: write the punctuation of objects and arrays around names, items and values, and hand each value to the rule of
exactly what is asked of it. Does not: decide what that is (`objects`, `arrays`), make leaves (`scalars`, `leaves`) or
white space (`spacing`).
"""

from collections.abc import Callable, Hashable
from functools import cached_property, partial
from typing import TYPE_CHECKING

from ...machine.rule import UNKNOWN, Call, End, Expansion, Goto, Target
from ..arrays.arrays import BetweenItems
from ..arrays.equality import EQUALITY
from ..logic.atoms import ValueKind
from ..logic.formula import Formula
from ..objects.name_rule import Keys
from ..objects.names import BetweenMembers
from ..objects.plain_objects import PlainKeys, Written
from ..scalars.counted_strings import Counted, CountedChars
from .containers import Containers
from .states import START, After, Close, Colon, Entry, Given, Opened, Start, State
from .whitespace import Blank, Gap, Line, Spacing

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
        self._inside = Containers(language, must, asks)

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
        if isinstance(key, CountedChars):
            counted = self._counted
            leaf, renew = counted.following(key), partial(counted.renewed, key)
            return Expansion(call=Call(leaf, key, renew=renew))
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
            state = self._inside.after(back, outcome, twin)
            sure = isinstance(state, Written)  # of a plain object
            return None if state is None else self._spacing.anywhere(After(state), sure)
        if isinstance(back, CountedChars):
            more = self._counted.after(back, outcome)
            return End(0) if more is None else Goto(more)
        assert isinstance(back, Keys | PlainKeys)
        if twin:
            return None
        return self._spacing.anywhere(Colon(Given(*back.given(outcome))), sure=True)

    def least(self, key: Hashable) -> int | None:
        """Bytes that suffice; see `Rule.least`."""
        if isinstance(key, Start):
            return self._shortest
        if isinstance(key, Opened | After):
            return self._bytes(self._inside.rest(key.state, opened=isinstance(key, Opened)))
        if isinstance(key, Colon | Given):
            return self._before_value(key)
        return self._counted.least(key) if isinstance(key, CountedChars) else UNKNOWN

    def _before_value(self, key: Colon | Given) -> int:
        """Of a value and what follows it, where that is the same whatever the value, on one line."""
        given = key.given if isinstance(key, Colon) else key
        value = self._language.costs.value(given.plan.must)
        if given.plan.asks or self._spacing.lines or value is None:
            return UNKNOWN
        state = self._inside.after(given, 0, twin=False)
        rest = None if state is None else self._inside.rest(state, opened=False)
        if rest is None:
            return UNKNOWN
        colon = len(self._language.options.colon) if isinstance(key, Colon) else 0
        return colon + value.base + rest.base

    @cached_property
    def _shortest(self) -> int | None:
        return self._bytes(self._language.costs.value(self._must))

    def _bytes(self, cost: "Cost | None") -> int | None:
        return None if cost is None else cost.base + cost.lines * self._spacing.outer

    def demands(self, kind: ValueKind) -> bool:
        """Whether the schema says anything of the objects or arrays here."""
        return self._inside.demands(kind)

    def names_in(self, state: BetweenMembers | Written) -> Keys | PlainKeys | None:
        """The names that can come next, None if there are none."""
        return self._inside.names(state)

    def _value(self) -> Expansion:
        """The first byte tells objects and arrays; everything else is one leaf."""
        language = self._language
        arcs: list[tuple[bytes, Target]] = []
        for byte, kind in ((b"{", ValueKind.OBJECT), (b"[", ValueKind.ARRAY)):
            first = self._inside.first(kind)
            if first is not None:
                arcs.append((byte, self._spacing.anywhere(Opened(first))))
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
        outcome = None if isinstance(key, Entry) else self._inside.ended(state)
        if outcome is not None:
            if spacing.lines and isinstance(key, After):
                arcs.append((b"\n", spacing.indented(spacing.outer, Close(state))))
            else:
                closer = b"]" if isinstance(state, BetweenItems) else b"}"
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

    def _entry(self, state: State) -> Call | None:
        """The call that reads a name or an item, None if there can be none."""
        if not isinstance(state, BetweenItems):
            names = self.names_in(state)
            return None if names is None else names.call
        sequence = self._inside.sequence
        plan = sequence.plan(state)
        if plan is None:
            return None
        if sequence.few(state) is not None:
            return self._call(Given(plan, used=state.used), EQUALITY.key, sequence.note)
        unique = sequence.unique(state)
        return self._call(Given(plan, used=state.used or None), EQUALITY.key if unique else None)

    def _call(
        self,
        given: Given,
        same: Callable[[bytes], Hashable] | None = None,
        judge: Callable[[int, bytes], int] | None = None,
    ) -> Call:
        plan = given.plan
        rule = self._language.rule(plan.must, plan.asks, self._depth + self._spacing.lines)
        compared = None if same is None else EQUALITY
        usual = None if plan.asks or judge is not None else 0
        return Call(rule, given, same, judge, comparison=compared, usual=usual)
