"""One JSON value, judged against several formulas at once, as a rule of the machine.

Does: write the punctuation around names, items and values, and call the rule of the formulas of each value. Does not:
derive those formulas (`objects`, `arrays`), make leaves (`scalars`, `leaves`) or white space (`writing`).
"""

from collections.abc import Callable, Hashable
from functools import cached_property, partial

from ...machine.copied_texts import CopiedPlace
from ...machine.rule import UNKNOWN, Call, End, Expansion, Goto, Target
from ..arrays.array_language import BetweenItems
from ..arrays.equality import EQUALITY, EQUALITY_IN_ANY_ORDER
from ..logic.atoms import ValueKind
from ..logic.formula import Formula
from ..objects.name_rule import Keys
from ..objects.names import BetweenMembers
from ..objects.plain_members import BetweenPlainMembers, PlainKeys
from ..scalars.counted_strings import CountedChars, CountedString
from ..scalars.scalar_leaves import ScalarLeaf
from ..scalars.shared import Shared
from ..scalars.suffix_ranges import InDocument
from ..scalars.verbatim_strings import VerbatimString
from ..writing.byte_cost import Cost
from ..writing.whitespace import Blank, Gap, Line, Spacing
from .container_languages import ContainerLanguages
from .containers import Containers
from .states import START, After, BeforeValue, Close, Colon, Entry, Opened, Start, State

MakeRule = Callable[[Formula, tuple[Formula, ...], int], "ValueRule"]


