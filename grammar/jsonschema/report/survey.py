"""The enforced keywords of a schema with their tiers, by JSON Pointer.

Does: reach every sub-schema once, so that refusals precede all output; determine the tier of each keyword. Does not:
build automata, except for patterns, which can be refused too.
"""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import StrEnum

from ... import regex
from ...contract.errors import (
    ConstraintTooLarge,
    GrammarError,
    InvalidConstraint,
    Refusal,
    UnsupportedConstraint,
)
from ..logic.atoms import Format, MultipleOf, Properties, subs_of
from ..logic.formula import Formula
from ..logic.keyword_formulas import BUILDERS
from ..logic.schema_formulas import SchemaFormulas
from ..read.dialects import EXTENSION
from ..read.dynamic_scope import Place, Schema
from ..read.uri import step
from ..read.values import number
from ..scalars.opaque import opaque
from .unenforced import why_unread

# Larger minimum counts are refused: no output budget reaches them.
MOST_DEMANDED = 16_384
# Bound for member names times schemas applied in place to one object.
MOST_COMBINED = 2_000_000
_COUNTS = frozenset({"minLength", "minItems", "minProperties", "minContains"})
_MAY_BE_REFUSED = _COUNTS | {"pattern", "patternProperties"}


class Tier(StrEnum):
    """How a keyword is enforced."""

    AUTOMATON = "A"  # by the automaton
    BOOKKEEPING = "B"  # by an automaton with states that remember written values
    JUDGED = "C"  # by a judgement at the end of a value: its last byte is illegal if it fails


@dataclass(frozen=True, slots=True)
class Enforced:
    """One keyword at one place."""

    where: str
    keyword: str
    tier: Tier


def survey(formulas: SchemaFormulas) -> None:
    """Reach every sub-schema.

    Raises:
        InvalidConstraint, UnsupportedConstraint, ConstraintTooLarge: with all refusals of that kind, by JSON Pointer.
    """
    errors = _errors(formulas)
    for kind in (InvalidConstraint, UnsupportedConstraint, ConstraintTooLarge):
        own = [error for error in errors if isinstance(error, kind)]
        if own:
            refusals = tuple(dict.fromkeys(r for e in own for r in e.refusals))
            more = f", and {len(refusals) - 1} more" if len(refusals) > 1 else ""
            raise kind(own[0].message + more, refusals)


def check(formulas: SchemaFormulas) -> tuple[tuple[Enforced, ...], tuple[GrammarError, ...]]:
    """Every enforced keyword in the order of the schema, and all errors."""
    errors = _errors(formulas)
    return enforced(formulas), tuple(errors)


def enforced(formulas: SchemaFormulas) -> tuple[Enforced, ...]:
    """Every enforced keyword of the sub-schemas reached so far, in the order of the schema."""
    found: dict[Enforced, None] = {}
    for place in formulas.built:
        schema = formulas.schemas.value(place.site)
        if isinstance(schema, dict):
            found.update(dict.fromkeys(_enforced(place, schema, formulas.formats)))
    return tuple(found)


def judged_multiples(formulas: SchemaFormulas) -> tuple[Enforced, ...]:
    """Every `multipleOf` that is judged at the end of the value."""
    found: dict[Enforced, None] = {}
    for place in formulas.built:
        schema = formulas.schemas.value(place.site)
        if isinstance(schema, dict) and "multipleOf" in schema:
            for each in _enforced(place, schema, formulas.formats):
                if each.keyword == "multipleOf" and each.tier == Tier.JUDGED:
                    found[each] = None
    return tuple(found)


def _errors(formulas: SchemaFormulas) -> list[GrammarError]:
    """Reach every sub-schema; all errors."""
    errors: list[GrammarError] = []
    _reach(formulas, errors)
    for place in formulas.built:
        schema = formulas.schemas.value(place.site)
        if isinstance(schema, dict) and not _MAY_BE_REFUSED.isdisjoint(schema):
            errors += _refused(place, schema)
    return errors


