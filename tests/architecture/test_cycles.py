"""No import circles: between files, nor between packages. Imports in functions and under TYPE_CHECKING count."""

import ast
from collections.abc import Iterable, Mapping
from pathlib import Path

import pytest

from tests.architecture.source import Module, imports, modules

Graph = dict[str, set[str]]


def files(found: Iterable[Module]) -> Graph:
    """The imports among `found`: import name of a module -> import names of the modules it imports."""
    found = tuple(found)
    names = {module.name for module in found}
    graph: Graph = {name: set() for name in names}
    for module in found:
        for _, target, _ in imports(module):
            imported = target if target in names else target.rpartition(".")[0]
            if imported in names and imported != module.name:
                graph[module.name].add(imported)
    return graph


def packages(found: Iterable[Module]) -> Graph:
    """The same between packages. A module directly in a top-level folder is a package of its own."""
    found = tuple(found)
    package = {module.name: _package(module) for module in found}
    graph: Graph = {}
    for name, targets in files(found).items():
        graph.setdefault(package[name], set()).update(
            package[target] for target in targets if package[target] != package[name]
        )
    return graph


def _package(module: Module) -> str:
    is_package = module.path.name == "__init__.py"
    is_loose = len(module.path.parts) == 2
    return module.name if is_package or is_loose else module.name.rpartition(".")[0]


def circles(graph: Mapping[str, set[str]]) -> list[list[str]]:
    """The strongly connected components of more than one node (Tarjan 1972), sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for target in sorted(graph[node]):
            if target not in index:
                visit(target)
                low[node] = min(low[node], low[target])
            elif target in stack:
                low[node] = min(low[node], index[target])
        if low[node] == index[node]:
            component = stack[stack.index(node) :]
            del stack[stack.index(node) :]
            if len(component) > 1:
                found.append(sorted(component))

    for node in sorted(graph):
        if node not in index:
            visit(node)
    return sorted(found)


def test_no_files_import_each_other_in_a_circle() -> None:
    assert circles(files(modules())) == []


def test_no_packages_import_each_other_in_a_circle() -> None:
    assert circles(packages(modules())) == []


HIDDEN = {
    "at import": "from ..second.b import B",
    "in a function": "def f():\n    from ..second.b import B",
    "for types only": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from ..second.b import B",
}


@pytest.mark.parametrize("place", HIDDEN)
def test_a_planted_circle_is_reported(place: str) -> None:
    one = _planted("grammar/first/a.py", HIDDEN[place])
    other = _planted("grammar/second/b.py", "from ..first.a import A")
    assert circles(files((one, other))) == [[one.name, other.name]]
    assert circles(packages((one, other))) == [
        ["intaglio.grammar.first", "intaglio.grammar.second"]
    ]


def test_a_circle_of_packages_needs_no_circle_of_files() -> None:
    planted = (
        _planted("grammar/first/a.py", "from ..second.b import B"),
        _planted("grammar/second/b.py", ""),
        _planted("grammar/second/c.py", "from ..first.a import A"),
    )
    assert circles(files(planted)) == []
    assert circles(packages(planted)) == [["intaglio.grammar.first", "intaglio.grammar.second"]]


def _planted(path: str, text: str) -> Module:
    name = ".".join(["intaglio", *Path(path).with_suffix("").parts])
    return Module(name, Path(path), text, ast.parse(text))
