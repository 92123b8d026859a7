"""The plan of one answer that may call tools: its constraint and its reader.

Does: combine tools, choice and the constraint of answers without calls. Does not: examine the constraint
(`SchemaGate`) or render prompts (`tool_messages`).
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from intaglio.grammar.api import Constraint, Kind

from .tool_format import Format, ToolFormat
from .tool_reader import ToolReader
from .tool_values import Tool, ToolChoice


@dataclass(frozen=True, slots=True)
class ToolPlan:
    """The constraint of an answer that may call tools, and the format by which it is read.

    `places`: pairs of a JSON Pointer into the structural tag and the place in the request of the schema there; the
    place is empty for the constraint of the content. `shown`: the schema of a call, for templates that show it.
    """

    form: ToolFormat
    constraint: Constraint
    places: tuple[tuple[str, str], ...] = ()
    shown: dict[str, Any] | None = None

    def reader(self) -> ToolReader:
        """A new reader, for one answer."""
        return ToolReader(self.form)


def plan_tools(
    form: ToolFormat, tools: Sequence[Tool], choice: ToolChoice, content: Format | None = None
) -> ToolPlan:
    """The plan for `tools`, of which `choice` may name some. `content`: see `ToolFormat.answers`.

    Raises:
        ValueError: no tool may be called.
    """
    allowed = [tool for tool in tools if choice.names is None or tool.name in choice.names]
    if not allowed:
        raise ValueError("no tool may be called")
    answers = form.answers(allowed, choice, content)
    source = json.dumps({"type": "structural_tag", "format": answers}, ensure_ascii=False)
    # A function takes no argument that its parameters do not declare.
    constraint = Constraint(Kind.STRUCTURAL_TAG, source, extra_properties=False, short_numbers=True)
    places = tuple(_places(answers, "/format", form, allowed))
    shown = _call_schema(allowed) if form.shows_schema else None
    return ToolPlan(form, constraint, places, shown)


def _call_schema(tools: Sequence[Tool]) -> dict[str, Any]:
    """The schema of an object that calls one of the tools."""
    arguments = [
        {**(tool.parameters or {"type": "object"}), "description": tool.description or tool.name}
        for tool in tools
    ]
    return {
        "type": "object",
        "properties": {
            "name": {"enum": [tool.name for tool in tools]},
            "arguments": arguments[0] if len(arguments) == 1 else {"anyOf": arguments},
        },
        "required": ["name", "arguments"],
    }


def _places(
    node: Format, where: str, form: ToolFormat, tools: Sequence[Tool]
) -> Iterator[tuple[str, str]]:
    """The places of the schemas in a format."""
    match node["type"]:
        case "tag":
            names = [tool for tool in tools if node["begin"].endswith(tool.name + form.after_name)]
            tool = max(names, key=lambda each: len(each.name))
            yield f"{where}/content/json_schema", tool.pointer
        case "sequence" | "or":
            for number, inner in enumerate(node["elements"]):
                yield from _places(inner, f"{where}/elements/{number}", form, tools)
        case "repeat":
            yield from _places(node["content"], f"{where}/content", form, tools)
        case "json_schema":
            yield f"{where}/json_schema", ""
