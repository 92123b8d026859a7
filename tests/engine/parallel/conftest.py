"""Checkpoints of tiny models, which tests divide among ranks."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.tiny_checkpoint import LLAMA, write_checkpoint
from tests.support.tiny_families import CONFIGS


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], Path]:
    """The folder of the checkpoint of a family, written when it is first asked for."""
    root = tmp_path_factory.mktemp("divided")

    def make(name: str) -> Path:
        path = root / name
        if not path.exists():
            write_checkpoint(path, {"llama": LLAMA, **CONFIGS}[name], shards=2, seed=0)
        return path

    return make
