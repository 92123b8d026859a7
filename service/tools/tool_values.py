"""Tools and the choice among them, as frozen values.

Does: define them. Does not: read them from a protocol, or check schemas (`SchemaGate`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal


@dataclass(frozen=True, slots=True)
class Tool:
    """A function that the model may call.

    `parameters` is the JSON Schema of its arguments, an object; None stands for no arguments. `pointer` is the place
    of the schema in the request, for errors.
    """

    name: str
    description: str = ""
    parameters: Mapping[str, Any] | None = None
    pointer: str = ""

    @property
    def schema(self) -> dict[str, Any]:
        """The schema that arguments are enforced with: always that of an object."""
        if self.parameters is None:
            return {"type": "object", "properties": {}, "additionalProperties": False}
        return {"type": "object", **self.parameters}


@dataclass(frozen=True, slots=True)
class ToolChoice:
    """The tools that a model may or must call.

    `auto`: text, calls, or both. `required`: at least one call. `names`: the tools that may be called; None: all.
    `parallel`: whether one answer may have several calls.
    """

    mode: Literal["auto", "required"] = "auto"
    names: frozenset[str] | None = None
    parallel: bool = True


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call; `arguments` is the JSON text of an object."""

    id: str
    name: str
    arguments: str
