from concurrent.futures import Future

import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.grammars.constraints import Constraints, Opening
from intaglio.engine.plan import Change, Changes, Plan, SampledBatch, SampledToken, Work
from intaglio.engine.types import Failure, Finish
from intaglio.grammar.api import (
    CompiledGrammar,
    Constraint,
    Refusal,
    UnsupportedConstraint,
    allowed_tokens,
    empty_rows,
)

from tests.support.scripted import END_TOKENS, VOCAB, Script, ScriptedCompiler


def script(fault: str = "", at: int = 0) -> Script:
    """A script whose output begins with a choice."""
    for seed in range(1000):
        found = Script(seed, 6, fault=fault, at=at)
        if len(found.allowed([])) > 1:
            return found
    raise AssertionError("no seed begins with a choice")


def constraints(compiler: ScriptedCompiler | None = None) -> Constraints:
    return Constraints(
        compiler or ScriptedCompiler(at_once=True),
        end_tokens=END_TOKENS,
        rows=empty_rows(8, VOCAB),
    )


def opened(one: Constraints, seq_id: int, of: Script) -> Opening | Failure | None:
    told: list[int] = []
    one.compile(seq_id, of.constraint, 100, told.append)
    assert told == [seq_id]
    return one.open(seq_id)


def plan(*seq_ids: int, logits: int = 1) -> Plan:
    return Plan(1, works=tuple(Work(s, 0, (2,), logits=logits) for s in seq_ids))


def sampled(**tokens: int) -> SampledBatch:
    return SampledBatch(
        tuple(SampledToken(int(name[1:]), (token,)) for name, token in tokens.items())
    )


def test_rows_are_the_legal_tokens_of_those_who_get_one() -> None:
    one, rule = constraints(), script()
    assert opened(one, 5, rule) == Opening(7, ())
    masks = one.masks(plan(4, 5))
    assert masks.row_of == {5: 0}
    assert allowed_tokens(masks.rows[0], VOCAB).tolist() == rule.allowed([])
    assert one.masks(plan(5, logits=0)).row_of == {}
    assert one.masks(plan(4)).rows.shape == (0, 2)


def test_the_buffer_is_the_same_every_step() -> None:
    one = constraints()
    opened(one, 5, script())
    first, second = one.masks(plan(5)).rows, one.masks(plan(5)).rows
    assert first.base is second.base


def test_what_is_forced_is_accepted_already() -> None:
    one, rule = constraints(), script()
    opened(one, 5, rule)
    output = [rule.allowed([])[0]]
    for _ in range(20):
        one.masks(plan(5))
        forced = one.advance(sampled(s5=output[-1]))
        assert forced.failures == {}
        for token in forced.tokens.get(5, ()):
            assert rule.allowed(output) == [token]
            output.append(token)
        if output[-1] in END_TOKENS:
            break
        output.append(rule.allowed(output)[0])
    else:
        raise AssertionError("the grammar never ended")


@pytest.mark.parametrize("fault", ["zero", "fill", "refuse", "accept", "forced"])
def test_a_matcher_that_fails_ends_its_own_request_only(fault: str) -> None:
    one, good, bad = constraints(), script(), script(fault, at=1)
    if fault in ("zero", "fill", "refuse", "accept"):
        bad = script(fault, at=0)
    assert isinstance(opened(one, 1, good), Opening)
    assert isinstance(opened(one, 2, bad), Opening)
    masks = one.masks(plan(1, 2))
    assert all(row.any() for row in masks.rows)  # whoever samples needs no case for it
    forced = one.advance(sampled(s1=good.allowed([])[0], s2=bad.allowed([])[0]))
    assert forced.failures.keys() == {2}
    assert forced.failures[2].code == "internal_error"
    assert one.advance(SampledBatch()).failures == {}  # told once


def test_a_token_outside_the_mask_is_a_failure() -> None:
    one, rule = constraints(), script()
    opened(one, 1, rule)
    one.masks(plan(1))
    wrong = next(token for token in range(2, VOCAB) if token not in rule.allowed([]))
    failure = one.advance(sampled(s1=wrong)).failures[1]
    assert "refused a token that it allowed" in failure.message


