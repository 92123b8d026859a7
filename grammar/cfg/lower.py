"""Bodies to rules of the byte machine, where one byte of look-ahead always tells what to do.

Does: find, state by state, whether the next byte decides. A state is a set of places in the bodies; where several
callees could begin with the same byte they are taken apart in place until it is one callee or only bytes, so rules with
a common beginning need no factoring by hand. A rule is called knowing which bytes may follow it; where it could go on
with one of them its caller takes it apart too. Does not: run what has no such form: that raises `Undecided`.

The construction is that of LL parsers over regular right parts, with subsets where they would demand single items.
"""

from collections import deque
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import Final, NamedTuple

from ..machine.rule import Call, End, Expansion, Goto, Target
from .form import Form, GrammarLeaf, Mask, mask_bytes
from .order import components
from .places import OVER, Item, Option, Places, Spot
from .table import GrammarRule

MOST_WORK: Final = 1 << 15  # places and callees looked at, in all
MOST_ITEMS: Final = 1 << 8  # in one state
DEEPEST: Final = 12  # rules taken apart in one another


class Callee(NamedTuple):
    """A rule, or some of one: its name, the places it begins at, and the bytes that may follow it."""

    rule: str
    begins: frozenset[Item]
    following: Mask


class Calling(NamedTuple):
    """A call at a spot: the bytes that enter the callee, the callee, and where to go on after it."""

    first: Mask
    callee: Callee
    after: Spot


