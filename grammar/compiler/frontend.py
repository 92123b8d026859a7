"""The compiler's front end: checks that a constraint is valid, can be enforced in full and can be satisfied.

Does: bound and parse the source, and translate it to rules for the machine or to a grammar for another back end,
independent of any vocabulary. Does not: compile for a vocabulary. A constraint that passes is enforced in full; a
refusal names the place, the keyword, the reason and a hint.

The compiled loops of the automata are loaded with the first constraint, not when this module is imported.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from ..contract.constraint import Constraint, KeyOrder, Kind, Whitespace
from ..contract.coverage import Coverage
from ..contract.errors import ConstraintTooLarge, GrammarError, Refusal, Unsatisfiable

if TYPE_CHECKING:
    from ..automata import Dfa
    from ..cfg.enforce import NondeterministicGrammar
    from ..jsonschema.read.values import Json
    from ..jsonschema.rules.language import Language
    from ..machine.rule import Rule

LONGEST = {  # bound on the source, in characters
    Kind.JSON_SCHEMA: 2**21,
    Kind.REGEX: 2**19,
    Kind.EBNF: 2**17,
    Kind.LARK: 2**17,
    Kind.CSV: 2**19,
    Kind.XML: 2**19,
    Kind.STRUCTURAL_TAG: 2**21,
}

_MOST_OUTPUT = 2**17  # bound on the shortest output, in bytes


@dataclass(frozen=True, slots=True)
class Screened:
    """A constraint that can be enforced in full, ready to be compiled. Exactly one of `root` and `parsed` is set.

    `root`: a rule or automaton over bytes. `parsed`: a grammar that has no such form. `coverage` lists the enforced
    and unenforced keywords of a schema; to be called before the rules are used. `note`: why a grammar goes to
    another back end. `release`: breaks the reference cycles among the rules of a schema, so that their memory is
    freed at once; to be called when the rules are no longer used. None: there are no such cycles.
    """

    root: "Rule | Dfa | None" = None
    parsed: "NondeterministicGrammar | None" = None
    coverage: Callable[[], Coverage] | None = None
    note: str = ""
    release: Callable[[], None] | None = None


def screen(constraint: Constraint) -> Screened:
    """Check a constraint and translate it.

    Raises:
        InvalidConstraint: the source is not a schema, pattern or grammar.
        UnsupportedConstraint: a part of it cannot be enforced; `refusals` names each such place.
        ConstraintTooLarge: it exceeds a bound of size, depth or states.
        Unsatisfiable: no output can match it.
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
            case Kind.STRUCTURAL_TAG:
                return _tags(constraint)
            case Kind.EBNF | Kind.LARK | Kind.CSV | Kind.XML:
                return _grammar(constraint)
    except RecursionError as error:
        raise ConstraintTooLarge("the source is nested too deeply") from error
    except MemoryError as error:
        raise ConstraintTooLarge("there is not enough memory to compile the source") from error


def _schema(constraint: Constraint) -> Screened:
    from ..jsonschema.read.values import read
    from ..jsonschema.report.summary import covered

    language = _language(constraint, read(constraint.source))
    least = language.root.least(language.root.start) or 0
    if least > _MOST_OUTPUT:
        raise ConstraintTooLarge(
            f"the shortest output takes about {least} bytes, more than the limit of {_MOST_OUTPUT}"
        )

    def coverage() -> Coverage:
        return covered(language.formulas, language.enforced)

    return Screened(root=language.root, coverage=coverage, release=language.release)


def _language(constraint: Constraint, schema: "Json") -> "Language":
    """The language of a schema under the options of a constraint."""
    from ..jsonschema.read.values import read_all
    from ..jsonschema.read.writing_options import Options
    from ..jsonschema.report.survey import judged_multiples
    from ..jsonschema.rules.language import Language

    form = Options(
        whitespace=constraint.whitespace,
        any_order=constraint.key_order == KeyOrder.ANY,
        formats=constraint.formats,
        indent=constraint.indent,
        extra_properties=constraint.extra_properties,
        exponents=constraint.exponents,
        short_numbers=constraint.short_numbers,
        document=constraint.document,
    )
    language = Language(schema, form, read_all(constraint.schemas))
    reason = "multiples of this divisor cannot be recognised while they are written"
    hint = "use a divisor of at most four digits, not counting zeros at its ends, or bounds instead"
    # A model may write digits without ever reaching a multiple.
    refusals = tuple(
        Refusal(each.where, each.keyword, reason, hint)
        for each in judged_multiples(language.formulas)
    )
    if refusals:
        raise ConstraintTooLarge(f"{refusals[0].where}: {reason}", refusals)
    return language


def _tags(constraint: Constraint) -> Screened:
    from ..tags.tag_rules import tag_rule
    from ..tags.tag_source import parse

    languages: list[Language] = []

    def rule(schema: "Json", whitespace: Whitespace | None) -> "Rule":
        form = constraint if whitespace is None else replace(constraint, whitespace=whitespace)
        languages.append(_language(form, schema))
        return languages[-1].root

    def release() -> None:
        for language in languages:
            language.release()

    try:
        root = tag_rule(parse(constraint.source), rule)
        least = root.least(root.start)
        if least > _MOST_OUTPUT:
            raise ConstraintTooLarge(
                f"the shortest output takes about {least} bytes, more than the limit of {_MOST_OUTPUT}"
            )
    except GrammarError:
        release()
        raise
    return Screened(root=root, release=release)


def _pattern(source: str) -> Screened:
    from ..automata import Spelling, encode
    from ..regex import whole_extended

    automaton = encode(whole_extended(source), Spelling.UTF8)
    if automaton.empty:
        raise Unsatisfiable("no text matches the pattern")
    return Screened(root=automaton)


def _grammar(constraint: Constraint) -> Screened:
    from ..cfg import csv_grammar, ebnf, enforce, lark, w3c_ebnf, xml_grammar

    source = constraint.source
    match constraint.kind:
        case Kind.EBNF:
            grammar = (w3c_ebnf if w3c_ebnf.is_w3c(source) else ebnf).parse(source)
        case Kind.LARK:
            grammar = lark.parse(source)
        case Kind.CSV:
            grammar = csv_grammar.grammar(source, header=constraint.header)
        case _:
            grammar = xml_grammar.grammar(source)
    found = enforce.enforce(grammar)
    if isinstance(found, enforce.NondeterministicGrammar):
        return Screened(parsed=found, note=found.reason)
    return Screened(root=found)
