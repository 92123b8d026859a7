"""Every error has a status and a document, and no document says more than it should."""

import pytest
from intaglio.engine import api as engine
from intaglio.engine import errors as engine_errors
from intaglio.grammar import api as grammar
from intaglio.grammar.contract import errors as grammar_errors
from intaglio.schemas.problem import Code, ProblemDocument
from intaglio.service.errors import (
    ConstraintRefused,
    GenerationFailed,
    MethodNotAllowed,
    ServiceError,
)
from intaglio.service.extraction.failures import request_error
from intaglio.service.http.problems import STATUS, problem_response
from intaglio.service.jobs.records.errors import JobError
from intaglio.service.offline import load_errors


def tree(root: type[Exception]) -> set[type[Exception]]:
    """`root` and all that descend from it."""
    return {root}.union(*(tree(child) for child in root.__subclasses__()))


def public(root: type[Exception]) -> set[type[Exception]]:
    """All but those that only join an error of the engine to one of the SDK, for programs that use `LLM`."""
    return {
        kind
        for kind in tree(root)
        if not kind.__name__.startswith("_") and kind.__module__ != load_errors.__name__
    }


EVERY = sorted(
    public(engine_errors.EngineError)
    | public(grammar_errors.GrammarError)
    | public(ServiceError)
    | public(JobError),
    key=lambda kind: kind.__qualname__,
)


def make(kind: type[Exception]) -> Exception:
    if kind is MethodNotAllowed:
        return MethodNotAllowed("no", ("GET",))
    if kind is ConstraintRefused:
        return ConstraintRefused(grammar.InvalidConstraint("the message"), "/schema")
    return kind("the message")


def test_the_table_is_total_and_has_no_strangers() -> None:
    assert set(EVERY) == set(STATUS)


@pytest.mark.parametrize("kind", EVERY)
def test_an_error_has_a_document_with_its_code(kind: type[Exception]) -> None:
    status, code = STATUS[kind]
    reply = problem_response(make(kind), "req_1")
    assert reply.status == status
    problem = ProblemDocument.model_validate_json(reply.body(), strict=False).error
    assert problem.code is code
    assert problem.request_id == "req_1"
    assert problem.message
    assert 400 <= status < 600
    if issubclass(kind, ServiceError):
        assert kind.code is code, "the class and the table disagree"


@pytest.mark.parametrize("kind", EVERY)
def test_what_may_succeed_later_says_so(kind: type[Exception]) -> None:
    reply = problem_response(make(kind))
    if reply.status in (429, 503):
        assert reply.headers["retry-after"]
    if getattr(kind, "retryable", False):
        assert reply.problem.retryable


def test_every_code_that_is_not_of_a_job_can_occur() -> None:
    assert {code for _, code in STATUS.values()} == set(Code)


@pytest.mark.parametrize(
    "error",
    [
        RuntimeError("/home/secret/path"),
        KeyError("secret"),
        grammar.Violation("token secret"),
        engine.InternalError("0xsecret"),
    ],
)
def test_what_was_not_meant_for_users_is_not_told(error: Exception) -> None:
    reply = problem_response(error)
    assert reply.status == 500
    assert b"secret" not in reply.body()


def test_refusals_become_pointers_into_the_body() -> None:
    refusal = grammar.Refusal("/properties/a/not", "not", "is not enforced", "leave it out")
    problem = problem_response(grammar.UnsupportedConstraint("refused", (refusal,))).problem
    assert problem.param == "schema"
    assert problem.details[0].pointer == "/schema/properties/a/not"
    assert problem.details[0].keyword == "not"
    assert problem.hint == "leave it out"


@pytest.mark.parametrize("kind", EVERY)
def test_a_failure_from_the_engine_stands_for_the_error_of_its_code(kind: type[Exception]) -> None:
    if not issubclass(kind, engine.EngineError | grammar.GrammarError):
        return
    found = request_error(engine.Failure(kind.code, "words", "hint"))
    assert type(found) is kind


def test_a_failure_of_a_code_of_its_own_is_told_as_a_defect() -> None:
    found = request_error(
        engine.Failure("numerical_error", "the logits are not numbers", "try again")
    )
    assert type(found) is GenerationFailed
    assert problem_response(found).status == 500
    assert "logits" in problem_response(found).problem.message
