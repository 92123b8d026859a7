"""`response_format` of OpenAI's chat completions, with the additions of other servers.

Does: define the shapes. Does not: turn them into constraints (`service/dialects/openai_format.py`).
"""

from typing import Any, Literal

from pydantic import ConfigDict, Field

from ..base import MAX_NAME_CHARACTERS, Wire

Schema = dict[str, Any] | bool


class JsonSchemaFormat(Wire):
    """A named JSON Schema. It is enforced with and without `strict`; `name` and `description` have no effect."""

    name: str = Field(default="", max_length=MAX_NAME_CHARACTERS)
    description: str | None = None
    schema_: Schema | None = Field(default=None, alias="schema")
    strict: bool | None = None


class ResponseFormat(Wire):
    """The form of an answer.

    `text` is free text, `json_object` a JSON object, `json_schema` JSON that is valid under a schema. `schema` next to
    `json_object` or `json_schema` is another place for the schema, as some servers have it. `structural_tag` is free
    text with constrained segments; its fields are passed on as they are.
    """

    model_config = ConfigDict(extra="allow")

    type: Literal["text", "json_object", "json_schema", "structural_tag"]
    json_schema: JsonSchemaFormat | None = None
    schema_: Schema | None = Field(default=None, alias="schema")


class OpenAIFormatField(Wire):
    """The field of a request that has the form of its answer."""

    response_format: ResponseFormat | None = None
