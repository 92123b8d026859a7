"""Who may import whom. The arrows of docs/architecture.md, as a test."""

import ast
from pathlib import Path

import pytest

from tests.architecture.source import Module, imports, modules

# For each part of the tree, longest prefix first: what of ours it may import.
ALLOWED: dict[str, tuple[str, ...]] = {
    "intaglio.service.client": ("intaglio.service.client", "intaglio.schemas"),
    "intaglio.service": (
        "intaglio.service",
        "intaglio.schemas",
        "intaglio.engine.api",
        "intaglio.grammar.api",
    ),
    "intaglio.engine": ("intaglio.engine", "intaglio.grammar.api", "intaglio.kernels"),
    "intaglio.grammar": ("intaglio.grammar",),
    "intaglio.kernels": ("intaglio.kernels",),
    "intaglio.schemas": ("intaglio.schemas",),
    "intaglio": ("intaglio.service.client", "intaglio.service.offline.llm"),
}

# Third-party packages that a part must never load, not even lazily.
FORBIDDEN: dict[str, tuple[str, ...]] = {
    "intaglio.service.client": ("torch", "numpy", "triton", "starlette", "zmq", "msgspec"),
    "intaglio.service": ("torch", "triton", "xgrammar", "numba"),
    "intaglio.schemas": ("torch", "numpy", "triton", "starlette"),
    "intaglio.grammar": ("torch", "triton", "transformers"),
    "intaglio.engine.schedule": ("torch",),
    "intaglio.engine.memory": ("torch",),
    "intaglio": ("transformers",),
}

# Parts of the engine that must not know each other.
STRANGERS: dict[str, tuple[str, ...]] = {
    "intaglio.engine.run": ("intaglio.engine.sequence", "intaglio.engine.schedule"),
    "intaglio.engine.model": ("intaglio.engine.sequence", "intaglio.engine.schedule"),
    "intaglio.engine.schedule": ("intaglio.engine.run", "intaglio.engine.model"),
    "intaglio.engine.memory": ("intaglio.engine.run", "intaglio.engine.schedule"),
}


def within(name: str, prefix: str) -> bool:
    return name == prefix or name.startswith(prefix + ".")


def home(name: str) -> str:
    return max((prefix for prefix in ALLOWED if within(name, prefix)), key=len)


def breaches(module: Module) -> list[str]:
    """Every import of `module` that an arrow does not allow."""
    found = []
    for line, target, _ in imports(module):
        place = f"{module.path}:{line} imports {target}"
        if within(target, "intaglio"):
            if not any(within(target, allowed) for allowed in ALLOWED[home(module.name)]):
                found.append(f"{place}: not an arrow of the architecture")
            for part, strangers in STRANGERS.items():
                if within(module.name, part) and any(within(target, s) for s in strangers):
                    found.append(f"{place}: {part} must not know it")
        for part, packages in FORBIDDEN.items():
            if within(module.name, part) and target.split(".")[0] in packages:
                found.append(f"{place}: {part} must not load it")
    return found


def test_every_import_follows_an_arrow() -> None:
    assert [breach for module in modules() for breach in breaches(module)] == []


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("grammar/planted.py", "import torch"),
        ("grammar/planted.py", "from ..engine.types import Request"),
        ("kernels/planted.py", "from ..grammar.masks import words"),
        ("service/planted.py", "from ..engine.loop import Engine"),
        ("service/client/planted.py", "from ...engine.api import Engine"),
        ("service/client/planted.py", "def f():\n    import numpy"),
        ("engine/memory/planted.py", "import torch"),
        ("engine/run/planted.py", "from ..sequence import Sequence"),
    ],
)
def test_a_planted_breach_is_reported(path: str, line: str) -> None:
    name = ".".join(["intaglio", *Path(path).with_suffix("").parts])
    assert breaches(Module(name, Path(path), line, ast.parse(line)))
