"""JSON Schema to shapes, or a list of what cannot be enforced.

Does: follow references and alternatives, merge what holds together, prove that `oneOf` branches exclude one another.
Does not: leave anything out. What has no shape is refused by JSON Pointer and keyword.
"""

import math
from collections.abc import Iterable, Iterator
from itertools import combinations, product
from typing import Any

from ..errors import ConstraintTooLarge, InvalidConstraint, Refusal, UnsupportedConstraint
from .chardfa import CharDfa, determinise
from .dialect import Dialect, Refused, Sub, refuse
from .ecma import ANY, Choice, Repeat
from .flat import Flat, Keys, Subs, flatten, is_in, language
from .judge import Judge
from .numerals import decimal, integer, literal
from .shapes import (
    Array,
    Field,
    Language,
    Literals,
    Numeral,
    Object,
    Ref,
    Shape,
    Shapes,
    Text,
    Union,
)

_MOST_SHAPES = 5_000
_MOST_CASES = 256
_MOST_REFUSALS = 50
_MOST_PATTERNS = 4
_MOST_MERGED = 200_000  # properties looked at while schemas are merged
_TYPE = {bool: "boolean", str: "string", list: "array", dict: "object", type(None): "null"}


def read(document: Any, *, extra_properties: bool = True) -> Shapes:
    """The shapes of a schema document.

    Raises:
        InvalidConstraint: it is not a schema of its draft.
        UnsupportedConstraint: something in it cannot be enforced; everything found is named.
        ConstraintTooLarge: it has too many shapes or cases.
    """
    return _Reader(Dialect(document), extra_properties).read()


