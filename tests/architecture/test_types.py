"""`make types` is strict, and as strict about tests as about the tree."""

import tomllib
from collections.abc import Mapping
from typing import Any

from tests.architecture.source import ROOT

# Tests that run in an environment of their own, with clients of others that are not installed here.
ELSEWHERE = "tests.conformance.clients.installed.*"
KEPT = "[tool.mypy]\nstrict = true\n"


def relaxations(settings: Mapping[str, Any]) -> set[str]:
    """Options of sections for modules of tests."""
    return {
        option
        for section in settings["tool"]["mypy"]["overrides"]
        if any(module.startswith("tests") for module in section["module"])
        and section["module"] != [ELSEWHERE]
        for option in section.keys() - {"module"}
    }


def test_tests_are_checked_as_strictly_as_the_tree() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert settings["tool"]["mypy"]["strict"] is True
    assert relaxations(settings) == set()
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert "\t$(BIN)/mypy build/typing/intaglio tests examples\n" in makefile


def test_another_relaxation_is_noticed() -> None:
    section = (
        '[[tool.mypy.overrides]]\nmodule = ["tests.engine.*"]\ndisallow_any_generics = false\n'
    )
    assert relaxations(tomllib.loads(KEPT + section)) == {"disallow_any_generics"}
