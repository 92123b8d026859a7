"""The safetensors files of a checkpoint: their names, and the tensors in them.

Does: open the files that the index names, and check that the index and the files agree. Does not: know which tensors a
model needs.
"""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

import torch
from intaglio.grammar.api import parse_json
from safetensors import SafetensorError, safe_open
from torch import Tensor

from ..errors import ModelError
from .checkpoint_json import read_object
from .file_spans import FileIdentity, Span
from .schemes.scheme import Stored

INDEX = "model.safetensors.index.json"
SINGLE = "model.safetensors"
LISTED = 12  # the most names that an error lists

CONVERTED = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
}
"""Dtypes of safetensors files that are converted to that of the model."""

UNCONVERTED = {
    "I8": torch.int8,
    "U8": torch.uint8,
    "I16": torch.int16,
    "U16": torch.uint16,
    "I32": torch.int32,
    "U32": torch.uint32,
    "I64": torch.int64,
    "U64": torch.uint64,
    "BOOL": torch.bool,
    "F8_E4M3": torch.float8_e4m3fn,
    "F8_E5M2": torch.float8_e5m2,
    "C64": torch.complex64,
}
"""Dtypes that are never converted: codes and small floats mean nothing without their scales."""


class _Handle(Protocol):
    """The methods used of an open safetensors file; the library's own types are less precise."""

    def keys(self) -> list[str]: ...

    def get_slice(self, name: str) -> Any: ...

    def get_tensor(self, name: str) -> Tensor: ...


@dataclass(frozen=True, slots=True)
class TensorFile:
    """One open safetensors file with tensors of these `names`. They are read on request.

    `begins` are the places of their first bytes, by the names in the file. `identity` is that of the file which has
    them there. `originals` are the names in the file of those tensors that have another one there.
    """

    path: Path
    handle: _Handle
    names: tuple[str, ...]
    begins: Mapping[str, int]
    identity: FileIdentity
    originals: Mapping[str, str] = field(default_factory=dict)

    def stored(self, name: str) -> Stored:
        """The shape of a tensor, and its dtype where it is never converted. Raises `ModelError` for other dtypes."""
        found = self.handle.get_slice(self.originals.get(name, name))
        kind = found.get_dtype()
        if kind not in CONVERTED and kind not in UNCONVERTED:
            raise ModelError(
                f"{name} in {self.path} is of {kind}, which is not supported", where=name
            )
        return Stored(tuple(found.get_shape()), UNCONVERTED.get(kind))

    def span(self, name: str) -> Span:
        """The place of a tensor in the file. Its dtype is one that `stored` accepts."""
        original = self.originals.get(name, name)
        found = self.handle.get_slice(original)
        dtype = (CONVERTED | UNCONVERTED)[found.get_dtype()]
        shape = tuple(found.get_shape())
        return Span(self.path, self.begins[original], shape, dtype, identity=self.identity)

    def tensor(self, name: str) -> Tensor:
        """The tensor of this name, on the host."""
        return self.handle.get_tensor(self.originals.get(name, name))

    def renamed(self, prefixes: Sequence[tuple[str, str]]) -> "TensorFile":
        """The file with the first matching prefix of each name replaced by its counterpart."""
        names = {name: name for name in self.names}
        for name in self.names:
            for old, new in prefixes:
                if name.startswith(old):
                    names[name] = new + name.removeprefix(old)
                    break
        originals = {new: old for old, new in names.items() if new != old}
        return replace(self, names=tuple(names.values()), originals=originals)


def files_by_tensor(
    folder: Path, prefixes: Sequence[tuple[str, str]] = ()
) -> dict[str, TensorFile]:
    """The file of each tensor of a checkpoint, by its name after `TensorFile.renamed`. Raises as `tensor_files`."""
    files = [file.renamed(prefixes) for file in tensor_files(folder)]
    found = {name: file for file in files for name in file.names}
    if len(found) < sum(len(file.names) for file in files):
        raise ModelError("two tensors of the checkpoint have the same name", where=str(folder))
    return found


def tensor_files(folder: Path) -> list[TensorFile]:
    """The opened files of a checkpoint: those of the index if there is one, else the single file.

    Raises:
        ModelError: a file is missing or damaged, or disagrees with the index.
    """
    index = folder / INDEX
    if not index.exists():
        return [open_tensors(folder / SINGLE)]
    weight_map = read_object(index).get("weight_map")
    if not isinstance(weight_map, dict) or not weight_map:
        raise ModelError(f"{index} has no usable weight_map", where=str(index))
    if not all(isinstance(name, str) for name in weight_map.values()):
        raise ModelError(f"{index} has no usable weight_map", where=str(index))
    names = sorted(set(weight_map.values()))
    if any(Path(name).name != name for name in names):
        raise ModelError(f"{index} points outside its folder", where=str(index))
    files = [open_tensors(folder / name) for name in names]
    held = {name: file.path.name for file in files for name in file.names}
    if held != weight_map:
        wrong = sorted(name for name, _ in held.items() ^ weight_map.items())
        raise ModelError(
            f"{index} disagrees with its files about {some_of(wrong)}", where=str(index)
        )
    return files


def open_tensors(path: Path) -> TensorFile:
    """The opened safetensors file. Raises `ModelError` if it is missing or damaged."""
    if not path.is_file():
        raise ModelError(
            f"there is no {path}",
            where=str(path),
            hint=f"a checkpoint has {SINGLE}, or {INDEX} and the files it names",
        )
    try:
        handle: _Handle = safe_open(str(path), framework="pt")
        begins, identity = _begins(path)
    except (SafetensorError, OSError, ValueError) as error:
        raise ModelError(f"cannot read {path}: {error}", where=str(path)) from error
    except (RuntimeError, MemoryError) as error:  # the file is mapped by the library, then by torch
        raise ModelError(
            f"cannot map {path} into memory: {str(error).splitlines()[0]}",
            where=str(path),
            hint="the limit of address space (`ulimit -v`) must allow the whole file",
        ) from error
    return TensorFile(path, handle, tuple(handle.keys()), begins, identity)


def _begins(path: Path) -> tuple[dict[str, int], FileIdentity]:
    """The place of each tensor's first byte, from a header that the library has checked, and the file's identity.

    Raises:
        ValueError: the header names a tensor twice, which the library does not notice.
    """
    with path.open("rb") as file:
        # The library has compared this number with the file's size.
        size = int.from_bytes(file.read(8), "little")
        header = parse_json(file.read(size).decode("utf-8"))
        identity = FileIdentity.of(os.fstat(file.fileno()))
    begins = {
        name: 8 + size + tensor["data_offsets"][0]
        for name, tensor in header.items()
        if name != "__metadata__"
    }
    return begins, identity


def some_of(names: Sequence[str]) -> str:
    """The first names, and the number of the others."""
    shown = ", ".join(names[:LISTED])
    return shown if len(names) <= LISTED else f"{shown} and {len(names) - LISTED} more"
