"""Fuzzing: generated schemas against the `jsonschema` package, and mangled sources against the contract alone."""

import json
import random
import re
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from intaglio.grammar.api import (
    Compiler,
    Constraint,
    GrammarError,
    Kind,
    allowed_tokens,
    empty_rows,
)

from tests.conformance import awkward, differences, hostile
from tests.conformance.cases import data_folder
from tests.conformance.children import Child, Ended, Limits
from tests.conformance.tokens import shared

FOLDER = data_folder()
QUICK = settings(
    max_examples=25,
    deadline=None,
    derandomize=True,
    suppress_health_check=list(HealthCheck),
    phases=(Phase.generate, Phase.shrink),
)
needs_data = pytest.mark.skipif(FOLDER is None, reason="needs ../shared")


@QUICK
@given(st.randoms(use_true_random=False))
def test_made_up_schemas_mean_what_they_mean_to_jsonschema(choose: random.Random) -> None:
    assert not differences.compare(choose).wrong


def mangled(choose: random.Random, text: str) -> str:
    """`text` with a few pieces dropped, doubled, swapped or replaced."""
    signs = '"{}[]()|*+?\\^$.,:#-0x\u00e9\n \x00'
    for _ in range(choose.randrange(1, 5)):
        low = choose.randrange(len(text) + 1)
        high = min(len(text), low + choose.randrange(12))
        match choose.randrange(4):
            case 0:
                text = text[:low] + text[high:]
            case 1:
                text = text[:high] + text[low:high] * choose.randrange(1, 4) + text[high:]
            case 2:
                text = text[:low] + choose.choice(signs) + text[high:]
            case _:
                text = text[high:] + text[:high]
    return text


def sources() -> Iterator[tuple[str, str]]:
    """(kind, mangled source) from the hostile corpus, small ones."""
    assert FOLDER is not None
    for case in hostile.cases(FOLDER):
        if case.source is not None and len(case.source) < 400:
            choose = random.Random(case.name)
            for _ in range(4):
                yield case.kind, mangled(choose, case.source)


@pytest.mark.shared
@needs_data
def test_schemas_that_look_back_at_what_was_said_lead_to_no_dead_end() -> None:
    """Items that differ, names in any order, spaced or on lines: what masks allow can be gone on with, and ended."""
    spelling = shared()
    found = awkward.look(Compiler(spelling.vocabulary, spelling.spell), count=40, seed=3, walks=1)
    assert not found.faults
    assert found.walked > 20


@pytest.mark.shared
@needs_data
def test_mangled_sources_compile_or_are_refused() -> None:
    """Nothing but a GrammarError, in time and memory; what compiles makes masks."""
    spelling = shared()
    compiler = Compiler(spelling.vocabulary, spelling.spell)
    compiler.compile(Constraint(Kind.EBNF, 'root ::= "a" root "a" | "b" root "b" | ""'))

    def compiles(source: tuple[str, str]) -> bool:
        row = empty_rows(1, spelling.vocabulary.width)[0]
        choose = random.Random(source[1])
        try:
            matcher = compiler.compile(Constraint(Kind(source[0]), source[1])).matcher()
        except GrammarError:
            return False
        for _ in range(12):
            matcher.fill(row)
            legal = allowed_tokens(row, spelling.vocabulary.width)
            if not len(legal):
                return matcher.finished or pytest.fail("a dead end")
            matcher.accept(int(legal[choose.randrange(len(legal))]))
        return True

    compiled = 0
    # Far more than any takes: what is looked for takes for ever.
    limits = Limits(cpu_s=30.0, wall_s=240.0, more_bytes=1 << 30)
    with Child(compiles, limits) as child:
        for source in sources():
            answer = child.ask(source).answer
            assert not isinstance(answer, Ended), (answer, source)
            compiled += answer
    assert compiled > 20


def test_patterns_of_clients_never_reach_a_backtracking_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The mark in the patterns and names of a schema is looked for in all that is given to `re`."""
    mark = "tainted"
    seen: list[object] = []
    for name in ("compile", "match", "search", "fullmatch", "sub", "split", "findall", "finditer"):
        real = getattr(re, name)

        def trap(pattern: object, *rest: object, _real: object = real, **named: object) -> object:
            seen.append(pattern)
            return _real(pattern, *rest, **named)  # type: ignore[operator]

        monkeypatch.setattr(re, name, trap)
    schema = {
        "type": "object",
        "properties": {"a": {"type": "string", "pattern": f"^({mark}+)+$"}},
        "patternProperties": {f"^{mark}": {"pattern": f"{mark}|x"}},
        "propertyNames": {"pattern": f"^{mark}|a"},
    }
    spelling = shared() if FOLDER else None
    if spelling is None:
        pytest.skip("needs ../shared")
    compiler = Compiler(spelling.vocabulary, spelling.spell)
    for constraint in (
        Constraint(Kind.JSON_SCHEMA, json.dumps(schema)),
        Constraint(Kind.REGEX, f"({mark}*)*"),
    ):
        matcher = compiler.compile(constraint).matcher()
        row = empty_rows(1, spelling.vocabulary.width)[0]
        for token in matcher.closing() or ():
            matcher.fill(row)
            matcher.accept(token)
    assert not [pattern for pattern in seen if mark in str(pattern)]