class Undecided(Exception):
    """One byte of look-ahead does not tell what to do in the rule `name`."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"in the rule {name!r} {reason}")


@dataclass(slots=True)
class Choice:
    """What can happen at a spot: the rule may be over, bytes are read here, rules are called, leaves are read.

    `leaves`: each with where to go on after it, by outcome.
    """

    over: bool
    bytes: list[tuple[Mask, Spot]] = field(default_factory=list)
    calls: list[Calling] = field(default_factory=list)
    leaves: list[tuple[GrammarLeaf, tuple[Spot, ...]]] = field(default_factory=list)


def lower(form: Form) -> GrammarRule:
    """The rule of a whole grammar.

    Raises:
        Undecided: it has no form in which one byte of look-ahead decides, or none was found within the limits.
    """
    return _Lowering(form).run()


class _Lowering:
    def __init__(self, form: Form) -> None:
        self.form = form
        self.places = Places(form)
        self.looked = 0
        self.unsafe: dict[Callee, Undecided] = {}
        self.tables: dict[Callee, dict[Spot, Choice]] = {}
        self.callers: dict[Callee, set[Callee]] = {}
        # By spot, rule and what may follow it.
        self.choices: dict[tuple[Spot, str, Mask], Choice] = {}
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
        self.circle = {name: i for i, members in enumerate(components(ends)) for name in members}

    def run(self) -> GrammarRule:
        root = Callee(self.form.start, _places(self.form.start, 0), 0)
        waiting = deque([root])
        while waiting:
            key = waiting.popleft()
            if key in self.tables or key in self.unsafe:
                continue
            try:
                table = self._explored(key, begun=key == root and self.form.nullable)
            except Undecided as problem:
                if key == root:
                    raise
                self.unsafe[key] = problem
                for caller in self.callers.pop(key, ()):
                    self.tables.pop(caller, None)
                    waiting.append(caller)
                continue
            self.tables[key] = table
            for choice in table.values():
                for call in choice.calls:
                    self.callers.setdefault(call.callee, set()).add(key)
                    waiting.append(call.callee)
        return self._rules(root)

    def _explored(self, key: Callee, *, begun: bool) -> dict[Spot, Choice]:
        table: dict[Spot, Choice] = {}
        waiting = [self._start(key, begun)]
        while waiting:
            spot = waiting.pop()
            if spot in table or spot == OVER:
                continue
            known = self.choices.get((spot, key.rule, key.following))
            if known is None or any(call.callee in self.unsafe for call in known.calls):
                known = self.choices[spot, key.rule, key.following] = self._choice(spot, key)
            choice = table[spot] = known
            waiting += [target for _, target in choice.bytes]
            waiting += [call.after for call in choice.calls]
            waiting += [target for _, targets in choice.leaves for target in targets]
        return table

    def _spend(self, name: str, items: int) -> None:
        self.looked += items
        if self.looked > MOST_WORK or items > MOST_ITEMS:
            raise Undecided(name, "there are too many things to tell apart")

    @staticmethod
    def _start(key: Callee, begun: bool) -> Spot:
        return Spot(key.begins, begun)

    def _choice(self, spot: Spot, key: Callee) -> Choice:
        """What the next byte decides at a spot.

        Raises:
            Undecided: it does not.
        """
        name, _, following = key
        items, over = spot
        self._spend(name, len(items))
        rest = self._rest(spot, following) or self._inner(spot)
        if rest is not None:
            return Choice(over, calls=[rest])
        inside = {item for item in items if isinstance(item[-1][0], int)}
        options = {option for item in items - inside for option in self.places.options(item)}
        calls = self._settled(options, inside, key)
        leaves = {option for option in options if isinstance(option.label, int)}
        choice = Choice(over, calls=calls)
        for group in self._alike(leaves):
            joined = self._joined(group, inside, key)
            if joined is not None:
                choice.leaves.append(joined)
            else:
                inside |= {self._entered(option, name) for option in group}
        choice.bytes = self.places.steps(inside)
        if over:
            masks = [leaf.first for leaf, _ in choice.leaves]
            masks += [mask for mask, _ in choice.bytes] + [call.first for call in calls]
            taken = reduce(or_, masks, 0)
            if taken & following:
                raise Undecided(name, f"{_shown(taken & following)} may go on or follow")
        return choice

    def _rest(self, spot: Spot, following: Mask) -> Calling | None:
        """The rest of a rule that was taken apart as a call, or some of it, where nothing else is possible any more."""
        items, over = spot
        tops = {item[-1] for item in items}
        if over or len(tops) > 1 or any(len(item) == 1 for item in items):
            return None
        ((body, state),) = tops
        if isinstance(body, int):
            return None
        for gate in (None, *self.form.gates(body, state)):
            part = body if gate is None else self.form.until(body, gate)
            self.circle.setdefault(part, self.circle[body])
            back = () if gate is None else ((body, gate),)
            after = self.places.spot((*item[:-1], *back) for item in items)
            callee = Callee(part, _places(part, state), self._follow(after, following))
            if callee not in self.unsafe:
                return Calling(self.places.mask(spot), callee, after)
        return None

    def _inner(self, spot: Spot) -> Calling | None:
        """All that is possible as one call, where it goes on at one and the same place afterwards."""
        items, over = spot
        shared = min(map(len, items)) - 1
        one = next(iter(items))
        while shared > 0 and any(item[:shared] != one[:shared] for item in items):
            shared -= 1
        if over or shared <= 0:
            return None
        begun = frozenset(item[shared:] for item in items)
        name = one[shared][0]
        if isinstance(name, int) or any(isinstance(item[0][0], int) for item in begun):
            return None
        after = self.places.spot((one[:shared],))
        callee = Callee(name, begun, self.places.mask(after))
        if after.over or callee in self.unsafe:
            return None
        return Calling(self.places.mask(spot), callee, after)

    def _follow(self, after: Spot, following: Mask) -> Mask:
        """The bytes that may follow a callee after which `after` is possible, in a rule that `following` may follow."""
        return self.places.mask(after) | (following if after.over else 0)

    def _settled(self, options: set[Option], inside: set[Item], key: Callee) -> list[Calling]:
        """Calls that nothing else begins like; the other rules of `options` are taken apart in place."""
        while True:
            rules = {option.label for option in options if isinstance(option.label, str)}
            masks = {x: self.form.first[x] for x in rules}
            bytewise = 0
            for option in options:
                if isinstance(option.label, int):
                    bytewise |= self.form.leaves[option.label].first
            for item in inside:
                bytewise |= self.places.first(item)
            calls, apart = [], set()
            for x in sorted(rules):
                others = bytewise
                for y in rules - {x}:
                    others |= masks[y]
                after = self.places.after(o for o in options if o.label == x)
                callee = Callee(x, _places(x, 0), self._follow(after, key.following))
                circular = after == OVER and self.circle[x] == self.circle[key.rule]
                if others & masks[x] or circular or callee in self.unsafe:
                    apart.add(x)
                else:
                    calls.append(Calling(masks[x], callee, after))
            if not apart:
                return calls
            # The one that may begin with the others comes first: it may turn out to be one of them.
            chosen = max(apart, key=self.rank.__getitem__)
            for option in [o for o in options if o.label == chosen]:
                options.discard(option)
                options.update(self.places.options(self._entered(option, key.rule)))
            self._spend(key.rule, len(options))

    def _entered(self, option: Option, name: str) -> Item:
        """The first place in a callee, remembering where to go on unless nothing is left there."""
        after = option.after()
        body, state = after[-1]
        assert isinstance(body, str)
        below = after[:-1] if self.form.bodies[body].ends(state) else after
        if len(below) >= DEEPEST:
            raise Undecided(
                name, f"{option.label!r} begins like something else, however deep one looks"
            )
        return (*below, (option.label, 0))

    def _alike(self, leaves: set[Option]) -> list[set[Option]]:
        """The leaves of a spot in groups that no first byte is common to."""
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

    def _joined(
        self, leaves: set[Option], inside: set[Item], key: Callee
    ) -> tuple[GrammarLeaf, tuple[Spot, ...]] | None:
        """The leaves of a spot as one, if its longest text is always the right one."""
        leaf, sets = self.form.joint(
            tuple(sorted({o.label for o in leaves if isinstance(o.label, int)}))
        )
        if any(self.places.first(item) & leaf.first for item in inside):
            return None
        spots = tuple(self.places.after(o for o in leaves if o.label in labels) for labels in sets)
        follow = [self._follow(spot, key.following) for spot in spots]
        if any(mask & follow[outcome] for outcome, mask in leaf.open_ends):
            return None
        return leaf, spots

    def _rules(self, root: Callee) -> GrammarRule:
        """The machine's rules of all that the root leads to."""
        rules, waiting = {root: GrammarRule()}, [root]
        while waiting:
            key = waiting.pop()
            for choice in self.tables[key].values():
                for call in choice.calls:
                    if call.callee not in rules:
                        rules[call.callee] = GrammarRule()
                        waiting.append(call.callee)
        for key, rule in rules.items():
            start = self._start(key, key == root and self.form.nullable)
            self._settle(rule, start, self.tables[key], rules)
        return rules[root]

    def _settle(
        self,
        rule: GrammarRule,
        start: Spot,
        table: dict[Spot, Choice],
        rules: dict[Callee, GrammarRule],
    ) -> None:
        numbers = {start: 0}
        for spot in table:
            numbers.setdefault(spot, len(numbers))

        def target(spot: Spot) -> Target:
            return End(0) if spot == OVER else Goto(numbers[spot])

        returns: list[tuple[Target, ...]] = []
        expansions, least = [], []
        for spot in sorted(table, key=numbers.__getitem__):
            choice = table[spot]
            calls: list[tuple[bytes, Call]] = []
            for call in choice.calls:
                calls.append((mask_bytes(call.first), Call(rules[call.callee], len(returns))))
                returns.append((target(call.after),))
            for leaf, spots in choice.leaves:
                calls.append((mask_bytes(leaf.first), Call(leaf.dfa, len(returns))))
                returns.append(tuple(map(target, spots)))
            arcs = tuple((mask_bytes(mask), target(following)) for mask, following in choice.bytes)
            outcome = 0 if choice.over else None
            expansions.append(Expansion(arcs, None, outcome, tuple(calls)))
            least.append(0 if choice.over else min(map(self.places.rest, spot.items)))
        rule.settle(expansions, returns, least)


def _places(name: str, state: int) -> frozenset[Item]:
    return frozenset((((name, state),),))


def _shown(mask: Mask) -> str:
    texts = [repr(chr(b)) if 0x20 < b < 0x7F else f"byte {b:#04x}" for b in mask_bytes(mask)[:3]]
    return " or ".join(texts) + (" and others" if mask.bit_count() > 3 else "")
