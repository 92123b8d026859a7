"""Broken checkpoints: each is refused before a tensor is read, by the name of the file, key or tensor that is the
reason, and never loads."""

import json
import os
import shutil
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.api import ModelError, check_checkpoint, model_folder
from safetensors.torch import load_file, save_file

from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

Break = Callable[[Path], object]
SHARD = "model-00001-of-00002.safetensors"
INDEX = "model.safetensors.index.json"
CONFIG = "config.json"
NORM = "model.norm.weight"


def config(**changes: Any) -> Break:
    """Other values in `config.json`."""
    return lambda at: (at / CONFIG).write_text(json.dumps({**LLAMA, **changes}))


def text(name: str, content: str | bytes) -> Break:
    """Another content of a file."""
    data = content if isinstance(content, bytes) else content.encode()
    return lambda at: (at / name).write_bytes(data)


def tensors(change: Callable[[dict[str, torch.Tensor]], object]) -> Break:
    """Other tensors in the only file of weights."""

    def apply(at: Path) -> None:
        without_weights(at)
        write_checkpoint(at, LLAMA)
        found = load_file(at / "model.safetensors")
        change(found)
        save_file(found, at / "model.safetensors")

    return apply


def without_weights(at: Path) -> None:
    for path in at.glob("model*"):
        path.unlink()


def index(change: Callable[[dict[str, Any]], object]) -> Break:
    """Another index."""

    def apply(at: Path) -> None:
        found = json.loads((at / INDEX).read_text())
        change(found["weight_map"])
        (at / INDEX).write_text(json.dumps(found))

    return apply


def header(change: Callable[[str], str]) -> Break:
    """Another header of a shard."""

    def apply(at: Path) -> None:
        data = (at / SHARD).read_bytes()
        (size,) = struct.unpack("<Q", data[:8])
        made = change(data[8 : 8 + size].decode()).encode()
        made += b" " * (-len(made) % 8)
        (at / SHARD).write_bytes(struct.pack("<Q", len(made)) + made + data[8 + size :])

    return apply


def elsewhere(name: str) -> Break:
    """A file that is a link out of the folder."""

    def apply(at: Path) -> None:
        shutil.move(at / name, at.parent / "moved")
        (at / name).symlink_to(at.parent / "moved")

    return apply


def replaced(name: str, make: Callable[[Path], object]) -> Break:
    """Something else in place of a file."""

    def apply(at: Path) -> None:
        (at / name).unlink()
        make(at / name)

    return apply


def _repeat_first_tensor(found: str) -> str:
    """The header with its first tensor named a second time."""
    parsed = json.loads(found)
    name = next(name for name in parsed if name != "__metadata__")
    return found[:-1] + f",{json.dumps(name)}:{json.dumps(parsed[name])}}}"


def _overlap(found: str) -> str:
    """The header with all tensors at the place of the first."""
    parsed = json.loads(found)
    names = [name for name in parsed if name != "__metadata__"]
    first = parsed[names[0]]["data_offsets"]
    return json.dumps(
        {name: {**parsed[name], "data_offsets": first} for name in names}, separators=(",", ":")
    )


def _negative(found: str) -> str:
    """The header with a negative size."""
    return found.replace('"shape":[', '"shape":[-', 1)


