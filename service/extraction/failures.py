"""Failures of the engine and refusals of schemas, in the terms of the service.

Does: the exception for a failed request, the error code and the details of a refused schema. Does not: know HTTP
statuses (`problems`).
"""

from collections.abc import Mapping

from intaglio.engine import api as engine
from intaglio.grammar import api as grammar
from intaglio.schemas.problem import Code, Detail

from ..errors import GenerationFailed

REFUSAL_CODES: Mapping[type[grammar.GrammarError], Code] = {
    grammar.GrammarError: Code.INTERNAL,
    grammar.InvalidConstraint: Code.INVALID_SCHEMA,
    grammar.UnsupportedConstraint: Code.UNSUPPORTED_SCHEMA,
    grammar.ConstraintTooLarge: Code.SCHEMA_TOO_LARGE,
    grammar.TablesFull: Code.SCHEMA_TOO_LARGE,
    grammar.Unsatisfiable: Code.UNSATISFIABLE_SCHEMA,
    grammar.Violation: Code.INTERNAL,
    grammar.CompilerBusy: Code.OVERLOADED,
}
"""The error code for each class of grammar errors."""

_ENGINE_ERRORS: tuple[type[engine.EngineError], ...] = (
    engine.EngineError,
    engine.Refused,
    engine.TooLong,
    engine.BudgetTooSmall,
    engine.QueueFull,
    engine.InvalidRequest,
    engine.AdapterUnusable,
    engine.RequestQuarantined,
    engine.ModelError,
    engine.ConfigError,
    engine.InternalError,
    engine.EngineStopped,
    engine.EngineLost,
)


def refusal_code(error: grammar.GrammarError) -> Code:
    """The error code of a refused schema."""
    return next(REFUSAL_CODES[kind] for kind in type(error).__mro__ if kind in REFUSAL_CODES)


def refusal_details(error: grammar.GrammarError, below: str = "/schema") -> tuple[Detail, ...]:
    """The details of a refused schema, with JSON Pointers into the request body.

    `below` is the place of the schema in the body. An offset into a pattern or grammar, or a pointer into another
    document, is reported as it is if `below` is empty.
    """
    return tuple(
        Detail(
            pointer=below + (refusal.where if refusal.where.startswith("/") or not below else ""),
            keyword=refusal.keyword,
            reason=refusal.reason,
            hint=refusal.hint,
        )
        for refusal in error.refusals
    )


def request_error(failure: engine.Failure, budget: str = "options.max_tokens") -> Exception:
    """The exception for a request that the engine ended with `failure`, chosen by the failure's code.

    `budget` is the field of the request that states the budget, which the engine calls `max_tokens`.
    """
    if failure.code == engine.BudgetTooSmall.code:
        name = budget.rpartition(".")[2]
        message, hint = (
            text.replace("max_tokens", name) for text in (failure.message, failure.hint)
        )
        return engine.BudgetTooSmall(message, where=budget, hint=hint)
    for kind in _ENGINE_ERRORS:
        if kind.code == failure.code:
            return kind(failure.message, hint=failure.hint)
    for refusal in REFUSAL_CODES:
        if refusal.code == failure.code:
            hints = (grammar.Refusal("", "", failure.message, failure.hint),)
            return refusal(failure.message, hints if failure.hint else ())
    return GenerationFailed(failure.message, hint=failure.hint)
