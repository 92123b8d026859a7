"""The folder of a quantised checkpoint: weights in the source's files, the configuration, the tokenizer.

Does: write all of it next to its final name, then rename. Does not: round (`written_formats`).
"""

import json
import shutil
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from safetensors.torch import save_file
from torch import Tensor

from ..errors import ModelError
from ..model.checkpoint_json import read_object
from ..model.tensor_files import INDEX, SINGLE, tensor_files

UNFINISHED = ".unfinished"
LEFT_OUT = (".safetensors", ".bin", ".pt", ".pth", ".gguf", ".h5", ".msgpack", ".onnx", ".py")
"""Endings of files with weights in other formats, and with code, which no engine should need."""

Rounded = Callable[[str, Tensor], Mapping[str, Tensor]]
"""From the name of a matrix and the matrix to the tensors that replace it, by suffix."""


def write_quantized(
    source: Path, out: Path, names: Sequence[str], rounded: Rounded, config: Mapping[str, Any]
) -> int:
    """Write the checkpoint `source` to the new folder `out`, its matrices `names` replaced; returns bytes of weights.

    `config` is the value of `quantization_config`. A run that is cut off leaves a folder with another name.

    Raises:
        ModelError: `out` exists, or cannot be written.
    """
    if out.exists():
        raise ModelError(
            f"{out} exists already", where=str(out), hint="name a new folder, or remove this one"
        )
    building = out.with_name(out.name + UNFINISHED)
    try:
        shutil.rmtree(building, ignore_errors=True)
        building.mkdir(parents=True)
        size = _write_weights(source, building, frozenset(names), rounded)
        described = {**read_object(source / "config.json"), "quantization_config": dict(config)}
        (building / "config.json").write_text(json.dumps(described, indent=2) + "\n")
        _copy_others(source, building)
        building.rename(out)
    except OSError as error:
        raise ModelError(
            f"cannot write {out}: {error.strerror or error}", where=str(out)
        ) from error
    return size


def _write_weights(source: Path, out: Path, names: frozenset[str], rounded: Rounded) -> int:
    weight_map: dict[str, str] = {}
    size = 0
    for file in tensor_files(source):
        tensors: dict[str, Tensor] = {}
        for name in file.names:
            matrix = name.removesuffix(".weight")
            if matrix in names and name != matrix:
                found = rounded(matrix, file.tensor(name))
                tensors |= {matrix + suffix: tensor for suffix, tensor in found.items()}
            else:
                tensors[name] = file.tensor(name)
        kept = {name: tensor.cpu().contiguous() for name, tensor in tensors.items()}
        save_file(kept, out / file.path.name, metadata={"format": "pt"})
        shutil.copymode(file.path, out / file.path.name)
        weight_map |= dict.fromkeys(kept, file.path.name)
        size += sum(tensor.nbytes for tensor in kept.values())
    if set(weight_map.values()) != {SINGLE}:
        index = {"metadata": {"total_size": size}, "weight_map": weight_map}
        (out / INDEX).write_text(json.dumps(index, indent=2) + "\n")
    return size


def _copy_others(source: Path, out: Path) -> None:
    """Copy tokenizer, chat template and licence: every file that holds neither weights nor code."""
    for path in sorted(source.iterdir()):
        skipped = path.name in (INDEX, "config.json") or path.name.endswith(LEFT_OUT)
        if path.is_file() and not skipped:
            shutil.copyfile(path, out / path.name)
