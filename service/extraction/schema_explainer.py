"""Reports of how a schema is enforced: the findings of the grammar and the schema's text in the prompt.

Does: combine both for HTTP and the command line. Does not: compile (`intaglio.grammar`) or write outlines (`outline`).
"""

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any

from intaglio.grammar.api import (
    Compiler,
    Constraint,
    Explanation,
    Finding,
    InvalidConstraint,
    explain,
    judge,
)
from intaglio.schemas.extraction.explanation import (
    CostReport,
    ExplainResult,
    KeywordReport,
    PromptReport,
)

from .enforcement import contract_of
from .failures import refusal_code, refusal_details
from .outline import outline
from .text_model import TextModel


class Explainer:
    """Explains constraints for the vocabulary of one model. Safe to share between threads."""

    def __init__(
        self, text: TextModel, isolated: Callable[[Constraint], Explanation] | None = None
    ) -> None:
        """`isolated` explains untrusted constraints outside this process; it does not count tokens."""
        self._text = text
        self._isolated = isolated

    def of(self, constraint: Constraint, schema: Mapping[str, Any] | bool | None) -> ExplainResult:
        """The report on a constraint; `schema` is the parsed value of a JSON Schema, else None."""
        if self._isolated is None:
            found = explain(self._compiler, constraint)
            return report(found, self._prompt(found, schema))
        found = self._isolated(constraint)
        prompt = self._prompt(found, schema)
        least, typical = self._tokens(found.shortest), self._tokens(found.typical)
        return report(replace(found, least_tokens=least, typical_tokens=typical), prompt)

    def _prompt(
        self, found: Explanation, schema: Mapping[str, Any] | bool | None
    ) -> PromptReport | None:
        """The outline that the prompt shows; None if the value is not a schema."""
        if not isinstance(schema, Mapping) or isinstance(found.error, InvalidConstraint):
            return None
        shape = outline(schema)
        return PromptReport(text=shape, tokens=len(self._text.tokenizer.encode(shape)))

    def _tokens(self, text: str | None) -> int | None:
        """Tokens of a whole output, including the end token."""
        return None if text is None else len(self._text.tokenizer.canonical(text.encode())) + 1

    @cached_property
    def _compiler(self) -> Compiler:
        compiler = Compiler(self._text.vocabulary, self._text.tokenizer.canonical)
        compiler.warm()
        return compiler


def judge_constraint(constraint: Constraint) -> ExplainResult:
    """The report on a constraint without a model: whether and how it can be enforced. No costs, samples or tokens."""
    return report(judge(constraint), None)


def report(found: Explanation, prompt: PromptReport | None) -> ExplainResult:
    """The wire form of an explanation."""
    cost = found.cost
    return ExplainResult(
        enforced=found.error is None,
        code=None if found.error is None else refusal_code(found.error),
        message="" if found.error is None else found.error.message,
        refusals=() if found.error is None else refusal_details(found.error, below=""),
        keywords=tuple(map(_keyword, found.findings)),
        contract=contract_of(found.coverage),
        engine=found.engine,
        note=found.note,
        cost=None
        if cost is None
        else CostReport(
            states=cost.states,
            bytes=cost.size_bytes,
            compile_ms=_ms(cost.compile_s),
            first_mask_ms=_ms(cost.first_mask_s),
        ),
        least_tokens=found.least_tokens,
        typical_tokens=found.typical_tokens,
        shortest=found.shortest,
        typical=found.typical,
        prompt=prompt,
    )


def _keyword(found: Finding) -> KeywordReport:
    return KeywordReport(
        pointer=found.where,
        keyword=found.keyword,
        tier=found.tier,
        reason=found.reason,
        unknown=found.unknown,
        hint=found.hint,
    )


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