BROKEN: dict[str, tuple[Break, str]] = {
    "no config": (lambda at: (at / CONFIG).unlink(), "there is no"),
    "config is a folder": (replaced(CONFIG, Path.mkdir), "there is no"),
    "config is a pipe": (replaced(CONFIG, os.mkfifo), "there is no"),
    "config is cut off": (text(CONFIG, '{"architectures": ["Llama'), "cannot read"),
    "config is empty": (text(CONFIG, ""), "cannot read"),
    "config is binary": (text(CONFIG, b"\xff\xfe\x00"), "cannot read"),
    "config is a list": (text(CONFIG, "[1]"), "is not a JSON object"),
    "config is nested a million times": (text(CONFIG, "[" * 1000000), "cannot read"),
    "config has NaN": (config(rms_norm_eps=float("nan")), "NaN is not JSON"),
    "config has infinity": (config(rope_theta=float("inf")), "Infinity is not JSON"),
    "config overflows": (
        text(CONFIG, json.dumps(LLAMA).replace("1e-05", "1e999")),
        "1e999 is out of range",
    ),
    "config repeats a key": (
        text(CONFIG, '{"hidden_size": 64, "hidden_size": 65}'),
        "'hidden_size' occurs twice",
    ),
    "unknown architecture": (config(architectures=["MambaForCausalLM"]), "MambaForCausalLM"),
    "vision model": (config(architectures=["Gemma3ForConditionalGeneration"]), "Gemma3For"),
    "no architecture": (config(architectures=[]), "architectures must name one model"),
    "architecture is no text": (config(architectures=[{}]), "architectures must name one model"),
    "negative size": (config(hidden_size=-64), "hidden_size must be a positive integer"),
    "fractional size": (config(intermediate_size=160.5), "intermediate_size must be"),
    "no layers": (config(num_hidden_layers=0), "num_hidden_layers must be"),
    "a billion layers": (config(num_hidden_layers=10**9), "num_hidden_layers is 1000000000"),
    "a vocabulary of a trillion": (config(vocab_size=10**12), "vocab_size is"),
    "a context of a trillion": (
        config(max_position_embeddings=10**12),
        "max_position_embeddings is",
    ),
    "heads are no multiple": (config(num_key_value_heads=3), "cannot share 3 key heads"),
    "more heads than elements": (config(num_attention_heads=128), "head_dim"),
    "unknown activation": (config(hidden_act="relu2"), "hidden_act 'relu2'"),
    "activation is a list": (config(hidden_act=["silu"]), "hidden_act"),
    "unknown rotation": (config(rope_scaling={"rope_type": "mrope"}), "rope type 'mrope'"),
    "rotation by nothing": (config(rope_scaling={"type": "linear", "factor": 0}), "factor must"),
    "rotation is a text": (config(rope_scaling="yarn"), "rope_scaling must be an object"),
    "epsilon of zero": (config(rms_norm_eps=0), "rms_norm_eps must be a positive number"),
    "bitsandbytes": (config(quantization_config={"quant_method": "bitsandbytes"}), "bitsandbytes"),
    "no weights": (without_weights, "there is no"),
    "a missing shard": (lambda at: (at / SHARD).unlink(), SHARD),
    "a shard is a folder": (replaced(SHARD, Path.mkdir), SHARD),
    "a shard is a pipe": (replaced(SHARD, os.mkfifo), SHARD),
    "a shard is empty": (text(SHARD, b""), f"cannot read .*{SHARD}"),
    "a shard is garbage": (text(SHARD, b"\x93NUMPY" * 200), f"cannot read .*{SHARD}"),
    "a shard is cut off": (
        lambda at: (at / SHARD).write_bytes((at / SHARD).read_bytes()[:-1]),
        f"cannot read .*{SHARD}",
    ),
    "a shard has a tail": (
        lambda at: (at / SHARD).write_bytes((at / SHARD).read_bytes() + b"\0" * 64),
        f"cannot read .*{SHARD}",
    ),
    "a header longer than the file": (
        text(SHARD, struct.pack("<Q", 2**62) + b"{}" * 600),
        f"cannot read .*{SHARD}",
    ),
    "a header that is no JSON": (header(lambda found: found[:-1]), f"cannot read .*{SHARD}"),
    "a header with a negative size": (header(_negative), f"cannot read .*{SHARD}"),
    "a header with tensors in one place": (header(_overlap), f"cannot read .*{SHARD}"),
    "a header that repeats a tensor": (header(_repeat_first_tensor), "occurs twice"),
    "a header with an unknown type": (
        header(lambda found: found.replace('"F32"', '"F31"', 1)),
        f"cannot read .*{SHARD}",
    ),
    "the index is no JSON": (text(INDEX, "{"), "cannot read"),
    "the index has no map": (text(INDEX, "{}"), "no usable weight_map"),
    "the index maps to numbers": (index(lambda map_: map_.update(a=1)), "no usable weight_map"),
    "the index repeats a tensor": (
        text(INDEX, '{"weight_map": {"a": "b", "a": "c"}}'),
        "'a' occurs twice",
    ),
    "the index leads out": (index(lambda map_: map_.update({NORM: "../a"})), "outside its folder"),
    "the index leads to a root": (
        index(lambda map_: map_.update({NORM: "/etc/passwd"})),
        "outside its folder",
    ),
    "the index names another tensor": (index(lambda map_: map_.update(other=SHARD)), "other"),
    "the index forgets a tensor": (index(lambda map_: map_.pop(NORM)), NORM),
    "weights are a link out": (elsewhere(SHARD), f"{SHARD} is a link to"),
    "the config is a link out": (elsewhere(CONFIG), f"{CONFIG} is a link to"),
    "a missing tensor": (tensors(lambda found: found.pop(NORM)), f"missing {NORM}"),
    "an unknown tensor": (
        tensors(lambda found: found.update(extra=torch.zeros(2))),
        "not used extra",
    ),
    "a layer too many": (
        tensors(
            lambda found: found.update({"model.layers.2.input_layernorm.weight": torch.ones(64)})
        ),
        r"not used model\.layers\.2\.input_layernorm\.weight",
    ),
    "a wrong shape": (
        tensors(lambda found: found.update({NORM: torch.ones(65)})),
        rf"{NORM} is \[65\], not \[64\]",
    ),
    "a wrong rank": (
        tensors(lambda found: found.update({NORM: torch.ones(1, 64)})),
        rf"{NORM} is \[1, 64\], not \[64\]",
    ),
    "integers": (
        tensors(lambda found: found.update({NORM: torch.ones(64, dtype=torch.int8)})),
        f"{NORM} is of int8",
    ),
    "8-bit floats": (
        tensors(lambda found: found.update({NORM: torch.ones(64).to(torch.float8_e4m3fn)})),
        f"{NORM} is of float8",
    ),
    "booleans": (
        tensors(lambda found: found.update({NORM: torch.ones(64, dtype=torch.bool)})),
        f"{NORM} is of bool",
    ),
    "complex numbers": (
        tensors(lambda found: found.update({NORM: torch.ones(64, dtype=torch.complex64)})),
        f"{NORM} is of complex64",
    ),
    "no tensors": (tensors(dict.clear), "missing lm_head.weight"),
    "pointers of Git LFS": (text(SHARD, b"version https://git-lfs.github.com/spec"), "Git LFS"),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("whole") / "model", LLAMA, shards=2)


