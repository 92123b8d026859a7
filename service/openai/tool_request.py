"""The tools of a request: from OpenAI's fields to the plan of an answer that may call them.

Does: read definitions and choices of both of OpenAI's interfaces, combine them with the constraint of the answer, and
check calls when an answer is complete. Does not: render prompts (`tool_messages`).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from intaglio.grammar.api import Kind
from intaglio.schemas.openai.tools import (
    AllowedToolsChoice,
    ChatTool,
    FunctionChoice,
    ToolChoiceField,
    ToolFields,
)

from ..dialects.stated import Stated, refused
from ..generation.answer_check import check_json
from ..tools.tool_format import Format, ToolFormat
from ..tools.tool_plan import ToolPlan, plan_tools
from ..tools.tool_reader import read_whole
from ..tools.tool_values import Tool, ToolChoice

_CONTENT_KINDS: Final = {
    Kind.REGEX: ("regex", "pattern"),
    Kind.EBNF: ("grammar", "grammar"),
    Kind.LARK: ("lark", "lark"),
}


@dataclass(frozen=True, slots=True)
class ToolUse:
    """The tools of one request: those that the prompt describes, and the plan of the answer.

    `stated` is the constraint of the plan, with the place of the tools.
    """

    tools: tuple[Tool, ...]
    plan: ToolPlan
    stated: Stated
    content: Stated | None = None

    def is_cut_off(self, text: str) -> bool:
        """Whether a text that its budget ended is free text, which might have continued."""
        return self.content is None and not read_whole(self.plan.reader(), text)[1]

    def check(self, text: str) -> None:
        """Return if the calls in a whole answer are valid, or its content where it calls nothing.

        Raises:
            InvalidOutput: they are not.
        """
        content, calls = read_whole(self.plan.reader(), text)
        schemas: dict[str, dict[str, Any] | bool] = {tool.name: tool.schema for tool in self.tools}
        for call in calls:
            # `false` has no valid value: a tool that may not be called has no valid arguments.
            check_json(call.arguments, schemas.get(call.name, False))
        if not calls and self.content is not None and self.content.schema is not None:
            check_json(content, self.content.schema)


def chat_tool_use(fields: ToolFields, form: ToolFormat, content: Stated | None) -> ToolUse | None:
    """The tools of a chat completion; None if none may be called. `content`: the constraint of the content.

    Raises:
        InvalidBody: two tools have the same name, a choice names an unknown tool, or `parameters` is not the
            schema of an object.
    """
    tools = tuple(
        _chat_tool(tool, f"/tools/{number}") for number, tool in enumerate(fields.tools or ())
    )
    choice = _chat_choice(fields.tool_choice, parallel=fields.parallel_tool_calls is not False)
    return tool_use(tools, choice, form, content)


def tool_use(
    tools: tuple[Tool, ...], choice: ToolChoice | None, form: ToolFormat, content: Stated | None
) -> ToolUse | None:
    """The use of tools under a choice; None if none may be called.

    Raises:
        InvalidBody: see `chat_tool_use`.
    """
    _require_names(tools)
    if choice is None:
        return None
    known = {tool.name for tool in tools}
    for name in sorted(choice.names or ()):
        if name not in known:
            raise refused("/tool_choice", f"there is no tool {name!r}", "name one of tools")
    if not tools:
        if choice.mode == "required":
            raise refused("/tool_choice", "needs tools", "give tools, or omit it")
        return None
    if form.shows_schema and content is not None and choice.mode == "auto":
        # The prompt shows one schema, that of the content: the model knows of no call, and need make none.
        return None
    plan = plan_tools(form, tools, choice, None if content is None else content_format(content))
    own = "" if content is None else content.pointer
    places = tuple((inner, pointer or own) for inner, pointer in plan.places)
    return ToolUse(tools, plan, Stated("/tools", plan.constraint, places=places), content)


def chosen(mode: str, names: Iterable[str] | None, *, parallel: bool) -> ToolChoice:
    """A choice of a protocol. One that names tools without a mode of its own has the mode `required`."""
    only = None if names is None else frozenset(names)
    return ToolChoice("required" if mode == "required" else "auto", only, parallel)


def require_object(tool: Tool) -> Tool:
    """The tool, if its parameters are the schema of an object.

    Raises:
        InvalidBody: they are not.
    """
    kind = (tool.parameters or {}).get("type", "object")
    if kind != "object":
        raise refused(f"{tool.pointer}/type", 'must be "object": arguments are an object')
    return tool


def content_format(content: Stated) -> Format:
    """The constraint of an answer's content as a part of a structural tag.

    Raises:
        InvalidBody: the constraint cannot be combined with tools.
    """
    constraint = content.constraint
    if content.schema is not None:
        return {"type": "json_schema", "json_schema": content.schema}
    if constraint.kind in _CONTENT_KINDS:
        kind, name = _CONTENT_KINDS[constraint.kind]
        return {"type": kind, name: constraint.source}
    raise refused(content.pointer, "cannot be combined with tools", "omit it, or omit tools")


def _chat_tool(tool: ChatTool, place: str) -> Tool:
    given = tool.function
    pointer = f"{place}/function/parameters"
    return require_object(Tool(given.name, given.description or "", given.parameters, pointer))


def _chat_choice(given: ToolChoiceField | None, *, parallel: bool) -> ToolChoice | None:
    if given == "none":
        return None
    if isinstance(given, FunctionChoice):
        return chosen("required", [given.function.name], parallel=False)
    if isinstance(given, AllowedToolsChoice):
        allowed = given.allowed_tools
        names = [tool.function.name for tool in allowed.tools]
        return chosen(allowed.mode, names, parallel=parallel)
    return chosen(given or "auto", None, parallel=parallel)


def _require_names(tools: Sequence[Tool]) -> None:
    seen: set[str] = set()
    for tool in tools:
        if tool.name in seen:
            place = tool.pointer.removesuffix("/parameters")
            raise refused(f"{place}/name", f"two tools are called {tool.name!r}")
        seen.add(tool.name)
