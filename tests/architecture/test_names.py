"""One name, one thing: no public class name twice within a package, no module name twice."""

import ast
from collections import defaultdict
from collections.abc import Iterable
from pathlib import Path

from tests.architecture.source import Module, modules

# Names that every package may have, and folders with one file a format.
COMMON = {"__init__", "__main__", "api", "config", "errors", "setup"}
ONE_FILE_A_FORMAT = (Path("service/jobs/readers"), Path("service/jobs/writers"))
# Written once and generated twice: the asynchronous client and the synchronous one.
GENERATED = "_sync"


def classes_named_twice(found: Iterable[Module]) -> list[str]:
    """Public classes of one top-level folder that share a name."""
    places: dict[tuple[str, str], list[str]] = defaultdict(list)
    for module in found:
        if module.path.stem.startswith(GENERATED):
            continue
        for node in module.tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places[module.path.parts[0], node.name].append(str(module.path))
    return [
        f"{name}: {', '.join(sorted(paths))}"
        for (_, name), paths in sorted(places.items())
        if len(paths) > 1
    ]


def modules_named_twice(found: Iterable[Module]) -> list[str]:
    """Modules of the whole tree that share a file name."""
    places: dict[str, list[str]] = defaultdict(list)
    for module in found:
        if module.path.stem not in COMMON and module.path.parent not in ONE_FILE_A_FORMAT:
            places[module.path.stem].append(str(module.path))
    return [f"{', '.join(sorted(paths))}" for paths in places.values() if len(paths) > 1]


def test_no_public_class_name_stands_for_two_things_of_a_package() -> None:
    assert classes_named_twice(modules()) == []


def test_no_module_name_stands_for_two_modules() -> None:
    assert modules_named_twice(modules()) == []


def test_planted_homonyms_are_reported() -> None:
    planted = [
        _planted("grammar/first/plan.py", "class Plan: ..."),
        _planted("grammar/second/plan.py", "class Plan: ..."),
        _planted("engine/other.py", "class Plan: ..."),
        _planted("engine/errors.py", "class _Plan: ..."),
        _planted("grammar/errors.py", "class _Plan: ..."),
    ]
    assert classes_named_twice(planted) == ["Plan: grammar/first/plan.py, grammar/second/plan.py"]
    assert modules_named_twice(planted) == ["grammar/first/plan.py, grammar/second/plan.py"]


def _planted(path: str, text: str) -> Module:
    name = ".".join(["intaglio", *Path(path).with_suffix("").parts])
    return Module(name, Path(path), text, ast.parse(text))
