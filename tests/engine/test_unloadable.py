"""Names and folders without a checkpoint: the error names the kind and how to get one."""

from collections.abc import Callable
from pathlib import Path

import pytest
from intaglio.engine.api import ModelError, model_folder
from intaglio.engine.model.unloadable import LOADABLE

HUB = "hf download Qwen/Qwen2.5-7B-Instruct --local-dir Qwen2.5-7B-Instruct"


@pytest.mark.parametrize(
    "name",
    [
        "Qwen/Qwen2.5-7B-Instruct",
        "https://huggingface.co/Qwen/Qwen2.5-7B-Instruct",
        "https://huggingface.co/Qwen/Qwen2.5-7B-Instruct/tree/main",
        "hf.co/Qwen/Qwen2.5-7B-Instruct",
    ],
)
def test_an_id_on_the_hub_is_told_how_to_fetch_it(name: str) -> None:
    with pytest.raises(ModelError, match="nothing is downloaded by itself") as caught:
        model_folder(name)
    assert HUB in caught.value.hint
    assert LOADABLE in caught.value.hint


@pytest.mark.parametrize("name", ["gpt2", "llama3.1:8b", "./models/mine", "/models/mine", "~/mine"])
def test_a_folder_that_is_not_there_is_no_id(name: str) -> None:
    with pytest.raises(ModelError, match="there is no folder") as caught:
        model_folder(name)
    assert "hf download ORGANISATION/NAME" in caught.value.hint


Make = Callable[[Path], object]


@pytest.mark.parametrize(
    ("make", "message", "hint"),
    [
        (lambda at: (at / "a-Q4_K_M.gguf").touch(), "GGUF", "original checkpoint"),
        (
            lambda at: [
                (at / "adapter_config.json").write_text('{"base_model_name_or_path": "a/base"}'),
                (at / "adapter_model.safetensors").touch(),
            ],
            "adapter (LoRA) for a/base",
            "merge",
        ),
        (
            lambda at: (at / "config.json").write_text('{"quantization": {"bits": 4}}'),
            "quantised for MLX",
            "GPTQ",
        ),
        (lambda at: (at / "pytorch_model.bin").touch(), "pickled", "safetensors"),
        (lambda at: (at / "pytorch_model-00001-of-2.bin").touch(), "pickled", "save_pretrained"),
        (lambda at: (at / "consolidated.00.pth").touch(), "pickled", "safetensors"),
        (lambda at: (at / "model.onnx").touch(), "another engine", "safetensors"),
        (
            lambda at: (at / "model.safetensors").write_bytes(b"version https://git-lfs.github\n"),
            "pointer of Git LFS",
            "lfs pull",
        ),
        (
            lambda at: [
                (at / "snapshots" / "abc").mkdir(parents=True),
                (at / "snapshots" / "abc" / "config.json").touch(),
            ],
            "Hugging Face cache",
            "snapshots/abc",
        ),
        (
            lambda at: (at / "a.safetensors").symlink_to("a.safetensors"),
            "a link to nothing",
            "again",
        ),
        (lambda at: (at / "config.json").symlink_to("gone"), "a link to nothing", "again"),
        (lambda _: None, "is empty", "hf download"),
    ],
)
def test_a_folder_of_something_else_is_named(
    make: Make, message: str, hint: str, tmp_path: Path
) -> None:
    make(tmp_path)
    with pytest.raises(ModelError) as caught:
        model_folder(tmp_path)
    assert message in caught.value.message
    assert hint in caught.value.hint


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    (tmp_path / "m.gguf").touch()
    with pytest.raises(ModelError, match="GGUF"):
        model_folder(tmp_path / "m.gguf")
    (tmp_path / "model.safetensors").touch()
    with pytest.raises(ModelError, match="is a file") as caught:
        model_folder(tmp_path / "model.safetensors")
    assert str(tmp_path) in caught.value.hint


def test_what_training_leaves_beside_the_weights_does_not_matter(tmp_path: Path) -> None:
    for name in ("model.safetensors", "training_args.bin", "optimizer.pt", "adapter_config.json"):
        (tmp_path / name).write_bytes(b"\0" * 2000)
    (tmp_path / "config.json").write_text("{}")
    assert model_folder(tmp_path) == tmp_path
