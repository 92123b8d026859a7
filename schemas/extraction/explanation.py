"""The wire types of schema explanations.

Does: define them. Does not: examine schemas.
"""

from typing import Any, Literal

from pydantic import Field, model_validator

from ..base import Wire
from ..problem import Code, Detail
from .contract import Contract
from .requests import FormOptions, check_name


class ExplainRequest(Wire):
    """Body of `POST /v1/schemas/explain`: a JSON Schema (object or boolean), or the name of one in the catalogue."""

    schema_: dict[str, Any] | bool | str = Field(alias="schema")
    options: FormOptions = FormOptions()

    @model_validator(mode="after")
    def _schema_may_be_a_name(self) -> "ExplainRequest":
        check_name(self.schema_)
        return self


class KeywordReport(Wire):
    """One keyword at one place.

    `tier` is how it is enforced: A, by the automaton; B, with a memory of earlier output; C, at the end of the value;
    null, not enforced, with the `reason`. `unknown`: the keyword itself is unknown, and `hint` suggests the intended
    one.
    """

    pointer: str
    keyword: str
    tier: Literal["A", "B", "C"] | None
    reason: str = ""
    unknown: bool = False
    hint: str = ""


class PromptReport(Wire):
    """The schema's text in a prompt."""

    text: str
    tokens: int


class CostReport(Wire):
    """The costs of compilation. `states` and `bytes` are the initial size of the compiled form, which grows as answers
    reach more of it.

    `first_mask_ms` is the time from the compiled form to the first mask.
    """

    states: int | None
    bytes: int
    compile_ms: float
    first_mask_ms: float


class ExplainResult(Wire):
    """The report on a schema.

    A refused schema has `code`, `message` and `refusals`, and otherwise only `keywords` and `prompt`. `contract` is the
    short form that answers carry. `engine` is the matcher: `machine`, or `earley` for a grammar without a
    deterministic form, with a `note`. `shortest` and `typical` are documents that the schema allows; their token counts
    include the end token.
    """

    enforced: bool
    code: Code | None = None
    message: str = ""
    refusals: tuple[Detail, ...] = ()
    keywords: tuple[KeywordReport, ...] = ()
    contract: Contract = Contract()
    engine: str = ""
    note: str = ""
    cost: CostReport | None = None
    least_tokens: int | None = None
    typical_tokens: int | None = None
    shortest: str | None = None
    typical: str | None = None
    prompt: PromptReport | None = None
