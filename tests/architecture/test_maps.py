"""The maps at the top of large packages name every module, once, and nothing else."""

import importlib
import re
from collections import Counter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ENTRY = re.compile(r"^ {4}(\w+) {2,}\S", re.MULTILINE)


@pytest.mark.parametrize("package", ["grammar", "grammar/jsonschema"])
def test_every_module_is_on_the_map(package: str) -> None:
    map_ = importlib.import_module(f"intaglio.{package.replace('/', '.')}").__doc__ or ""
    found = [*(ROOT / package).glob("*.py"), *(ROOT / package).glob("*/__init__.py")]
    there = {path.parent.name if path.stem == "__init__" else path.stem for path in found}
    there -= {Path(package).name, "api"}
    assert Counter(ENTRY.findall(map_)) == Counter(there)
