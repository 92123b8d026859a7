"""Compilation of bodies to rules of the byte machine, for grammars where one byte of look-ahead always decides.

Does: build, for each rule, the item sets that the next byte distinguishes. Where several callees can begin with the
same byte, they are expanded in place until the byte selects a single callee or an arc, so rules with a common beginning
need no manual factoring. A rule is compiled for the set of bytes that may follow it; if it could also continue with one
of them, it is expanded into its caller as well. Does not: run grammars without such a form; these raise
`LookaheadConflict`.

The construction is that of LL(1) parsers over regular right-hand sides, with item sets in place of single items.
"""

from collections import deque
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

from ..machine.rule import Call, End, Expansion, Goto, Target
from .form import ByteGrammar, GrammarLeaf, Mask, mask_bytes
from .item_sets import FINISHED, Item, ItemMoves, ItemSet, Option
from .order import components
from .table import GrammarRule

MAX_WORK: Final = 1 << 15  # items and callees visited, in total
MAX_ITEMS: Final = 1 << 8  # items in one set
MAX_DEPTH: Final = 12  # nesting of rules expanded in place


class Callee(NamedTuple):
    """A rule or part of a rule: its name, the items it begins at, and the bytes that may follow it."""

    rule: str
    begins: frozenset[Item]
    following: Mask


class Calling(NamedTuple):
    """A call in an item set: the bytes that enter the callee, the callee, and the item set after it."""

    first: Mask
    callee: Callee
    after: ItemSet