def test_a_grammar_may_end_with_an_end_token_only() -> None:
    one, rule = constraints(), script("early", at=1)
    opened(one, 1, rule)
    failure = one.advance(sampled(s1=rule.allowed([])[0])).failures[1]
    assert failure.message == "the grammar ended without an end token"


def test_a_pick_without_a_token_moves_no_matcher() -> None:
    one = constraints()
    opened(one, 1, script())
    nan = SampledToken(1, (), failure=Failure("numerical_error", "nan"))
    forced = one.advance(SampledBatch((nan,)))
    assert (forced.tokens, forced.failures) == ({}, {})


class Refuses(ScriptedCompiler):
    """Fails as told: in the future, or at once."""

    def __init__(self, error: Exception, *, in_future: bool) -> None:
        super().__init__()
        self._error, self._in_future = error, in_future

    def submit(self, constraint: Constraint) -> Future[CompiledGrammar]:
        if not self._in_future:
            raise self._error
        future: Future[CompiledGrammar] = Future()
        future.set_exception(self._error)
        return future


UNSUPPORTED = UnsupportedConstraint(
    "this schema cannot be enforced",
    (Refusal("/properties/a", "uniqueItems", "is not enforced", "remove it"),),
)


@pytest.mark.parametrize("in_future", [True, False])
@pytest.mark.parametrize(
    ("error", "code", "message", "hint"),
    [
        (
            UNSUPPORTED,
            "unsupported_constraint",
            "this schema cannot be enforced: /properties/a uniqueItems: is not enforced",
            "remove it",
        ),
        (RuntimeError("boom"), "internal_error", "the grammar failed: RuntimeError: boom", ""),
    ],
)
def test_a_constraint_that_cannot_be_used_says_why(
    error: Exception, code: str, message: str, hint: str, *, in_future: bool
) -> None:
    failure = opened(constraints(Refuses(error, in_future=in_future)), 1, script())
    assert isinstance(failure, Failure)
    assert (failure.code, failure.message) == (code, message)
    assert hint in failure.hint


def test_a_cancelled_compilation_is_a_failure() -> None:
    compiler = ScriptedCompiler()
    one = constraints(compiler)
    told: list[int] = []
    one.compile(1, script().constraint, 100, told.append)
    compiler.cancel()
    assert told == [1]
    assert isinstance(one.open(1), Failure)


def test_who_has_ended_has_no_grammar() -> None:
    compiler = ScriptedCompiler()
    one = constraints(compiler)
    for seq_id in (1, 2):
        one.compile(seq_id, script().constraint, 100, lambda _: None)
    compiler.finish(lambda _: 0)
    one.open(1)
    with pytest.raises(InternalError, match="still has a grammar"):
        one.check(set())
    one.forget(Changes((Change(1, "a"), Change(2, "b", finish=Finish.ABORT))))
    one.check({1})
    one.forget(Changes((Change(1, "a", finish=Finish.STOP),)))
    one.check(set())
    compiler.finish(lambda _: 0)
    assert one.open(2) is None


def test_a_grammar_followed_ahead_returns_to_its_output() -> None:
    one, rule = constraints(), script()
    opened(one, 5, rule)
    row = empty_rows(1, VOCAB)[0]
    with one.ahead(5) as cursor:
        assert cursor is not None
        assert cursor.fill(row)
        assert allowed_tokens(row, VOCAB).tolist() == rule.allowed([])
        output = [rule.allowed([])[0]]
        output += cursor.advance(output[0]) or ()
        assert cursor.advance(VOCAB) is None  # illegal
        assert cursor.fill(row) == (output[-1] not in END_TOKENS)
        assert allowed_tokens(row, VOCAB).tolist() == rule.allowed(output)
    assert allowed_tokens(one.masks(plan(5)).rows[0], VOCAB).tolist() == rule.allowed([])
    with one.ahead(4) as cursor:
        assert cursor is None
