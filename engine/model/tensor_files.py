"""The safetensors files of a checkpoint: their names, and the tensors in them.

Does: open the files that the index names, and check that the index and the files agree. Does not: know which tensors a
model needs.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..errors import ModelError
from .schemes.scheme import Stored

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
LISTED = 12  # the most names that an error lists

# Dtypes of safetensors files that are never converted.
INTEGERS = {
    "I8": torch.int8,
    "U8": torch.uint8,
    "I16": torch.int16,
    "I32": torch.int32,
    "I64": torch.int64,
    "BOOL": torch.bool,
}


class _Handle(Protocol):
    """The methods used of an open safetensors file; the library's own types are less precise."""

    def keys(self) -> list[str]: ...

    def get_slice(self, name: str) -> Any: ...

    def get_tensor(self, name: str) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class TensorFile:
    """One open safetensors file with tensors of these `names`. They are read on request."""

    path: Path
    handle: _Handle
    names: tuple[str, ...]

    def stored(self, name: str) -> Stored:
        """The shape of a tensor, and its dtype where it is never converted."""
        found = self.handle.get_slice(name)
        return Stored(tuple(found.get_shape()), INTEGERS.get(found.get_dtype()))

    def tensor(self, name: str) -> Tensor:
        """The tensor of this name, on the host."""
        return self.handle.get_tensor(name)


def tensor_files(folder: Path) -> list[TensorFile]:
    """The opened files of a checkpoint: those of the index if there is one, else the single file.

    Raises:
        ModelError: a file is missing or damaged, or disagrees with the index.
    """
    index = folder / INDEX
    if not index.exists():
        return [_open(folder / SINGLE)]
    try:
        weight_map = json.loads(index.read_text(encoding="utf-8"))["weight_map"]
        names = sorted(set(weight_map.values()))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ModelError(f"{index} has no usable weight_map", where=str(index)) from error
    if any(Path(name).name != name for name in names):
        raise ModelError(f"{index} points outside its folder", where=str(index))
    files = [_open(folder / name) for name in names]
    held = {name: file.path.name for file in files for name in file.names}
    if held != weight_map:
        wrong = sorted(name for name, _ in held.items() ^ weight_map.items())
        raise ModelError(
            f"{index} disagrees with its files about {some_of(wrong)}", where=str(index)
        )
    return files


def _open(path: Path) -> TensorFile:
    if not path.is_file():
        raise ModelError(
            f"there is no {path}",
            where=str(path),
            hint=f"a checkpoint has {SINGLE}, or {INDEX} and the files it names",
        )
    try:
        handle: _Handle = safe_open(str(path), framework="pt")
    except (SafetensorError, OSError) as error:
        raise ModelError(f"cannot read {path}: {error}", where=str(path)) from error
    return TensorFile(path, handle, tuple(handle.keys()))


def some_of(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    shown = ", ".join(names[:LISTED])
    return shown if len(names) <= LISTED else f"{shown} and {len(names) - LISTED} more"