def test_the_whole_checkpoint_is_accepted(whole: Path) -> None:
    report = check_checkpoint(model_folder(whole))
    assert (report.architecture, report.files) == ("LlamaForCausalLM", 2)


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_checkpoint_is_refused_by_name(name: str, whole: Path, tmp_path: Path) -> None:
    breaks, message = BROKEN[name]
    folder = shutil.copytree(whole, tmp_path / "model")
    breaks(folder)
    with pytest.raises(ModelError, match=message):
        check_checkpoint(model_folder(folder))


def test_links_within_the_folder_and_into_the_store_of_a_cache_are_followed(
    whole: Path, tmp_path: Path
) -> None:
    """The Hugging Face cache holds files in `blobs` and links to them in `snapshots`."""
    snapshot = tmp_path / "models--a--b" / "snapshots" / "c0ffee"
    blobs = tmp_path / "models--a--b" / "blobs"
    snapshot.mkdir(parents=True)
    blobs.mkdir()
    for number, path in enumerate(sorted(whole.iterdir())):
        shutil.copy(path, blobs / str(number))
        (snapshot / path.name).symlink_to(Path("..") / ".." / "blobs" / str(number))
    assert check_checkpoint(model_folder(snapshot)).files == 2
    folder = shutil.copytree(whole, tmp_path / "model")
    shutil.move(folder / SHARD, folder / "kept")
    (folder / SHARD).symlink_to("kept")
    assert check_checkpoint(model_folder(folder)).files == 2
