"""What goes over the wire when a schema is explained.

Does: shapes. Does not: find anything out.
"""

from typing import Any, Literal

from pydantic import Field, model_validator

from .contract import Contract
from .problem import Code, Detail
from .wire import FormOptions, Wire, check_name


class ExplainRequest(Wire):
    """Body of `POST /v1/schemas/explain`: a JSON Schema (object or boolean), or the name of one in the catalogue."""

    schema_: dict[str, Any] | bool | str = Field(alias="schema")
    options: FormOptions = FormOptions()

    @model_validator(mode="after")
    def _schema_may_be_a_name(self) -> "ExplainRequest":
        check_name(self.schema_)
        return self


class KeywordReport(Wire):
    """One keyword at one place. `tier`: A, by the automaton; B, with a memory of what was written; C, judged at the end
    of the value; null, not enforced, and `reason` says why. `unknown`: the word itself is not known, and `hint` says
    what may have been meant.
    """

    pointer: str
    keyword: str
    tier: Literal["A", "B", "C"] | None
    reason: str = ""
    unknown: bool = False
    hint: str = ""


class PromptReport(Wire):
    """The text that the schema adds to a prompt."""

    text: str
    tokens: int


class CostReport(Wire):
    """`states` and `bytes` are what the compiled form holds at first: it grows as answers reach more of it.

    `first_mask_ms` is the time from the compiled form to the first set of legal tokens.
    """

    states: int | None
    bytes: int
    compile_ms: float
    first_mask_ms: float


class ExplainResult(Wire):
    """What becomes of a schema. Where it is refused, `code`, `message` and `refusals` say why, and only `keywords` and
    `prompt` are there besides.

    `contract` is what answers tell of the same, in short. `engine` is what follows an answer: `machine`, or `xgrammar`
    for what has no deterministic form, with `note`. `shortest` and `typical` are documents that the schema allows;
    tokens count the one that ends the answer.
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
