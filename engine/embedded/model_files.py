"""Finds the embedded model's folder, after checking every file against the shipped manifest.

The files lie beside this module in a checkout, and in the package `intaglio_embedded` once installed: the distribution
`intaglio` has none, so that a client does not bring them. The manifest is written by `examples/train_embedded/seal.py`.
Loading the model is the engine's work.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

MANIFEST = "manifest.json"
PACKAGE = "intaglio_embedded"
FOLDER = "embedded"  # of that package; models are called like their folders


class MissingModel(RuntimeError):
    """The distribution with the model's files is not installed."""


class DamagedModel(RuntimeError):
    """A shipped file is missing or is not the one the manifest names."""


@lru_cache(maxsize=1)
def folder() -> Path:
    """The embedded model's folder, checked once a process.

    Raises:
        MissingModel: it is not installed.
        DamagedModel: a file is missing or its SHA-256 differs from the manifest's.
    """
    here = Path(__file__).parent
    if (here / MANIFEST).is_file():
        return check(here)
    package = find_spec(PACKAGE)
    if package is None:
        raise MissingModel("the embedded model is not installed")
    return check(Path(next(iter(package.submodule_search_locations or ())), FOLDER))


def check(model: Path) -> Path:
    """Return `model` if every file of its manifest is there unchanged, else raise DamagedModel."""
    try:
        wanted = json.loads((model / MANIFEST).read_text(encoding="utf-8"))["sha256"]
    except FileNotFoundError:
        raise DamagedModel(f"{model / MANIFEST} is missing: install the package again") from None
    for name, digest in wanted.items():
        if not (model / name).is_file():
            raise DamagedModel(f"{model / name} is missing: install the package again")
        if sha256(model / name) != digest:
            raise DamagedModel(f"{model / name} is damaged or changed: install the package again")
    return model


def sha256(file: Path) -> str:
    """The SHA-256 of a file in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
