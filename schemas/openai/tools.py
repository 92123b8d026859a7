"""The wire types of tools in OpenAI's chat completions: definitions, the choice among them, and earlier calls.

Does: define shapes and bounds. Does not: check parameters, or plan answers (`service/openai/tool_request.py`).
"""

from typing import Annotated, Any, Literal

from pydantic import Field, StringConstraints

from ..base import MAX_NAME_CHARACTERS, MAX_TEXT_CHARACTERS, Wire

MAX_TOOLS = 128

FunctionName = Annotated[str, StringConstraints(pattern=r"^[a-zA-Z0-9_.:-]{1,128}$")]


class FunctionDefinition(Wire):
    """A function that the model may call. `parameters` is the JSON Schema of its arguments, an object.

    The schema is enforced with and without `strict`.
    """

    name: FunctionName
    description: str | None = Field(default=None, max_length=MAX_TEXT_CHARACTERS)
    parameters: dict[str, Any] | None = None
    strict: bool | None = None


class ChatTool(Wire):
    """A tool that the model may use: a function."""

    type: Literal["function"]
    function: FunctionDefinition


class NamedFunction(Wire):
    """The name of a function."""

    name: FunctionName


class FunctionChoice(Wire):
    """The one function that must be called."""

    type: Literal["function"]
    function: NamedFunction


class AllowedTools(Wire):
    """The tools that may be called; with `required`, one of them must be."""

    mode: Literal["auto", "required"]
    tools: list[FunctionChoice] = Field(min_length=1, max_length=MAX_TOOLS)


class AllowedToolsChoice(Wire):
    """A choice that restricts the tools."""

    type: Literal["allowed_tools"]
    allowed_tools: AllowedTools


ToolChoiceField = Literal["none", "auto", "required"] | FunctionChoice | AllowedToolsChoice
"""No calls; calls or text; at least one call; calls of certain tools."""


class EarlierFunction(Wire):
    """A function as it was called. `arguments` is JSON text of an object."""

    name: FunctionName
    arguments: str = Field(max_length=MAX_TEXT_CHARACTERS)


class EarlierCall(Wire):
    """A call in an earlier answer. `index`, which clients may keep from a stream, has no effect."""

    id: str = Field(min_length=1, max_length=MAX_NAME_CHARACTERS)
    type: Literal["function"] = "function"
    function: EarlierFunction
    index: int | None = None


class ToolFields(Wire):
    """The fields of a request that let the model call tools.

    `tool_choice` is `auto` by default. With `parallel_tool_calls` false, an answer has one call at most.
    """

    tools: list[ChatTool] | None = Field(default=None, max_length=MAX_TOOLS)
    tool_choice: ToolChoiceField | None = None
    parallel_tool_calls: bool | None = None