def _reach(formulas: SchemaFormulas, errors: list[GrammarError]) -> None:
    """Make the formula of every reachable sub-schema."""
    seen: set[object] = set()  # by key, which is hashed faster than the sub-schema
    done: set[Formula] = set()
    todo = deque([formulas.root])
    while todo:
        sub = todo.popleft()
        if sub.key in seen:
            continue
        seen.add(sub.key)
        try:
            formula = sub.formula
        except GrammarError as error:
            errors.append(error)
            continue
        errors += _too_wide(sub.where, formula)
        for part in formula.atoms:
            if part not in done:
                done.add(part)
                todo += subs_of(part.atom)


def _too_wide(where: str, formula: Formula) -> Iterator[GrammarError]:
    """An error if names times alternatives of one object exceed the bound: each name is judged in each alternative."""
    names = sum(len(part.atom.named) for part in formula.atoms if isinstance(part.atom, Properties))
    if names * len(formula.atoms) > MOST_COMBINED:
        reason = f"{names} member names in {len(formula.atoms)} schemas that apply to one object"
        hint = "distinguish the alternatives by fewer names, or split the schema"
        yield ConstraintTooLarge(f"{where}: {reason}", (Refusal(where, "", reason, hint),))


def _keywords(place: Place, schema: Schema) -> Iterator[str]:
    dialect = place.site.dialect
    if dialect.ref_alone and "$ref" in schema:
        yield "$ref"
        return
    for keyword in schema:
        if keyword in dialect.keywords and (keyword in BUILDERS or keyword in {"then", "else"}):
            yield keyword


def _refused(place: Place, schema: Schema) -> Iterator[GrammarError]:
    """The errors of one schema object: patterns and counts."""
    for keyword in filter(_MAY_BE_REFUSED.__contains__, _keywords(place, schema)):
        value = schema[keyword]
        where = step(place.site.where, keyword)
        sources = (
            [value] if keyword == "pattern" else value if keyword == "patternProperties" else []
        )
        for source in sources if isinstance(sources, list | dict) else ():
            try:
                regex.search(str(source))
            except GrammarError as error:
                own = where if keyword == "pattern" else step(where, str(source))
                yield _at(own, keyword, error)
        if keyword in _COUNTS and isinstance(value, int) and value > MOST_DEMANDED:
            reason = f"a minimum of {value} exceeds every possible output"
            hint = f"use at most {MOST_DEMANDED}"
            yield ConstraintTooLarge(f"{where}: {reason}", (Refusal(where, keyword, reason, hint),))


def _at(where: str, keyword: str, error: GrammarError) -> GrammarError:
    """The error of a pattern, with its place in the schema."""
    refused = error.refusals or (Refusal("", keyword, error.message, "use a simpler pattern"),)
    refusals = tuple(
        replace(refusal, where=where, reason=f"{refusal.reason} ({refusal.where})")
        if refusal.where
        else replace(refusal, where=where)
        for refusal in refused
    )
    return type(error)(f"{where}: {refusals[0].reason}", refusals)


def _enforced(place: Place, schema: Schema, formats: bool) -> Iterator[Enforced]:
    for keyword in _keywords(place, schema):
        value, tier = schema[keyword], Tier.AUTOMATON
        if why_unread(place, schema, keyword, formats) or (keyword, value) == (
            "uniqueItems",
            False,
        ):
            continue
        if keyword == EXTENSION and not (isinstance(value, dict) and value.get("verbatim")):
            continue
        if keyword == "uniqueItems":
            tier = Tier.BOOKKEEPING
        elif keyword in {"format", "multipleOf"}:
            atom = Format(str(value)) if keyword == "format" else MultipleOf(number(value))  # type: ignore[arg-type]
            tier = Tier.JUDGED if opaque(atom) else tier
        yield Enforced(step(place.site.where, keyword), keyword, tier)
