"""Explains a constraint: how each part is enforced or why not, what it costs, example outputs.

Does: compile one constraint and describe the result. Does not: format it for people (the service does), or know
prompts.
"""

import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

from ..compiler.compile import Compiler
from ..compiler.frontend import screen
from ..contract.bitmask import empty_rows
from ..contract.constraint import Constraint, Kind
from ..contract.coverage import Coverage
from ..contract.errors import GrammarError, Violation
from ..contract.matcher import CompiledGrammar
from ..contract.work import metered
from ..jsonschema.read.uri import steps
from .trial import MOST_WORK
from .verdict import charge_source, examinable

if TYPE_CHECKING:
    from ..automata import Dfa
    from ..machine.rule import Rule

# The meaning of the tiers of enforcement, as shown to users.
TIERS: Final = {
    "A": "by the automaton",
    "B": "by the automaton and a memory of what was written",
    "C": "judged at the end of the value, whose last byte is refused if it fails",
}


# Keywords that no specification explains.
_MEANINGS: Final = {"x-intaglio": "a substring of the document"}


@dataclass(frozen=True, slots=True)
class Finding:
    """One keyword at one place: enforced by `tier` (see `TIERS`), or not enforced (None) for a `reason`.

    The `reason` of an enforced keyword is what it means, if no specification says it.

    `where`: JSON Pointer. `unknown`: the keyword is not known; `hint` then suggests a correction.
    """

    where: str
    keyword: str
    tier: Literal["A", "B", "C"] | None
    reason: str = ""
    unknown: bool = False
    hint: str = ""


@dataclass(frozen=True, slots=True)
class ConstraintCost:
    """Time and memory of a compiled constraint.

    `states` and `size_bytes` count the states made so far; others are made when text reaches them. `first_mask_s`: from
    the compiled grammar to its first mask.
    """

    states: int | None
    size_bytes: int
    compile_s: float
    first_mask_s: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """Everything known about one constraint. If it can be enforced, `error` is None and the other fields are set.

    `coverage`: the summary of the findings of a schema. `engine`: the back end, `machine` or `earley`; `note` gives
    the reason for the latter. `shortest` and `typical`: example outputs, None if none was found. `least_tokens` and
    `typical_tokens`: their lengths with the end token.
    """

    constraint: Constraint
    error: GrammarError | None
    findings: tuple[Finding, ...] = ()
    coverage: Coverage | None = None
    engine: str = ""
    note: str = ""
    cost: ConstraintCost | None = None
    least_tokens: int | None = None
    typical_tokens: int | None = None
    shortest: str | None = None
    typical: str | None = None


_SchemaFindings = tuple[tuple[Finding, ...], Coverage | None]


def explain(compiler: Compiler, constraint: Constraint) -> Explanation:
    """Compile a constraint and explain the result. A refused constraint is explained too."""
    examined: _SchemaFindings = ((), None)
    try:
        examined = _findings(constraint)
        began = time.perf_counter()
        with metered(MOST_WORK):
            charge_source(constraint)
            grammar = compiler.compile(examinable(constraint))
        compiled = time.perf_counter()
        grammar.matcher().fill(empty_rows(1, compiler.vocabulary.width)[0])
        cost = _cost(grammar, compiled - began, time.perf_counter() - compiled)
    except GrammarError as error:
        return _refused(constraint, error, examined)
    return _explained(compiler, constraint, examined, grammar, cost)


def judge(constraint: Constraint) -> Explanation:
    """Like `explain`, without a vocabulary: whether and how a constraint is enforced, without costs or examples."""
    examined: _SchemaFindings = ((), None)
    try:
        examined = _findings(constraint)
        screen(examinable(constraint))
    except GrammarError as error:
        return _refused(constraint, error, examined)
    return Explanation(constraint, None, *examined)


def _refused(constraint: Constraint, error: GrammarError, examined: _SchemaFindings) -> Explanation:
    """The explanation of a refused constraint. Places that the error refuses are left out of the findings."""
    places = {refusal.where for refusal in error.refusals}
    findings, found = examined
    rest = tuple(finding for finding in findings if finding.where not in places)
    return Explanation(constraint, error, rest, found)