class _Reader:
    """Works through one document; `named` grows until no shape is missing."""

    def __init__(self, dialect: Dialect, extra_properties: bool) -> None:
        self.dialect = dialect
        self.extra_properties = extra_properties
        self.named: dict[str, Shape] = {}
        self.todo: list[tuple[str, Subs]] = []
        self.refusals: dict[tuple[str, str], Refusal] = {}
        self.judge = Judge(dialect)
        self.merged = 0

    def read(self) -> Shapes:
        root = self.ref((self.dialect.root,))
        while self.todo:
            name, subs = self.todo.pop()
            try:
                self.named[name] = self.shape(subs)
            except Refused as refused:
                self.refuse(refused.refusal)
        if self.refusals:
            found = tuple(self.refusals.values())
            first = found[0]
            raise UnsupportedConstraint(
                f"{first.where or 'the root'}: {first.keyword}: {first.reason}"
                + (f" (and {len(found) - 1} more)" if found[1:] else ""),
                found,
            )
        return Shapes(root.name, self.named)

    def refuse(self, refusal: Refusal) -> None:
        if len(self.refusals) < _MOST_REFUSALS:
            self.refusals.setdefault((refusal.where, refusal.keyword), refusal)

    def ref(self, subs: Subs) -> Ref:
        name = "&".join(sorted({sub.where or "#" for sub in subs})) or "*"
        if name not in self.named:
            if len(self.named) >= _MOST_SHAPES:
                raise ConstraintTooLarge(f"the schema has more than {_MOST_SHAPES} different parts")
            self.named[name] = Union(())
            self.todo.append((name, subs))
        return Ref(name)

    def shape(self, subs: Subs) -> Shape:
        parts: list[Shape] = []
        listed: list[Any] = []
        for flat in self.flats(subs, ()):
            if flat.values is not None:
                listed += [value for value in flat.values if not is_in(value, tuple(listed))]
                continue
            for refusal in flat.refusals:
                self.refuse(refusal)
            parts += self.parts(flat, subs)
        values = self.judge.keep(listed, subs)
        if values:
            parts.append(Literals(values))
        return parts[0] if len(parts) == 1 else Union(tuple(parts))

    def flats(self, subs: Subs, stack: tuple[str, ...]) -> list[Flat]:
        """The cases of a conjunction: a value meets it exactly if it meets one of them."""
        result = [Flat()]
        for sub in subs:
            cases = self.cases(sub, stack)
            if len(result) * len(cases) > _MOST_CASES:
                raise ConstraintTooLarge(
                    f"{sub.where}: alternatives multiply to over {_MOST_CASES}"
                )
            result = self.times(sub, result, cases)
        return result

    def cases(self, sub: Sub, stack: tuple[str, ...]) -> list[Flat]:
        if isinstance(sub.schema, bool):
            return [Flat()] if sub.schema else []
        if sub.where in stack:
            raise refuse(
                sub,
                "$ref",
                "the schema refers to itself without a value between",
                "break the circle",
            )
        stack = (*stack, sub.where)
        schema = self.dialect.keywords(sub)
        try:
            result = [flatten(self.dialect, sub)]
        except (UnsupportedConstraint, InvalidConstraint) as error:
            raise _placed(error, sub) from error
        together = [sub.at("allOf", index) for index in range(len(schema.get("allOf", ())))]
        if "$ref" in schema:
            together.append(self.dialect.resolve(sub))
        choices = [self.cases(one, stack) for one in together]
        if "anyOf" in schema:
            branches = [sub.at("anyOf", index) for index in range(len(schema["anyOf"]))]
            choices.append([flat for one in branches for flat in self.cases(one, stack)])
        for choice in choices:
            result = self.times(sub, result, choice)
        if "oneOf" in schema:
            result = self.one_of(sub, result, stack)
        return result

    def times(self, sub: Sub, left: list[Flat], right: list[Flat]) -> list[Flat]:
        if len(left) * len(right) > _MOST_CASES:
            raise ConstraintTooLarge(f"{sub.where}: alternatives multiply to over {_MOST_CASES}")
        self.merged += sum(len(one.keys.named) + 1 for one in left) * len(right)
        self.merged += sum(len(other.keys.named) for other in right) * len(left)
        if self.merged > _MOST_MERGED:
            raise ConstraintTooLarge(f"{sub.where}: too many properties are merged")
        return [one.both(other) for one in left for other in right]

    def one_of(self, sub: Sub, base: list[Flat], stack: tuple[str, ...]) -> list[Flat]:
        branches = [sub.at("oneOf", index) for index in range(len(sub.schema["oneOf"]))]
        cases = [self.times(sub, base, self.cases(branch, stack)) for branch in branches]
        for (i, left), (j, right) in combinations(enumerate(cases), 2):
            for one, other in product(left, right):
                if not self.apart(one, other, (branches[i], branches[j])):
                    raise refuse(
                        sub,
                        "oneOf",
                        f"branches {i} and {j} may hold at once",
                        "use anyOf, or require a property whose const differs in every branch",
                    )
        return [flat for flats in cases for flat in flats]

    def apart(self, one: Flat, other: Flat, subs: Subs | None, depth: int = 0) -> bool:
        """Whether it is certain that no value meets both. Not certain is False."""
        common = {"number" if kind == "integer" else kind for kind in one.types} & {
            "number" if kind == "integer" else kind for kind in other.types
        }
        if one.values is not None or other.values is not None:
            if one.values is not None and other.values is not None and subs is not None:
                return True  # lists of values are judged one by one, by the whole schema
            values = one.values if one.values is not None else other.values or ()
            if one.values is not None and other.values is not None:
                values = tuple(value for value in one.values if is_in(value, other.values))
            values = tuple(value for value in values if _TYPE.get(type(value), "number") in common)
            return not (self.judge.keep(values, subs) if subs is not None else values)
        return all(self._apart_as(kind, one, other, depth) for kind in common)

    def _apart_as(self, kind: str, one: Flat, other: Flat, depth: int) -> bool:
        if kind == "number":
            return any(
                a.high is not None
                and b.low is not None
                and (a.high[0] < b.low[0] or (a.high[0] == b.low[0] and (a.high[1] or b.low[1])))
                for a, b in ((one, other), (other, one))
            )
        bound = {"string": "Length", "array": "Items", "object": "Properties"}.get(kind)
        if bound and any(
            (a.most or {}).get(bound, math.inf) < (b.least or {}).get(bound, 0)
            for a, b in ((one, other), (other, one))
        ):
            return True
        if kind != "object" or depth > 3:
            return False
        for name in dict.fromkeys(one.required + other.required):
            left = self.flats(one.keys.view(name), ())
            right = self.flats(other.keys.view(name), ())
            if all(self.apart(a, b, None, depth + 1) for a, b in product(left, right)):
                return True
        return False

    def parts(self, flat: Flat, subs: Subs) -> Iterator[Shape]:
        """The shapes of one case, type by type."""
        if "null" in flat.types:
            yield Literals((None,))
        if "boolean" in flat.types:
            yield Literals((True, False))
        if {"integer", "number"} & flat.types:
            yield self.number(flat, subs)
        least, most = flat.least or {}, flat.most or {}
        if "string" in flat.types:
            low, high = least.get("Length", 0), most.get("Length")
            if high is None or low <= high:
                found = language(flat.texts, low, high)
                yield Text(found) if found is not None else Text(None, low, high)
        if "array" in flat.types:
            low, high = least.get("Items", 0), most.get("Items")
            if flat.unique is not None and (high is None or high > 1):
                reason = "that items differ is not enforced"
                raise refuse(
                    flat.unique,
                    "uniqueItems",
                    reason,
                    "list the items as Boolean properties, or drop it",
                )
            if high is None or low <= high:
                prefix, rest = flat.items
                yield Array(tuple(self.ref(item) for item in prefix), self.ref(rest), low, high)
        if "object" in flat.types:
            yield self.object(flat, subs)

    def number(self, flat: Flat, subs: Subs) -> Shape:
        whole_only = "number" not in flat.types
        found: Language | None
        if flat.multiples:
            if any(value.denominator != 1 for value, _ in flat.multiples):
                reason = "multiples of fractions depend on rounding"
                hint = "use integers, such as cents, or drop it"
                raise refuse(flat.multiples[0][1], "multipleOf", reason, hint)
            step = math.lcm(*(int(value) for value, _ in flat.multiples))
            found = integer(flat.low, flat.high, step)
            if found is None:
                reason, hint = (
                    "too large to be counted in digits",
                    "bound the number on both sides, or drop it",
                )
                raise refuse(flat.multiples[0][1], "multipleOf", reason, hint)
        elif whole_only:
            found = integer(flat.low, flat.high, None)
        else:
            found = decimal(flat.low, flat.high)
        if found is None:
            keyword = "minimum" if flat.low is not None else "maximum"
            reason = "the bounds have too many digits to be compared exactly"
            raise refuse(subs[0], keyword, reason, "use bounds of at most 15 digits, or integers")
        return Numeral(found)

    def object(self, flat: Flat, subs: Subs) -> Shape:
        least, most = (flat.least or {}).get("Properties", 0), (flat.most or {}).get("Properties")
        names = list(dict.fromkeys((*flat.keys.named, *flat.required)))
        open_names, rule = self.names(flat.names)
        if open_names is not None:
            names += [name for name in open_names if name not in names]
        allowed = [name for name in names if self.judge.holds(name, flat.names)]
        if set(flat.required) - set(allowed):
            return Union(())
        fields = tuple(
            Field(name, self.ref(flat.keys.view(name)), name in flat.required) for name in allowed
        )
        unsaid = not flat.keys.patterns and not flat.keys.rest and rule is None
        kept_out = unsaid and fields and least <= len(fields) and not self.extra_properties
        if open_names is not None or kept_out:
            others: tuple[tuple[Language, Ref], ...] = ()
        else:
            others = tuple(self.others(flat.keys, names, rule))
        if others and least > len(flat.required) + 1:
            reason = "counting properties whose names are free is not enforced"
            raise refuse(subs[0], "minProperties", reason, "name the properties, or require them")
        return Object(fields, others, least, most)

    def names(self, subs: Subs) -> tuple[list[str] | None, Language | None]:
        """What propertyNames asks: a list of names, or a language of names, or nothing."""
        if not subs:
            return None, None
        flats = [flat for flat in self.flats(subs, ()) if "string" in flat.types]
        if all(flat.values is not None for flat in flats):
            values = [
                value for flat in flats for value in flat.values or () if isinstance(value, str)
            ]
            return values, None
        if len(flats) != 1 or flats[0].refusals:
            reason = "these names cannot be enforced"
            raise Refused(
                Refusal(subs[0].where, "propertyNames", reason, "use one pattern or an enum")
            )
        least, most = flats[0].least or {}, flats[0].most or {}
        low, high = least.get("Length", 0), most.get("Length")
        if low or high is not None:
            return None, language((*flats[0].texts, Repeat(ANY, low, high)), 0, None)
        return None, language(flats[0].texts, 0, None)

    def others(
        self, keys: Keys, names: list[str], rule: Language | None
    ) -> Iterator[tuple[Language, Ref]]:
        """Properties without a name of their own: which names they may have, and their shape."""
        if len(keys.patterns) > _MOST_PATTERNS:
            sub = keys.patterns[0][1]
            reason = f"more than {_MOST_PATTERNS} patterns of names are not enforced"
            raise Refused(
                Refusal(
                    sub.where, "patternProperties", reason, "join patterns with the same schema"
                )
            )
        free: list[CharDfa] = []
        if names:
            free.append(determinise(Choice(tuple(literal(name) for name in names))).inverse())
        if rule is not None:
            free.append(rule if isinstance(rule, CharDfa) else determinise(rule))
        patterns = [determinise(node) for node, _ in keys.patterns]
        for chosen in product((True, False), repeat=len(patterns)):
            subs = tuple(sub for hit, (_, sub) in zip(chosen, keys.patterns, strict=True) if hit)
            subs = subs or keys.rest
            if any(sub.schema is False for sub in subs):
                continue
            parts = [
                dfa if hit else dfa.inverse() for hit, dfa in zip(chosen, patterns, strict=True)
            ]
            found = _all(parts + free)
            if found is None:
                yield Repeat(ANY, 0, None), self.ref(subs)
            elif found.accepting:
                yield found, self.ref(subs)


def _all(parts: Iterable[CharDfa]) -> CharDfa | None:
    result = None
    for part in parts:
        result = part if result is None else result.both(part)
    return result


def _placed(error: UnsupportedConstraint | InvalidConstraint, sub: Sub) -> Exception:
    """An error about a pattern, said of its place in the schema."""
    first = error.refusals[0] if error.refusals else None
    if first is None or not first.where.startswith("char "):
        return error
    where = sub.where + ("/pattern" if "pattern" in sub.schema else "/patternProperties")
    placed = Refusal(where, first.keyword, f"{first.reason} ({first.where})", first.hint)
    if isinstance(error, UnsupportedConstraint):
        return Refused(placed)
    return InvalidConstraint(f"{where}: {error.message}", (placed,))
