"""The wire format of tool calls: the text by which a family of models calls tools.

Does: build the structural tag of all answers that a choice allows. Does not: read answers (`tool_reader`).
"""

import json
import secrets
import string
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from intaglio.grammar.api import Whitespace

from .tool_values import Tool, ToolChoice

Format = dict[str, Any]
"""A format of a structural tag; the notation is in docs/grammars.md."""

_ID_LETTERS: Final = string.ascii_letters + string.digits


@dataclass(frozen=True, slots=True)
class ToolFormat:
    """The texts around calls: `opening` `call` (`between` `call`)* `closing`, without anything after them.

    A call is `before_name` NAME `after_name` ARGUMENTS `after_arguments`. `trigger`, with which `opening` and the first
    call begin, ends the content of the answer; where `only_at_start`, calls are possible in place of content only.
    `openings` are alternatives. `several`: whether the models can make several calls in one answer. `id_length`: the
    length of ids, letters and digits, that chat templates require; None: `call_` and 24 of them. `whitespace`: that of
    the arguments, as the models were trained to write them; the default is what Python's `json.dumps` writes.
    `shows_schema`: the chat template shows the schema of the answer, not the tools, so it gets the schema of a call;
    where the answer has a form of its own, and calls are not required, none is made.
    """

    name: str
    trigger: str
    before_name: str
    after_name: str
    after_arguments: str
    between: str = ""
    openings: tuple[str, ...] = ("",)
    closing: str = ""
    only_at_start: bool = False
    several: bool = True
    id_length: int | None = None
    whitespace: Whitespace = Whitespace.SPACED
    shows_schema: bool = False

    def answers(self, tools: Sequence[Tool], choice: ToolChoice, content: Format | None) -> Format:
        """The answers that a choice allows. `content`: the format of answers without calls; None: free text."""
        calls = self._calls(tools, choice)
        if choice.mode == "required":
            return _sequence([_text(self.trigger), *calls])
        if content is not None:
            return _either([content, _sequence([_text(self.trigger), *calls])])
        if self.only_at_start:
            other = {"type": "regex", "pattern": f"(?!{_escaped(self.trigger)})[\\s\\S]*"}
            return _either([other, _sequence([_text(self.trigger), *calls])])
        before: Format = {"type": "any_text"}
        plain = {"type": "any_text", "excludes": [self.trigger]}
        return _either([plain, _sequence([before, _text(self.trigger), *calls])])

    def written(self, arguments: Any) -> str:
        """Arguments as the models write them."""
        marks = (",", ":") if self.whitespace is Whitespace.COMPACT else (", ", ": ")
        return json.dumps(arguments, ensure_ascii=False, separators=marks)

    def new_id(self) -> str:
        """A random id for a call."""
        if self.id_length is None:
            return "call_" + "".join(secrets.choice(_ID_LETTERS) for _ in range(24))
        return "".join(secrets.choice(_ID_LETTERS) for _ in range(self.id_length))

    def _calls(self, tools: Sequence[Tool], choice: ToolChoice) -> list[Format]:
        """All after the trigger."""
        again = _either([self._call(tool, self.before_name) for tool in tools])
        first = []
        for opening in self.openings:
            head = (opening + self.before_name).removeprefix(self.trigger)
            first += [self._call(tool, head) for tool in tools]
        most = None if self.several and choice.parallel else 0
        more = {"type": "repeat", "content": _sequence([_text(self.between), again]), "max": most}
        return [_either(first), *([] if most == 0 else [more]), _text(self.closing)]

    def _call(self, tool: Tool, head: str) -> Format:
        schema = {
            "type": "json_schema",
            "json_schema": tool.schema,
            "whitespace": self.whitespace.value,
        }
        begin = f"{head}{tool.name}{self.after_name}"
        return {"type": "tag", "begin": begin, "content": schema, "end": self.after_arguments}


def _text(text: str) -> Format:
    return {"type": "const_string", "value": text}


def _sequence(elements: list[Format]) -> Format:
    return {"type": "sequence", "elements": elements}


def _either(elements: list[Format]) -> Format:
    return elements[0] if len(elements) == 1 else {"type": "or", "elements": elements}


def _escaped(text: str) -> str:
    return "".join(f"\\{char}" if char in "\\^$.*+?()[]{}|/" else char for char in text)