def _explained(
    compiler: Compiler,
    constraint: Constraint,
    examined: _SchemaFindings,
    grammar: CompiledGrammar,
    cost: ConstraintCost,
) -> Explanation:
    from ..backends.native import NativeGrammar

    root = grammar.machine.root if isinstance(grammar, NativeGrammar) else None
    closing, tokens = grammar.matcher().closing(), compiler.vocabulary.tokens
    shortest = None if closing is None else b"".join(tokens[token] or b"" for token in closing)
    typical = shortest if root is None else _typical(root) or shortest
    count = None if typical is None else _tokens(compiler, grammar, typical)
    return Explanation(
        constraint,
        None,
        *examined,
        engine="earley" if root is None else "machine",
        note=screen(constraint).note if root is None else "",
        cost=cost,
        least_tokens=grammar.least_tokens,
        typical_tokens=count,
        shortest=_text(shortest),
        typical=None if count is None else _text(typical),
    )


def _cost(grammar: CompiledGrammar, compile_s: float, first_mask_s: float) -> ConstraintCost:
    from ..backends.native import NativeGrammar

    states = grammar.machine.states if isinstance(grammar, NativeGrammar) else None
    return ConstraintCost(states, grammar.size_bytes, compile_s, first_mask_s)


def _tokens(compiler: Compiler, grammar: CompiledGrammar, text: bytes) -> int | None:
    """The number of tokens of a whole output, end token included; None if it cannot be spelled or is refused."""
    matcher, tokens = grammar.matcher(), compiler.spelled(text)
    if text and not tokens:
        return None
    try:
        for token in (*tokens, compiler.vocabulary.end_ids[0]):
            matcher.accept(token)
    except Violation:
        return None
    return len(tokens) + 1


def _text(text: bytes | None) -> str | None:
    return None if text is None else text.decode("utf-8", "replace")


def _findings(constraint: Constraint) -> _SchemaFindings:
    """(the findings of a schema, their summary); empty for constraints that are not schemas."""
    if constraint.kind is not Kind.JSON_SCHEMA:
        return (), None
    from ..jsonschema.logic.schema_formulas import SchemaFormulas
    from ..jsonschema.read.resolve import Schemas
    from ..jsonschema.read.values import read, read_all
    from ..jsonschema.report.summary import covered
    from ..jsonschema.report.survey import check
    from ..jsonschema.report.unenforced import unread

    schema = read(constraint.source)
    schemas = Schemas(schema, read_all(constraint.schemas))
    formulas = SchemaFormulas(schemas, constraint.formats, examinable(constraint).document)
    enforced, _ = check(formulas)
    found = [
        Finding(entry.where, entry.keyword, entry.tier.value, _MEANINGS.get(entry.keyword, ""))
        for entry in enforced
    ]
    found += [
        Finding(entry.where, entry.keyword, None, entry.reason, entry.kind == "unknown", entry.hint)
        for entry in unread(formulas)
    ]
    return tuple(sorted(found, key=partial(_rank, schema))), covered(formulas, enforced)


def _typical(root: "Rule | Dfa") -> bytes | None:
    from ..automata import Dfa
    from ..automata.specimen import specimen
    from ..jsonschema.rules.sample import example
    from ..jsonschema.rules.value_rule import ValueRule

    if isinstance(root, Dfa):
        text = specimen(root, seed=0)
        return None if text is None else bytes(text)
    return example(root) if isinstance(root, ValueRule) else None


def _rank(schema: object, finding: Finding) -> tuple[object, ...]:
    """The sort key of a finding: its position in the schema. Findings in other documents come last, by URI."""
    document, _, pointer = finding.where.rpartition("#")
    here, rank = schema, []
    for part in steps(pointer):
        if isinstance(here, dict) and part in here:
            rank.append(list(here).index(part))
            here = here[part]
        elif isinstance(here, list) and part.isdecimal() and int(part) < len(here):
            rank.append(int(part))
            here = here[int(part)]
    return document, rank, pointer