class ValueRule:
    """The values that satisfy `must`; bit i of the outcome tells whether `queries[i]` holds. Made by `Language`."""

    def __init__(
        self,
        shared: Shared,
        languages: ContainerLanguages,
        child: MakeRule,
        must: Formula,
        queries: tuple[Formula, ...],
        depth: int,
    ) -> None:
        """`child`: the rule of a formula, queries and depth. `depth`: nesting in the pretty form, else 0."""
        self._scalars = shared.scalars
        self._colon_bytes = len(shared.options.colon)
        self._cost_of = languages.costs.of_value
        self._child = child
        self._spacing = Spacing(shared.options, depth)
        self._equality = EQUALITY_IN_ANY_ORDER if shared.options.any_order else EQUALITY
        self._must = must
        self.queries = queries
        self._depth = depth
        self._inside = Containers(shared, languages, must, queries)

    @property
    def start(self) -> Hashable:
        """Before the value."""
        return START

    def expand(self, key: Hashable) -> Expansion:
        """The possible continuations of a state; see `Rule.expand`."""
        if isinstance(key, Start):
            return self._value()
        if isinstance(key, Opened | Entry | After | Close):
            return self._between(key)
        if isinstance(key, CountedChars):
            counted = _counted(self._leaf)
            leaf, renew = counted.following(key), partial(counted.renewed, key)
            return Expansion(call=Call(leaf, key, renew=renew))
        if isinstance(key, InDocument):
            return _in_document(self._leaf, key, bool(self.queries))
        if isinstance(key, Colon):
            return Expansion(((b":", self._spacing.after_colon(key.value)),))
        if isinstance(key, BeforeValue):
            return Expansion(call=self._call(key))
        assert isinstance(key, Line | Blank | Gap)
        return self._spacing.expand(key, self.expand)

    def resume(self, back: Hashable, outcome: int, is_repeat: bool) -> Target | None:
        """The state after a call; see `Rule.resume`."""
        if isinstance(back, Start):
            scalars = self._scalars.of(self._must, self.queries)
            assert scalars is not None  # it was called
            return End(scalars.vectors[outcome])
        if isinstance(back, BeforeValue):
            state = self._inside.after(back, outcome, is_repeat)
            sure = isinstance(state, BetweenPlainMembers)  # of a plain object
            return None if state is None else self._spacing.anywhere(After(state), sure)
        if isinstance(back, CountedChars):
            more = _counted(self._leaf).after(back, outcome)
            return End(0) if more is None else Goto(more)
        assert isinstance(back, Keys | PlainKeys)
        if is_repeat:
            return None
        return self._spacing.anywhere(Colon(BeforeValue(*back.before_value(outcome))), sure=True)

    def copied(self, key: Hashable) -> CopiedPlace | None:
        """The place in the document where a verbatim string continues; see `CopyingRule.copied`."""
        if not isinstance(key, InDocument) or self.queries:
            return None
        return _verbatim(self._leaf).copied(key)

    def least(self, key: Hashable) -> int | None:
        """An upper bound on the bytes that complete the value; see `Rule.least`."""
        if isinstance(key, Gap):
            return self.least(key.inner)
        if isinstance(key, Start):
            return self._shortest
        if isinstance(key, Opened | After):
            return _bytes(
                self._inside.rest(key.state, opened=isinstance(key, Opened)), self._spacing
            )
        if isinstance(key, Colon | BeforeValue):
            return self._before_value(key)
        if isinstance(key, InDocument):
            return _verbatim(self._leaf).least(key)
        return _counted(self._leaf).least(key) if isinstance(key, CountedChars) else UNKNOWN

    def _before_value(self, key: Colon | BeforeValue) -> int:
        """The bytes of a value and the rest, if the rest does not depend on the value."""
        before = key.value if isinstance(key, Colon) else key
        value = self._cost_of(before.plan.must)
        if before.plan.queries or value is None:
            return UNKNOWN
        state = self._inside.after(before, 0, is_repeat=False)
        rest = None if state is None else self._inside.rest(state, opened=False)
        if rest is None:
            return UNKNOWN
        colon = self._colon_bytes if isinstance(key, Colon) else 0
        indents = value.lines * self._spacing.inner + rest.lines * self._spacing.outer
        return colon + value.base + rest.base + indents

    @cached_property
    def _shortest(self) -> int | None:
        return _bytes(self._cost_of(self._must), self._spacing)

    def demands(self, kind: ValueKind) -> bool:
        """Whether the schema constrains the objects or arrays here."""
        return self._inside.demands(kind)

    def names_in(self, state: BetweenMembers | BetweenPlainMembers) -> Keys | PlainKeys | None:
        """The names that may follow; None if there are none."""
        return self._inside.names(state)

    def _value(self) -> Expansion:
        """The first byte identifies objects and arrays; everything else is one leaf."""
        arcs: list[tuple[bytes, Target]] = []
        for byte, kind in ((b"{", ValueKind.OBJECT), (b"[", ValueKind.ARRAY)):
            first = self._inside.first(kind)
            if first is not None:
                arcs.append((byte, self._spacing.anywhere(Opened(first))))
        scalars = self._scalars.of(self._must, self.queries)
        if scalars is None:
            return Expansion(tuple(arcs))
        if scalars.counted is not None and scalars.counted.start is not None:
            arcs.append((b'"', Goto(scalars.counted.start)))
        if scalars.verbatim is not None and scalars.verbatim.start is not None:
            arcs.append((b'"', Goto(scalars.verbatim.start)))
        call = Call(scalars.dfa, START, judge=scalars.judge)
        return Expansion(tuple(arcs), None if scalars.dfa.empty else call)

    @property
    def _leaf(self) -> ScalarLeaf:
        scalars = self._scalars.of(self._must, self.queries)
        assert scalars is not None
        return scalars

    def _between(self, key: Opened | Entry | After | Close) -> Expansion:
        """The states around members and items."""
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
        """The call that reads a name or an item; None if none may come."""
        if not isinstance(state, BetweenItems):
            names = self.names_in(state)
            return None if names is None else names.call
        arrays = self._inside.arrays
        plan = arrays.plan(state)
        if plan is None:
            return None
        if arrays.finite_values(state) is not None:
            return self._call(BeforeValue(plan, used=state.used), EQUALITY.key, arrays.note)
        same = EQUALITY.key if arrays.unique(state) else None
        # A mask takes texts for new ones where it can: more must not follow a repeated text then.
        judge = _as_it_is if arrays.gains_by_repeats(state) else None
        before = BeforeValue(plan, used=state.used or None, cannot_repeat=state.empty)
        return self._call(before, same, judge)

    def _call(
        self,
        before: BeforeValue,
        same: Callable[[bytes], Hashable] | None = None,
        judge: Callable[[int, bytes], int] | None = None,
    ) -> Call:
        plan = before.plan
        rule = self._child(plan.must, plan.queries, self._depth + self._spacing.lines)
        compared = None if same is None else self._equality
        usual = None if plan.queries or judge is not None else 0
        return Call(rule, before, same, judge, comparison=compared, usual=usual)


def _bytes(cost: Cost | None, spacing: Spacing) -> int | None:
    return None if cost is None else cost.base + cost.lines * spacing.outer


def _as_it_is(outcome: int, text: bytes) -> int:  # noqa: ARG001 - a judge is given the text, too
    """A judge that admits every text."""
    return outcome


def _counted(scalars: ScalarLeaf) -> CountedString:
    assert scalars.counted is not None
    return scalars.counted


def _verbatim(scalars: ScalarLeaf) -> VerbatimString:
    assert scalars.verbatim is not None
    return scalars.verbatim


def _in_document(scalars: ScalarLeaf, key: InDocument, has_queries: bool) -> Expansion:
    """The continuations within a verbatim string."""
    verbatim = _verbatim(scalars)
    arcs: tuple[tuple[bytes, Target], ...] = verbatim.arcs(key)
    if verbatim.may_end(key):
        arcs = (*arcs, (b'"', End(scalars.answers(verbatim.text(key)) if has_queries else 0)))
    return Expansion(arcs, block=None if has_queries else verbatim.block(key))
