"""The first look at a constraint: is it one, can all of it be enforced, can anything meet it.

Does: bound and parse the source, and turn it into what the machine runs or a grammar back end compiles, independent of
any vocabulary. Does not: compile for one. What it lets through is enforced in full; what cannot be is refused by place,
keyword, reason and hint.

The compiled code below the automata is loaded when the first constraint comes, not with this module.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..contract.constraint import Constraint, KeyOrder, Kind
from ..contract.coverage import Coverage
from ..contract.errors import ConstraintTooLarge, Refusal, Unsatisfiable

if TYPE_CHECKING:
    from ..automata import Dfa
    from ..cfg.enforce import Parsed
    from ..jsonschema.report.survey import Enforced
    from ..machine.rule import Rule

LONGEST = {  # characters
    Kind.JSON_SCHEMA: 2**21,
    Kind.REGEX: 2**19,
    Kind.EBNF: 2**17,
    Kind.LARK: 2**17,
    Kind.CSV: 2**19,
    Kind.XML: 2**19,
}

_MOST_OUTPUT = 2**17  # bytes of the shortest output


@dataclass(frozen=True, slots=True)
class Screened:
    """A constraint that can be enforced in full: a rule or automaton over bytes, or a grammar that has no such form,
    whichever is not None.

    `coverage`: of a schema, which keywords are enforced and which are not. `note`: why a grammar is left to another
    back end. `release`: breaks the reference cycles among the rules of a schema, so that their memory is free at once;
    to be called when nothing follows the rules any more. None: there are no such cycles.
    """

    root: "Rule | Dfa | None" = None
    parsed: "Parsed | None" = None
    coverage: Coverage | None = None
    note: str = ""
    release: Callable[[], None] | None = None


def screen(constraint: Constraint) -> Screened:
    """Judge a constraint.

    Raises:
        InvalidConstraint: the source is not a schema, pattern or grammar.
        UnsupportedConstraint: something in it cannot be enforced; `refusals` names each such place.
        ConstraintTooLarge: it is over a bound of size, depth or states.
        Unsatisfiable: nothing can meet it.
    """
    limit = LONGEST[constraint.kind]
    if len(constraint.source) + sum(len(text) for _, text in constraint.schemas) > limit:
        raise ConstraintTooLarge(f"the source is longer than {limit} characters")
    try:
        match constraint.kind:
            case Kind.JSON_SCHEMA:
                return _schema(constraint)
            case Kind.REGEX:
                return _pattern(constraint.source)
            case Kind.EBNF | Kind.LARK | Kind.CSV | Kind.XML:
                return _grammar(constraint)
    except RecursionError as error:
        raise ConstraintTooLarge("the source is nested too deeply") from error
    except MemoryError as error:
        raise ConstraintTooLarge("compiling this takes more memory than there is") from error


def _schema(constraint: Constraint) -> Screened:
    from ..jsonschema.read.values import read, read_all
    from ..jsonschema.read.writing_options import Options
    from ..jsonschema.report.summary import covered
    from ..jsonschema.rules.language import Language

    form = Options(
        whitespace=constraint.whitespace,
        any_order=constraint.key_order == KeyOrder.ANY,
        formats=constraint.formats,
        indent=constraint.indent,
        extra_properties=constraint.extra_properties,
        exponents=constraint.exponents,
        short_numbers=constraint.short_numbers,
    )
    language = Language(read(constraint.source), form, read_all(constraint.schemas))
    _refuse_endless(language.enforced)
    least = language.root.least(language.root.start) or 0
    if least > _MOST_OUTPUT:
        raise ConstraintTooLarge(
            f"the shortest output takes about {least} bytes: more than any output can hold"
        )
    coverage = covered(language.formulas, language.enforced)
    return Screened(root=language.root, coverage=coverage, release=language.release)


def _refuse_endless(enforced: "tuple[Enforced, ...]") -> None:
    """Refuse multiples that are only judged at their end: any number of digits may come before one happens to be."""
    reason = "multiples of this divisor cannot be told while they are written"
    hint = "use a divisor of at most four digits, besides zeros at its ends, or bounds instead"
    refusals = tuple(
        Refusal(each.where, each.keyword, reason, hint)
        for each in enforced
        if each.keyword == "multipleOf" and each.tier == "C"
    )
    if refusals:
        raise ConstraintTooLarge(f"{refusals[0].where}: {reason}", refusals)


def _pattern(source: str) -> Screened:
    from ..automata import Spelling, encode
    from ..regex import whole

    automaton = encode(whole(source), Spelling.UTF8)
    if automaton.empty:
        raise Unsatisfiable("no text matches the pattern")
    return Screened(root=automaton)


def _grammar(constraint: Constraint) -> Screened:
    from ..cfg import csv_grammar, ebnf, enforce, lark, xml_grammar

    source = constraint.source
    match constraint.kind:
        case Kind.EBNF:
            grammar = ebnf.parse(source)
        case Kind.LARK:
            grammar = lark.parse(source)
        case Kind.CSV:
            grammar = csv_grammar.grammar(source, header=constraint.header)
        case _:
            grammar = xml_grammar.grammar(source)
    found = enforce.enforced(grammar)
    if isinstance(found, enforce.Parsed):
        return Screened(parsed=found, note=found.reason)
    return Screened(root=found)
