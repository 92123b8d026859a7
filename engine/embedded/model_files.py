"""The folder of the embedded model, with every file checked against the shipped manifest.

In a checkout the files are next to this module, in an installation in the package `intaglio_embedded`: the distribution
`intaglio` does not contain them, so that a client does not install them. `examples/train_embedded/seal.py` writes the
manifest. Loading the model is the engine's work.
"""

from __future__ import annotations

import hashlib
import json
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path

MANIFEST = "manifest.json"
PACKAGE = "intaglio_embedded"
FOLDER = "embedded"  # of that package; a model has the name of its folder


class MissingModel(RuntimeError):
    """The distribution with the model's files is not installed."""


class DamagedModel(RuntimeError):
    """A shipped file is missing or differs from the manifest."""


@lru_cache(maxsize=1)
def folder() -> Path:
    """The embedded model's folder, checked once per process.

    Raises:
        MissingModel: the model is not installed.
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
    """Return `model` if every file of its manifest is present and unchanged, else raise `DamagedModel`."""
    try:
        digests = json.loads((model / MANIFEST).read_text(encoding="utf-8"))["sha256"]
    except FileNotFoundError:
        raise DamagedModel(f"{model / MANIFEST} is missing: install the package again") from None
    for name, digest in digests.items():
        if not (model / name).is_file():
            raise DamagedModel(f"{model / name} is missing: install the package again")
        if sha256(model / name) != digest:
            raise DamagedModel(f"{model / name} is damaged or changed: install the package again")
    return model


def sha256(file: Path) -> str:
    """The SHA-256 of a file in hexadecimal."""
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
