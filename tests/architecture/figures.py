"""Figures of the layout, for comparison between two checkouts: `python -m tests.architecture.figures [ROOT]`.

Prints one table: packages, loose modules, large files, import circles, long parameter lists, homonyms, tests by name.
"""

import ast
import sys
from collections import Counter
from pathlib import Path

from tests.architecture.source import PACKAGES, ROOT, Module, import_name
from tests.architecture.test_cycles import circles, files, packages
from tests.architecture.test_names import classes_named_twice, modules_named_twice

Function = ast.FunctionDef | ast.AsyncFunctionDef


def read(root: Path) -> list[Module]:
    """Every module of the five packages of a checkout."""
    found = []
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            path, text = file.relative_to(root), file.read_text("utf-8")
            found.append(Module(import_name(path), path, text, ast.parse(text)))
    return found


def long_signatures(found: list[Module]) -> int:
    """Functions with more than six parameters."""
    functions = (n for m in found for n in ast.walk(m.tree) if isinstance(n, Function))
    return sum(
        len(f.args.posonlyargs) + len(f.args.args) + len(f.args.kwonlyargs) > 6 for f in functions
    )


def figures(root: Path) -> dict[str, object]:
    """The rows of the table."""
    found = read(root)
    named = {path.stem.removeprefix("test_") for path in (root / "tests").rglob("test_*.py")}
    plain = [m for m in found if m.path.stem != "__init__"]
    loose = Counter(m.path.parts[0] for m in plain if len(m.path.parts) == 2)
    return {
        "modules": len(plain),
        "packages": len({m.path.parent for m in found}),
        **{f"loose modules in {name}/": loose[name] for name in PACKAGES},
        "files over 300 lines": sum(m.text.count("\n") > 300 for m in found),
        "circles between files": len(circles(files(found))),
        "files in the largest circle": max(map(len, circles(files(found))), default=0),
        "circles between packages": len(circles(packages(found))),
        "functions with over 6 parameters": long_signatures(found),
        "class names used twice": len(classes_named_twice(found)),
        "module names used twice": len(modules_named_twice(found)),
        "modules with a test of their name": sum(m.path.stem in named for m in plain),
    }


if __name__ == "__main__":
    for name, value in figures(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT).items():
        print(f"{name:36} {value!s:>6}")
