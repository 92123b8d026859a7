"""The tests of a module are found by its name, or by one table."""

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from tests.architecture.covered import COVERED
from tests.architecture.source import ROOT, imports, modules, parsed

UNNAMED = {"__init__", "__main__", "setup"}
STARTED_ONLY = {"service/cli/main.py"}  # the program itself: what it starts is tested by name


def modules_to_test() -> list[str]:
    """Paths of all modules but those that only collect names, start a program or build a package."""
    paths = [m.path.as_posix() for m in modules() if m.path.stem not in UNNAMED]
    return [path for path in paths if path not in STARTED_ONLY]


def named_test(module: str) -> list[str]:
    """Test files of the module's name, anywhere in the folder of its package."""
    path = Path(module)
    return files_of_tests(path.parts[0]).get(f"test_{path.stem}.py", [])


@cache
def files_of_tests(package: str) -> dict[str, list[str]]:
    """By name: the files of tests below the folder of a package."""
    found: dict[str, list[str]] = {}
    for file in (ROOT / "tests" / package).rglob("test_*.py"):
        found.setdefault(file.name, []).append(file.relative_to(ROOT).as_posix())
    return found


@cache
def imported_by_module() -> dict[str, tuple[str, ...]]:
    """By module: names that it imports, of modules or in them. Some packages load their modules by name."""
    found = {m.name: {name for _, name, _ in imports(m)} for m in modules()}
    for module in modules():
        package = module.name.rpartition(".")[0]
        if "importlib.import_module" in found.get(package, ()):
            found[package].add(module.name)
    return {name: tuple(names) for name, names in found.items()}


@cache
def imported_by_test(path: Path) -> tuple[str, ...]:
    """Names that a file of tests imports, of modules or in them."""
    names: list[str] = []
    for node in ast.walk(parsed(path)):
        if isinstance(node, ast.Import):
            names.extend(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            names.extend(f"{node.module}.{alias.name}" for alias in node.names)
    return tuple(names)


def parents(name: str) -> Iterator[str]:
    """`a.b.c`, `a.b` and `a`, of `a.b.c`."""
    parts = name.split(".")
    yield from (".".join(parts[:end]) for end in range(len(parts), 0, -1))


def file_of_tests(name: str) -> Path | None:
    """The file of a module below `tests`; None for other names."""
    path = ROOT / Path(*name.split(".")).with_suffix(".py")
    return path if name.startswith("tests.") and path.is_file() else None


@cache
def resolved(name: str) -> tuple[str, ...]:
    """The modules of the tree and the doubles that an import of `name` loads."""
    tree = imported_by_module()
    return tuple(each for each in parents(name) if each in tree or file_of_tests(each))


@cache
def loaded_by(module: str) -> frozenset[str]:
    """The modules of the tree and the doubles that a module, or a double, imports."""
    double = file_of_tests(module)
    names = imported_by_test(double) if double else imported_by_module()[module]
    return frozenset(each for name in names for each in resolved(name))


def reached(test: Path) -> set[str]:
    """Modules of the tree that a test imports: itself, through its doubles, or through what it imports of the tree."""
    files = (test, *test.parent.glob("conftest.py"))
    found = {each for file in files for name in imported_by_test(file) for each in resolved(name)}
    ahead = list(found)
    while ahead:
        new = loaded_by(ahead.pop()) - found
        found |= new
        ahead.extend(new)
    return found & imported_by_module().keys()


def test_every_module_has_a_test_of_its_name_or_a_line_in_the_table() -> None:
    lost = [m for m in modules_to_test() if not named_test(m) and m not in COVERED]
    assert lost == [], "name a test file after it, or say in covered.py which one covers it"


def test_the_table_names_modules_and_tests_that_exist() -> None:
    assert sorted(COVERED.keys() - set(modules_to_test())) == []
    assert [test for test in COVERED.values() if not (ROOT / test).is_file()] == []


def test_the_table_holds_nothing_that_names_say_already() -> None:
    named = {module: named_test(module) for module in COVERED}
    assert {m: found for m, found in named.items() if found and COVERED[m] not in found} == {}


def test_a_test_that_covers_a_module_imports_it_or_what_is_made_of_it() -> None:
    by_path = {module.path.as_posix(): module.name for module in modules()}
    known = {test: reached(ROOT / test) for test in sorted(set(COVERED.values()))}
    assert [(m, test) for m, test in COVERED.items() if by_path[m] not in known[test]] == []


def test_what_a_test_does_not_import_is_not_covered_by_it() -> None:
    schedule = reached(ROOT / "tests/engine/schedule/test_queue.py")
    assert "intaglio.engine.schedule.queue" in schedule
    assert "intaglio.service.http.access" not in schedule
