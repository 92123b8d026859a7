"""Running one plan ahead stays a feature of few files: the engine without it is one constructor argument away."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from .source import Module, modules

TERMS = re.compile(r"placeholder|in_?flight|stale|one_?ahead", re.IGNORECASE)
MOST_FILES = 4
EXEMPT = {
    "intaglio.engine.host.build_engine",  # makes the pipeline that the settings ask for
    "intaglio.engine.host.connection",  # requests in flight at the death of a process
}


def identifiers(module: Module) -> Iterator[str]:
    """Names that a module defines, reads or imports."""
    for node in module.nodes:
        match node:
            case ast.Name(id=name) | ast.Attribute(attr=name) | ast.arg(arg=name):
                yield name
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name) | ast.alias(name=name):
                yield name


def traces(among: tuple[Module, ...]) -> set[str]:
    """Modules of the engine that name something of plans in flight."""
    return {
        module.name
        for module in among
        if module.name.startswith("intaglio.engine.")
        and module.name not in EXEMPT
        and any(TERMS.search(name) for name in identifiers(module))
    }


def test_plans_in_flight_are_known_to_few_files() -> None:
    found = traces(modules())
    assert 0 < len(found) <= MOST_FILES, sorted(found)


def test_a_planted_trace_is_found() -> None:
    source = "def commit(seq):\n    return seq.in_flight.samples\n"
    name = "intaglio.engine.schedule.planted"
    planted = Module(name, Path("engine/schedule/planted.py"), source, ast.parse(source))
    assert name in traces((*modules(), planted))
