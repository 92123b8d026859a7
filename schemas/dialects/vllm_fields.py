"""Fields of vLLM: `structured_outputs`, and the older `guided_*`.

Does: define the shapes. Does not: turn them into constraints (`service/dialects/vllm.py`).
"""

from typing import Any

from pydantic import Field

from ..base import Wire


class StructuredOutputs(Wire):
    """A constraint as vLLM states it: exactly one of the first six fields.

    `json` is a schema, or its text. `grammar` is an EBNF grammar with the rule `root` or a Lark grammar with the rule
    `start`. `disable_any_whitespace`, `disable_fallback` and `disable_additional_properties` have no effect: answers
    have no white space outside strings, there is one implementation, and objects have the declared properties unless
    the schema asks for others. `whitespace_pattern` may be any of the usual ones, which allow no white space.
    """

    json_: dict[str, Any] | bool | str | None = Field(default=None, alias="json")
    regex: str | None = None
    choice: list[str] | None = None
    grammar: str | None = None
    json_object: bool | None = None
    structural_tag: str | dict[str, Any] | None = None
    whitespace_pattern: str | None = None
    disable_any_whitespace: bool = False
    disable_fallback: bool = False
    disable_additional_properties: bool = False


class VllmFields(Wire):
    """The fields of a request that vLLM adds to OpenAI's. `guided_decoding_backend` has no effect."""

    structured_outputs: StructuredOutputs | None = None
    guided_json: dict[str, Any] | bool | str | None = None
    guided_regex: str | None = None
    guided_choice: list[str] | None = None
    guided_grammar: str | None = None
    guided_decoding_backend: str | None = None
    guided_whitespace_pattern: str | None = None
