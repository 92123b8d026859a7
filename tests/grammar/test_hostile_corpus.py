"""The hostile corpus, a part of it: in time and memory, with the right answer; and nothing stays behind."""

import os

import psutil
import pytest
from intaglio.grammar.api import Compiler, Constraint, Kind

from tests.conformance import hostile
from tests.conformance.cases import data_folder
from tests.conformance.children import Ended, Limits, spread
from tests.conformance.tokens import shared

FOLDER = data_folder()
EVERY = 14  # cases
pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(FOLDER is None, reason="needs ../shared"),
]
# What took longest or most while this was built.
WORST = {
    "js-allof-1000", "js-bound-nested-min", "js-key-100k", "js-required-props-3000", "js-enum-1e5",
    "js-optional-props-2000", "rx-surrogate",
}  # fmt: skip
# The machine that runs this may be slow, and busy with other tests: the report has the real limits.
LIMITS = Limits(cpu_s=30.0, wall_s=240.0, more_bytes=hostile.LIMITS.more_bytes)


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    made = Compiler(shared().vocabulary, shared().spell)
    made.warm()
    made.compile(Constraint(Kind.EBNF, 'root ::= "a" root "a" | "b" root "b" | ""'))
    return made


def sample() -> list[hostile.Case]:
    assert FOLDER is not None
    cases = [case for case in hostile.cases(FOLDER) if case.source is not None]
    return [c for number, c in enumerate(cases) if number % EVERY == 0 or c.name in WORST]


def test_each_case_ends_with_the_right_answer(compiler: Compiler) -> None:
    def judge(case: hostile.Case) -> hostile.Finding:
        return hostile.judge(compiler, shared(), case)

    wrong = {
        case.name: reply.answer if isinstance(reply.answer, Ended) else reply.answer.wrong
        for case, reply in spread(judge, sample(), LIMITS, 1)
    }
    assert not {name: found for name, found in wrong.items() if found}


def test_rounds_leave_no_memory_behind(compiler: Compiler) -> None:
    """H2 in small: the third round of the same cases takes no more than the second left."""
    process = psutil.Process(os.getpid())
    cases = [c for c in sample() if c.source is not None and len(c.source) < 2_000][:16]
    sizes = []
    for _ in range(4):
        for case in cases:
            hostile.judge(compiler, shared(), case)
        sizes.append(process.memory_info().rss)
    assert sizes[-1] - sizes[1] <= 16 << 20, sizes
