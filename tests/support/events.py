"""A strict reader of server-sent events: any deviation from the expected form is an error."""

import json
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Event:
    """One event: its name, and its data as JSON."""

    name: str
    data: Any


def events(lines: Iterable[str]) -> list[Event]:
    """The events in the lines of a stream. Comments are skipped."""
    found, name = [], ""
    for line in lines:
        if line.startswith("event: "):
            name = line.removeprefix("event: ")
        elif line.startswith("data: "):
            found.append(Event(name, json.loads(line.removeprefix("data: "))))
            name = ""
        else:
            assert line == "" or line.startswith(":"), line
    return found
