"""Many rules that call one another in a ring: none is refused, and each is looked at a few times only."""

from collections import Counter

import pytest
from intaglio.grammar.api import Constraint, Kind, screen
from intaglio.grammar.cfg.body import NondeterministicBody, without_left_recursion
from intaglio.grammar.cfg.order import components
from intaglio.grammar.contract.errors import ConstraintTooLarge

from tests.support.texts import Fate, fate


class Counted(dict[str, NondeterministicBody]):
    """Bodies that count how often each is read."""

    def __init__(self, bodies: dict[str, NondeterministicBody]) -> None:
        super().__init__(bodies)
        self.reads: Counter[str] = Counter()

    def __getitem__(self, name: str) -> NondeterministicBody:
        self.reads[name] += 1
        return super().__getitem__(name)


def ring(rules: int, each: str) -> str:
    """`rules` rules in a ring; `each` has the numbers {i} of a rule, {next} and {previous}."""
    lines = [each.format(i=i, next=(i + 1) % rules, previous=(i - 1) % rules) for i in range(rules)]
    return "\n".join(["root ::= r0", *(f"r{i} ::= {line}" for i, line in enumerate(lines))])


@pytest.mark.parametrize("rules", [40, 400])
@pytest.mark.parametrize(
    ("each", "whole", "refused"),
    [
        ('"a{i}" r{next} | "e{i}"', "a0a1a2e3", "a0a2e3"),
        ('r{next} "a{i}" | "e{i}"', "e3a2a1a0", "e3a1a0"),
        ('r{next} "a{i}" | "(" r{i} ")" | "e{i}"', "((e4)a3)a2a1a0", "((e4)a3)a1a0"),
        ('r{previous} "a{i}" | "(" r{i} ")" | "e{i}"', "(((e0)))", "(((e1)))"),
        ('r{next} | "(" r{i} ")" | "e{i}"', "((e4))", "((e4)"),
        ('"a{i}" r{next} "b{i}" | "e{i}"', "a0a1e2b1b0", "a0a1e2b0b1"),
    ],
)
def test_a_ring_of_rules_has_its_texts(rules: int, each: str, whole: str, refused: str) -> None:
    screened = screen(Constraint(Kind.EBNF, ring(rules, each)))
    assert fate(screened, whole) is Fate.WHOLE
    assert fate(screened, refused) is not Fate.WHOLE


def test_rules_that_begin_with_one_another_are_read_a_few_times_each() -> None:
    """Each rule was compared with each rule before it: 4 s for a thousand."""
    names = [f"r{i}" for i in range(1000)]
    bodies = Counted({
        name: NondeterministicBody(
            [{(names[(i + 1) % 1000], 1), (-1, 2)}, {(i, 2)}, set()], [False, False, True]
        )
        for i, name in enumerate(names)
    })  # fmt: skip
    without_left_recursion(bodies, names)
    assert max(bodies.reads.values()) <= 3
    assert {label for label, _ in bodies[names[-1]].arcs[0]} == {-1}


def test_left_recursion_that_needs_too_many_copies_is_refused() -> None:
    """Each body has copies of all before it, none too many by itself."""
    names = [f"r{i}" for i in range(1000)]
    bodies = {
        name: NondeterministicBody(
            [{(names[i - 1], 1), (-1, 2)}, {(i, 2)}, set()], [False, False, True]
        )
        for i, name in enumerate(names)
    }
    with pytest.raises(ConstraintTooLarge):
        without_left_recursion(bodies, names)


def test_a_chain_of_rules_is_put_callees_first() -> None:
    edges = {str(i): (str(i + 1),) if i < 2999 else ("2990",) for i in range(3000)}
    found = components(edges)
    assert [len(each) for each in found] == [10] + [1] * 2990
    assert found[1] == ("2989",)
