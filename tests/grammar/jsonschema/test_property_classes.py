"""Objects with hundreds of names: as exact as small ones, and work in proportion to the names."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.grammar.api import Compiler, Constraint, KeyOrder, Kind, Violation
from intaglio.grammar.compiler.frontend import screen
from intaglio.grammar.contract.vocabulary import Vocabulary
from intaglio.grammar.contract.work import metered
from intaglio.grammar.jsonschema.objects.plain_members import BetweenPlainMembers
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language

from tests.support.walker import accepts

BYTES = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 257)
COUNT = 200
NAMES = [f"p{number}" for number in range(COUNT)]
# Not plain: what one member demands of another is a formula of its own.
EXTRAS: dict[str, dict[str, Any]] = {
    "closed": {"additionalProperties": False},
    "open": {},
    "not plain": {"additionalProperties": False, "if": {"required": ["p7"]}, "then": {"required": ["p9"]}},
}  # fmt: skip


def schema(count: int, required: list[str], **more: Any) -> dict[str, Any]:
    properties = {f"p{number}": {"type": "integer"} for number in range(count)}
    return {"type": "object", "properties": properties, "required": required, **more}


def written(names: list[str]) -> bytes:
    return json.dumps(dict.fromkeys(names, 1), separators=(",", ":")).encode()


places = st.integers(0, COUNT - 1)


@pytest.mark.parametrize("extra", EXTRAS)
@settings(max_examples=20, deadline=None)
@given(st.sets(places, max_size=12), st.sets(places, max_size=12), st.lists(places, max_size=2))
def test_the_declared_order_and_the_required_names_decide(
    extra: str, required: set[int], optional: set[int], moved: list[int]
) -> None:
    if extra == "not plain":
        required |= {9} if 7 in required | optional else set()
    root = Language(
        read(json.dumps(schema(COUNT, [NAMES[at] for at in sorted(required)], **EXTRAS[extra])))
    ).root
    whole = [NAMES[at] for at in sorted(required | optional)]
    assert accepts(root, written(whole))
    for at in required:
        assert not accepts(root, written([name for name in whole if name != NAMES[at]]))
    for at in moved:
        names = [name for name in whole if name != NAMES[at]]
        late = [*names, NAMES[at]]
        legal = late == sorted(late, key=NAMES.index)
        legal &= extra != "not plain" or "p7" not in late or "p9" in late
        assert accepts(root, written(late)) is legal
    assert accepts(root, written([*whole, "zz"])) is (extra == "open")


@pytest.mark.parametrize("any_order", [False, True])
def test_any_order_reads_all_names_at_once(any_order: bool) -> None:
    options = Options(any_order=any_order)
    root = Language(read(json.dumps(schema(COUNT, NAMES[50:53]))), options).root
    assert accepts(root, written(["p3", "p50", "p51", "p52", "p199"]))
    assert accepts(root, written(["p199", "p52", "p3", "p51", "p50"])) is any_order


def work(schema: dict[str, Any]) -> int:
    compiler = Compiler(BYTES, tuple)
    with metered(10**9) as meter:
        grammar = compiler.build(screen(Constraint(Kind.JSON_SCHEMA, json.dumps(schema))))
        assert (grammar.matcher().closing() or ())[-1] == 256
    return meter.total


def test_the_work_of_required_names_grows_with_their_number() -> None:
    """A call site had room for all names, so that 2,500 of them filled the tables."""
    few, many = (work(schema(n, [f"p{i}" for i in range(n)])) for n in (200, 800))
    assert many < 5 * few


def test_states_of_an_object_differ_in_their_hashes() -> None:
    """Python hashes 2^61 like 1: a look-up met one state in 61, and n states took n^2 comparisons."""
    states = [BetweenPlainMembers((1 << written) - 1) for written in range(3000)]
    assert len(set(map(hash, states))) == len(states)


@pytest.mark.parametrize("any_order", [False, True])
def test_all_of_two_thousand_optional_names_fit_the_tables(any_order: bool) -> None:
    """Each position had room for every name, so that the tables were full after half of them."""
    names = [f"p{number}" for number in range(2000)]
    order = KeyOrder.ANY if any_order else KeyOrder.SCHEMA
    text = json.dumps(schema(2000, [], additionalProperties=False))
    grammar = Compiler(BYTES, tuple).compile(Constraint(Kind.JSON_SCHEMA, text, key_order=order))
    matcher = grammar.matcher()
    for byte in written(names[:-1])[:-1] + b',"p':
        matcher.accept(byte)
    with pytest.raises(Violation):
        matcher.accept(ord("7"))  # was written
    for byte in b'1999":1}':
        matcher.accept(byte)
    assert matcher.forced() == (256,)
    assert grammar.size_bytes < 48 << 20