class LookaheadConflict(Exception):
    """One byte of look-ahead is not enough in the rule `name`."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"in the rule {name!r} {reason}")


@dataclass(slots=True)
class Decision:
    """The alternatives at an item set: the end of the rule, bytes read here, calls of rules, and leaves.

    `leaves`: each with the item sets after it, by outcome.
    """

    may_end: bool
    bytes: list[tuple[Mask, ItemSet]] = field(default_factory=list)
    calls: list[Calling] = field(default_factory=list)
    leaves: list[tuple[GrammarLeaf, tuple[ItemSet, ...]]] = field(default_factory=list)


def lower(form: ByteGrammar, following: Mask = 0) -> GrammarRule:
    """The rule of a whole grammar, which the bytes in `following` may follow.

    Raises:
        LookaheadConflict: one byte of look-ahead is not enough, or no form was found within the limits.
    """
    return _Lowering(form).run(following)


class _Lowering:
    def __init__(self, form: ByteGrammar) -> None:
        self.form = form
        self.moves = ItemMoves(form)
        self.work = 0
        self.conflicts: dict[Callee, LookaheadConflict] = {}
        self.tables: dict[Callee, dict[ItemSet, Decision]] = {}
        self.callers: dict[Callee, set[Callee]] = {}
        # By item set, rule, and the bytes that may follow the rule.
        self.decisions: dict[tuple[ItemSet, str, Mask], Decision] = {}
        ends = {
            name: [
                x
                for row in body.arcs
                for x, t in row.items()
                if isinstance(x, str) and body.ends(t)
            ]
            for name, body in form.bodies.items()
        }
        self.rank = {name: i for i, name in enumerate(form.first)}
        self.tail_group = {
            name: i for i, members in enumerate(components(ends)) for name in members
        }

    def run(self, following: Mask) -> GrammarRule:
        root = Callee(self.form.start, _start_items(self.form.start, 0), following)
        waiting = deque([root])
        while waiting:
            key = waiting.popleft()
            if key in self.tables or key in self.conflicts:
                continue
            try:
                table = self._explore(key, may_end=key == root and self.form.nullable)
            except LookaheadConflict as problem:
                if key == root:
                    raise
                self.conflicts[key] = problem
                for caller in self.callers.pop(key, ()):
                    self.tables.pop(caller, None)
                    waiting.append(caller)
                continue
            self.tables[key] = table
            for decision in table.values():
                for call in decision.calls:
                    self.callers.setdefault(call.callee, set()).add(key)
                    waiting.append(call.callee)
        return self._rules(root)

    def _explore(self, key: Callee, *, may_end: bool) -> dict[ItemSet, Decision]:
        table: dict[ItemSet, Decision] = {}
        waiting = [self._start(key, may_end)]
        while waiting:
            item_set = waiting.pop()
            if item_set in table or item_set == FINISHED:
                continue
            known = self.decisions.get((item_set, key.rule, key.following))
            if known is None or any(call.callee in self.conflicts for call in known.calls):
                known = self.decisions[item_set, key.rule, key.following] = self._decide(
                    item_set, key
                )
            decision = table[item_set] = known
            waiting += [target for _, target in decision.bytes]
            waiting += [call.after for call in decision.calls]
            waiting += [target for _, targets in decision.leaves for target in targets]
        return table

    def _spend(self, name: str, items: int) -> None:
        self.work += items
        if self.work > MAX_WORK or items > MAX_ITEMS:
            raise LookaheadConflict(name, "there are too many alternatives to distinguish")

    @staticmethod
    def _start(key: Callee, may_end: bool) -> ItemSet:
        return ItemSet(key.begins, may_end)

    def _decide(self, item_set: ItemSet, key: Callee) -> Decision:
        """The alternatives at an item set, selected by the next byte.

        Raises:
            LookaheadConflict: the next byte does not select one.
        """
        name, _, following = key
        items, may_end = item_set
        self._spend(name, len(items))
        rest = self._remainder_call(item_set, following) or self._common_call(item_set)
        if rest is not None:
            return Decision(may_end, calls=[rest])
        inside = {item for item in items if isinstance(item[-1][0], int)}
        options = {option for item in items - inside for option in self.moves.options(item)}
        calls = self._calls(options, inside, key)
        leaves = {option for option in options if isinstance(option.label, int)}
        decision = Decision(may_end, calls=calls)
        for group in self._overlapping(leaves):
            joined = self._joint_leaf(group, inside, key)
            if joined is not None:
                decision.leaves.append(joined)
            else:
                inside |= {self._enter(option, name) for option in group}
        decision.bytes = self.moves.steps(inside)
        if may_end:
            masks = [leaf.first for leaf, _ in decision.leaves]
            masks += [mask for mask, _ in decision.bytes] + [call.first for call in calls]
            taken = reduce(or_, masks, 0)
            if taken & following:
                raise LookaheadConflict(name, f"{_shown(taken & following)} may go on or follow")
        return decision

    def _remainder_call(self, item_set: ItemSet, following: Mask) -> Calling | None:
        """The remainder of an expanded rule, or a part of it, as a call, if no alternative is left."""
        items, may_end = item_set
        tops = {item[-1] for item in items}
        if may_end or len(tops) > 1 or any(len(item) == 1 for item in items):
            return None
        ((body, state),) = tops
        if isinstance(body, int):
            return None
        for gate in (None, *self.form.post_dominators(body, state)):
            part = body if gate is None else self.form.part_until(body, gate)
            self.tail_group.setdefault(part, self.tail_group[body])
            back = () if gate is None else ((body, gate),)
            after = self.moves.closure((*item[:-1], *back) for item in items)
            callee = Callee(part, _start_items(part, state), self._follow(after, following))
            if callee not in self.conflicts:
                return Calling(self.moves.mask(item_set), callee, after)
        return None

    def _common_call(self, item_set: ItemSet) -> Calling | None:
        """All items as one call, if they share their return place."""
        items, may_end = item_set
        shared = min(map(len, items)) - 1
        one = next(iter(items))
        while shared > 0 and any(item[:shared] != one[:shared] for item in items):
            shared -= 1
        if may_end or shared <= 0:
            return None
        inner = frozenset(item[shared:] for item in items)
        name = one[shared][0]
        if isinstance(name, int) or any(isinstance(item[0][0], int) for item in inner):
            return None
        after = self.moves.closure((one[:shared],))
        callee = Callee(name, inner, self.moves.mask(after))
        if after.may_end or callee in self.conflicts:
            return None
        return Calling(self.moves.mask(item_set), callee, after)

    def _follow(self, after: ItemSet, following: Mask) -> Mask:
        """The bytes that may follow a callee that returns to `after`, in a rule that `following` may follow."""
        return self.moves.mask(after) | (following if after.may_end else 0)

    def _calls(self, options: set[Option], inside: set[Item], key: Callee) -> list[Calling]:
        """The calls that are selected by their first byte; expands the other rules of `options` in place."""
        while True:
            rules = {option.label for option in options if isinstance(option.label, str)}
            masks = {x: self.form.first[x] for x in rules}
            bytewise = 0
            for option in options:
                if isinstance(option.label, int):
                    bytewise |= self.form.leaves[option.label].first
            for item in inside:
                bytewise |= self.moves.first(item)
            calls, apart = [], set()
            for x in sorted(rules):
                others = bytewise
                for y in rules - {x}:
                    others |= masks[y]
                after = self.moves.after(o for o in options if o.label == x)
                callee = Callee(x, _start_items(x, 0), self._follow(after, key.following))
                tail_recursive = (
                    after == FINISHED and self.tail_group[x] == self.tail_group[key.rule]
                )
                if others & masks[x] or tail_recursive or callee in self.conflicts:
                    apart.add(x)
                else:
                    calls.append(Calling(masks[x], callee, after))
            if not apart:
                return calls
            # Rules that may begin with others are expanded first: their expansion may be one of the others.
            chosen = max(apart, key=self.rank.__getitem__)
            for option in [o for o in options if o.label == chosen]:
                options.discard(option)
                options.update(self.moves.options(self._enter(option, key.rule)))
            self._spend(key.rule, len(options))

    def _enter(self, option: Option, name: str) -> Item:
        """The first item in a callee, with a return place unless nothing is left to read there."""
        after = option.after()
        body, state = after[-1]
        assert isinstance(body, str)
        below = after[:-1] if self.form.bodies[body].ends(state) else after
        if len(below) >= MAX_DEPTH:
            raise LookaheadConflict(
                name, f"{option.label!r} shares its beginning with another alternative at any depth"
            )
        return (*below, (option.label, 0))

    def _overlapping(self, leaves: set[Option]) -> list[set[Option]]:
        """The leaves grouped so that different groups have no common first byte."""
        groups: list[tuple[Mask, set[Option]]] = []
        for option in leaves:
            mask, group = self.form.leaves[int(option.label)].first, {option}
            apart = []
            for other in groups:
                if other[0] & mask:
                    mask, group = mask | other[0], group | other[1]
                else:
                    apart.append(other)
            groups = [*apart, (mask, group)]
        return [group for _, group in groups]

    def _joint_leaf(
        self, leaves: set[Option], inside: set[Item], key: Callee
    ) -> tuple[GrammarLeaf, tuple[ItemSet, ...]] | None:
        """One leaf for all given leaves, if its longest match is always the right one; else None."""
        leaf, sets = self.form.joint(
            tuple(sorted({o.label for o in leaves if isinstance(o.label, int)}))
        )
        if any(self.moves.first(item) & leaf.first for item in inside):
            return None
        item_sets = tuple(
            self.moves.after(o for o in leaves if o.label in labels) for labels in sets
        )
        follow = [self._follow(item_set, key.following) for item_set in item_sets]
        if any(mask & follow[outcome] for outcome, mask in leaf.open_ends):
            return None
        return leaf, item_sets

    def _rules(self, root: Callee) -> GrammarRule:
        """The machine's rules for all callees reachable from the root."""
        rules, waiting = {root: GrammarRule()}, [root]
        while waiting:
            key = waiting.pop()
            for decision in self.tables[key].values():
                for call in decision.calls:
                    if call.callee not in rules:
                        rules[call.callee] = GrammarRule()
                        waiting.append(call.callee)
        for key, rule in rules.items():
            start = self._start(key, key == root and self.form.nullable)
            self._fill(rule, start, self.tables[key], rules)
        return rules[root]

    def _fill(
        self,
        rule: GrammarRule,
        start: ItemSet,
        table: dict[ItemSet, Decision],
        rules: dict[Callee, GrammarRule],
    ) -> None:
        numbers = {start: 0}
        for item_set in table:
            numbers.setdefault(item_set, len(numbers))

        def target(item_set: ItemSet) -> Target:
            return End(0) if item_set == FINISHED else Goto(numbers[item_set])

        returns: list[tuple[Target, ...]] = []
        expansions, least = [], []
        for item_set in sorted(table, key=numbers.__getitem__):
            decision = table[item_set]
            calls: list[tuple[bytes, Call]] = []
            for call in decision.calls:
                calls.append((mask_bytes(call.first), Call(rules[call.callee], len(returns))))
                returns.append((target(call.after),))
            for leaf, item_sets in decision.leaves:
                calls.append((mask_bytes(leaf.first), Call(leaf.dfa, len(returns))))
                returns.append(tuple(map(target, item_sets)))
            arcs = tuple(
                (mask_bytes(mask), target(following)) for mask, following in decision.bytes
            )
            outcome = 0 if decision.may_end else None
            expansions.append(Expansion(arcs, None, outcome, tuple(calls)))
            least.append(0 if decision.may_end else min(map(self.moves.rest, item_set.items)))
        rule.settle(expansions, returns, least)


def _start_items(name: str, state: int) -> frozenset[Item]:
    return frozenset((((name, state),),))


def _shown(mask: Mask) -> str:
    texts = [repr(chr(b)) if 0x20 < b < 0x7F else f"byte {b:#04x}" for b in mask_bytes(mask)[:3]]
    return " or ".join(texts) + (" and others" if mask.bit_count() > 3 else "")
