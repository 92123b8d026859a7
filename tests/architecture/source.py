"""The shipped source as syntax trees, for the tests that hold the architecture."""

import ast
import gc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "grammar", "kernels", "schemas", "service")


@dataclass(frozen=True)
class Module:
    """One source file: `name` is its import name, `path` is relative to the root."""

    name: str
    path: Path
    text: str
    tree: ast.Module

    @cached_property
    def nodes(self) -> tuple[ast.AST, ...]:
        """All nodes of the tree; a dozen tests go through them."""
        return tuple(ast.walk(self.tree))


@cache
def parsed(path: Path) -> ast.Module:
    """A file of tests or doubles as a syntax tree."""
    with _kept():
        return ast.parse(path.read_text(encoding="utf-8"))


def import_name(path: Path) -> str:
    """`engine/run/batch.py` -> `intaglio.engine.run.batch`."""
    parts = list(path.with_suffix("").parts)
    if parts[-1] == "__init__":
        parts.pop()
    if parts == ["service", "face"]:
        return "intaglio"
    return ".".join(["intaglio", *parts])


@cache
def modules() -> tuple[Module, ...]:
    """Every module of the five packages, parsed."""
    found = []
    with _kept():
        for package in PACKAGES:
            for file in sorted((ROOT / package).rglob("*.py")):
                path = file.relative_to(ROOT)
                text = file.read_text(encoding="utf-8")
                found.append(Module(import_name(path), path, text, ast.parse(text, str(path))))
    return tuple(found)


@contextmanager
def _kept() -> Iterator[None]:
    """Make objects that live until the end, millions of them: no collection goes through them, now or later."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if enabled:
            gc.enable()


@cache
def imports(module: Module) -> tuple[tuple[int, str, bool], ...]:
    """Line, absolute name and whether it runs at import time, of everything `module` imports."""
    return tuple(_imports(module))


def _imports(module: Module) -> Iterator[tuple[int, str, bool]]:
    package = module.name if module.path.name == "__init__.py" else module.name.rpartition(".")[0]
    found = [node for node in module.nodes if isinstance(node, ast.Import | ast.ImportFrom)]
    deferred = _deferred_nodes(module) if found else set()
    for node in found:
        at_import = id(node) not in deferred
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name, at_import
        else:
            base = package.split(".")
            if node.level:
                base = base[: len(base) - node.level + 1]
                source = ".".join([*base, node.module] if node.module else base)
            else:
                source = node.module or ""
            for alias in node.names:
                yield node.lineno, f"{source}.{alias.name}", at_import


def _deferred_nodes(module: Module) -> set[int]:
    """Nodes that do not run when the module is imported: inside functions, or under TYPE_CHECKING."""
    deferred: set[int] = set()
    for node in module.nodes:  # outer ones come first: what they hold is deferred already
        lazy = isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) or (
            isinstance(node, ast.If)
            and isinstance(node.test, ast.Name)
            and node.test.id == "TYPE_CHECKING"
        )
        if lazy and id(node) not in deferred:
            deferred.update(id(child) for child in ast.walk(node) if child is not node)
    return deferred
