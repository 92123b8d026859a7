"""Errors for names and folders without a checkpoint that the engine loads, with hints how to get one.

Does: recognise ids of a hub, adapters and the formats of other engines, by file names and
`config.json`; raise `ModelError` with a hint. Does not: read weights; `model/weights.py` checks them.
"""

import json
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import ModelError
from .checkpoint_json import read_object

LOADABLE = (
    "Intaglio loads Llama, Mistral, Ministral, Qwen2 (also 2.5 and 2.5-VL), Qwen3 and Qwen3-VL, Gemma 2 and 3 (text), "
    "Phi-3 and 4, Granite 3, OLMo 2 and 3, OLMoE, SmolLM3, Mixtral, Qwen3-MoE, gpt-oss and DeepSeek-V2 and -V3 "
    "checkpoints whose weights are safetensors in bfloat16, float16 or float32, or quantised in the formats GPTQ, AWQ, "
    "AutoRound, FP8, MXFP4 (gpt-oss) or compressed-tensors"
)
_HUB = re.compile(
    r"(?:https?://)?(?:huggingface\.co/|hf\.co/|hf://|hf:)?([\w.-]+/[\w.-]+)(?:/(?:tree|resolve)/.*)?/?"
)
_PICKLED = re.compile(r"(pytorch_)?model.*\.bin|consolidated.*\.pth|.*\.(pt|ckpt)")
_READ = (".json", ".safetensors", ".model", ".jinja", ".txt", ".tiktoken")
_POINTER = b"version https://git-lfs"
_POINTER_BYTES = 1024


def no_folder(model: str) -> ModelError:
    """The error for a name that is not a folder: an id on a hub, a file, or a mistake."""
    path = Path(model).expanduser()
    if path.is_file():
        if path.suffix == ".gguf":
            return _gguf(model)
        return _error(
            f"{model!r} is a file, not the folder of a checkpoint", f"give {str(path.parent)!r}"
        )
    found = _HUB.fullmatch(model)
    if found is not None and not model.startswith((".", "/", "~")):
        name = found[1].rpartition("/")[2]
        return _unloadable(
            f"there is no folder {model!r}, and nothing is downloaded by itself",
            f"if it is on the Hugging Face hub, fetch it once: hf download {found[1]} --local-dir {name}, "
            f"then give the folder: {name}",
        )
    return _unloadable(
        f"there is no folder {model!r}",
        "give the folder of a downloaded checkpoint (hf download ORGANISATION/NAME --local-dir NAME), "
        "or 'embedded' for the model that comes with Intaglio",
    )


def refuse_unloadable(folder: Path) -> None:
    """Raise `ModelError` if `folder` does not contain weights in a format that the engine loads."""
    for error in _reasons(folder):
        raise error


def _reasons(folder: Path) -> Iterator[ModelError]:
    yield from _links(folder)
    files = sorted(path.name for path in folder.iterdir() if path.is_file())
    weights = [folder / name for name in files if name.endswith(".safetensors")]
    config = _config(folder)
    if "adapter_config.json" in files and "config.json" not in files:
        yield _adapter(folder)
    if not weights and any(name.endswith(".gguf") for name in files):
        yield _gguf(str(folder))
    if config.get("quantization") and not config.get("quantization_config"):
        yield _mlx()
    if not weights:
        yield from _other_weights(folder, files)
    for path in weights:
        if path.stat().st_size < _POINTER_BYTES and path.read_bytes().startswith(_POINTER):
            yield _error(
                f"{path} is a pointer of Git LFS, not the weights",
                f"fetch them: git -C {folder} lfs pull",
            )


def _links(folder: Path) -> Iterator[ModelError]:
    """Files of the checkpoint that are elsewhere, except in the store of the Hugging Face cache that holds `folder`."""
    home = folder.resolve()
    allowed = [home]
    if home.parent.name == "snapshots":
        allowed.append(home.parent.parent / "blobs")
    for path in sorted(folder.iterdir()):
        if path.suffix not in _READ or not path.is_symlink():
            continue
        target = Path(os.path.realpath(path))  # a link that leads to itself stays where it is
        if not any(target.is_relative_to(each) for each in allowed):
            yield _error(
                f"{path} is a link to {target}, out of its folder",
                "copy the file into the folder of the checkpoint",
            )
        if not path.exists():
            yield _error(f"{path} is a link to nothing", "fetch the checkpoint again")


def _other_weights(folder: Path, files: list[str]) -> Iterator[ModelError]:
    pickled = [name for name in files if _PICKLED.fullmatch(name)]
    others = [
        name for name in files if name.endswith((".onnx", ".h5", ".msgpack", ".npz", ".engine"))
    ]
    snapshots = sorted(folder.glob("snapshots/*/config.json"))
    if pickled:
        yield _unloadable(
            f"the weights in {folder} are pickled ({pickled[0]}), and reading them could run arbitrary code",
            "fetch the safetensors of this model, or convert it: transformers.AutoModelForCausalLM."
            f"from_pretrained({str(folder)!r}).save_pretrained('NEW_FOLDER'), and copy its tokenizer's files there",
        )
    if others:
        yield _unloadable(
            f"the weights in {folder} are in the format of another engine ({others[0]})",
            "fetch the model's original checkpoint with safetensors",
        )
    if snapshots:
        yield _error(
            f"{folder} is a folder of the Hugging Face cache, not of a checkpoint",
            f"give {str(snapshots[-1].parent)!r}",
        )
    if not files:
        yield _error(
            f"the folder {str(folder)!r} is empty", "hf download ORGANISATION/NAME --local-dir NAME"
        )


def _adapter(folder: Path) -> ModelError:
    try:
        base = json.loads((folder / "adapter_config.json").read_text("utf-8"))
        name = base.get("base_model_name_or_path") or "its base model"
    except (OSError, ValueError, AttributeError):
        name = "its base model"
    return _unloadable(
        f"{folder} holds an adapter (LoRA) for {name}, not a model",
        f"merge it into {name} first: peft.AutoPeftModelForCausalLM.from_pretrained({str(folder)!r})"
        ".merge_and_unload().save_pretrained('NEW_FOLDER'), and copy the base model's tokenizer there",
    )


def _gguf(model: str) -> ModelError:
    return _unloadable(
        f"{model!r} is GGUF, the format of llama.cpp, which Intaglio does not load",
        "fetch the original checkpoint that it was converted from, with safetensors",
    )


def _mlx() -> ModelError:
    return _unloadable(
        "the weights are quantised for MLX, which Intaglio does not load",
        "fetch the model's original checkpoint, or one in GPTQ, AWQ, FP8 or compressed-tensors",
        where="config.json",
    )


def _config(folder: Path) -> dict[str, Any]:
    try:
        return read_object(folder / "config.json")
    except ModelError:
        return {}  # `model/spec.py` reports the error


def _error(message: str, hint: str) -> ModelError:
    return ModelError(message, where="model", hint=hint)


def _unloadable(message: str, hint: str, where: str = "model") -> ModelError:
    return ModelError(message, where=where, hint=f"{hint}. {LOADABLE}")
