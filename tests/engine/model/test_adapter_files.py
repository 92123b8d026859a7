"""Adapters in PEFT's format: what is read, and what is refused, by the name of its key or tensor."""

import json
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.errors import AdapterUnusable
from intaglio.engine.model.adapter_config import read_adapter_config
from intaglio.engine.model.adapter_files import adapter_digest, open_adapter
from intaglio.engine.model.adapter_layout import AdapterLayout
from intaglio.engine.model.adapter_report import check_adapter
from intaglio.engine.model.spec import parse_spec

from tests.support.tiny_adapter import PREFIX, adapter_tensors, write_adapter
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint
from tests.support.tiny_families import CONFIGS

Q = PREFIX + "model.layers.0.self_attn.q_proj"


def layout(config: dict[str, Any] = QWEN3, rank: int = 8) -> AdapterLayout:
    return AdapterLayout(parse_spec(config), rank)


def refusal(folder: Path) -> AdapterUnusable:
    with pytest.raises(AdapterUnusable) as caught:
        open_adapter(folder, layout())
    return caught.value


def test_matrices_are_read_to_their_places_with_the_scale(tmp_path: Path) -> None:
    tensors = adapter_tensors(QWEN3)
    files = open_adapter(write_adapter(tmp_path / "a", QWEN3, tensors=tensors), layout())
    flat = files.read(torch.float32)
    qkv = files.layout.products[0]
    down = flat[qkv.down :][: 3 * 8 * qkv.inputs].view(3, 8, qkv.inputs)
    up = flat[qkv.up :][: qkv.outputs * 8].view(qkv.outputs, 8)
    begin = 0
    for i, part in enumerate(qkv.parts):
        name = PREFIX + part.module
        assert torch.equal(down[i, :4], tensors[name + ".lora_A.weight"])
        assert not down[i, 4:].any()
        rows = up[begin : begin + part.outputs]
        assert torch.equal(rows[:, :4], 2 * tensors[name + ".lora_B.weight"])
        assert not rows[:, 4:].any()
        begin += part.outputs


def test_the_scale_of_rslora_is_alpha_over_the_root_of_the_rank(tmp_path: Path) -> None:
    write_adapter(tmp_path, QWEN3, rank=4, use_rslora=True, lora_alpha=6)
    assert read_adapter_config(tmp_path).scale == 6 / sqrt(4)
    write_adapter(tmp_path, QWEN3, rank=4, lora_alpha=6)
    assert read_adapter_config(tmp_path).scale == 6 / 4


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("peft_type", "IA3"),
        ("use_dora", True),
        ("bias", "all"),
        ("lora_bias", True),
        ("modules_to_save", ["lm_head"]),
        ("rank_pattern", {"q_proj": 8}),
        ("alpha_pattern", {"q_proj": 8}),
        ("fan_in_fan_out", True),
        ("layer_replication", [[0, 1]]),
        ("trainable_token_indices", [3]),
        ("init_lora_weights", "pissa_niter_16"),
        ("some_future_option", 1),
        ("r", 0),
        ("r", 2.5),
        ("r", 9),
        ("lora_alpha", "much"),
        ("target_modules", None),
        ("target_modules", []),
        ("target_modules", "(unclosed"),
        ("target_modules", "no_such_layer"),
        ("target_modules", ["q_proj", "lm_head"]),
        ("layers_to_transform", [-1]),
    ],
)
def test_an_unsupported_setting_is_refused_by_its_key(
    tmp_path: Path, key: str, value: object
) -> None:
    write_adapter(tmp_path, QWEN3)
    path = tmp_path / "adapter_config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), key: value}))
    error = refusal(tmp_path)
    assert error.where == key
    assert error.code == "adapter_unusable"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({Q + ".lora_B.weight": None}, f"missing {Q}.lora_B.weight"),
        ({Q + ".lora_A.weight": None, Q + ".lora_B.weight": None}, f"missing {Q}.lora_A.weight"),
        ({Q + ".lora_magnitude_vector": torch.ones(8)}, f"not used {Q}.lora_magnitude_vector"),
        ({PREFIX + "lm_head.weight": torch.ones(8)}, f"not used {PREFIX}lm_head.weight"),
        ({Q + ".lora_A.weight": torch.ones(3, 64)}, f"{Q}.lora_A.weight is [3, 64], not [4, 64]"),
        ({Q + ".lora_A.weight": torch.ones(4, 63)}, f"{Q}.lora_A.weight is [4, 63], not [4, 64]"),
        ({Q + ".lora_A.weight": torch.ones(4, 64, dtype=torch.int8)}, "wrong dtype"),
    ],
)
def test_a_tensor_that_does_not_fit_is_refused_by_name(
    tmp_path: Path, change: dict[str, torch.Tensor | None], named: str
) -> None:
    changed = {**adapter_tensors(QWEN3), **change}
    kept = {name: tensor for name, tensor in changed.items() if tensor is not None}
    write_adapter(tmp_path, QWEN3, tensors=kept)
    assert named in refusal(tmp_path).message


def test_an_adapter_of_some_layers_and_modules_is_read(tmp_path: Path) -> None:
    names = [f"model.layers.1.self_attn.{part}_proj" for part in "qv"]
    tensors = {
        name: tensor
        for name, tensor in adapter_tensors(QWEN3).items()
        if any(module in name for module in names)
    }
    changes: dict[str, Any] = {"target_modules": ["q_proj", "v_proj"], "layers_to_transform": [1]}
    folder = write_adapter(tmp_path, QWEN3, tensors=tensors, **changes)
    assert list(open_adapter(folder, layout()).modules) == names
    pattern: dict[str, Any] = {
        "target_modules": r"model\.layers\.1\..*\.[qv]_proj",
        "layers_to_transform": None,
    }
    folder = write_adapter(tmp_path, QWEN3, tensors=tensors, **pattern)
    assert list(open_adapter(folder, layout()).modules) == names


@pytest.mark.parametrize("missing", ["adapter_config.json", "adapter_model.safetensors"])
def test_a_missing_or_damaged_file_is_refused_by_name(tmp_path: Path, missing: str) -> None:
    write_adapter(tmp_path, QWEN3)
    (tmp_path / missing).write_bytes(b"rubbish")
    assert missing in refusal(tmp_path).message
    (tmp_path / missing).unlink()
    assert missing in refusal(tmp_path).message
    with pytest.raises(AdapterUnusable, match=missing):
        adapter_digest(tmp_path)


def test_a_report_names_rank_layers_and_content(tmp_path: Path) -> None:
    model = write_checkpoint(tmp_path / "m", QWEN3)
    one = check_adapter(model, write_adapter(tmp_path / "a", QWEN3), 8)
    other = check_adapter(model, write_adapter(tmp_path / "b", QWEN3, seed=1), 8)
    assert (one.rank, one.modules) == (4, 7 * QWEN3["num_hidden_layers"])
    assert one.digest != other.digest
    assert one == check_adapter(model, tmp_path / "a", 8)


@pytest.mark.parametrize("family", [name for name in CONFIGS if "phi" not in name])
def test_every_family_has_a_layout(family: str) -> None:
    found = layout(CONFIGS[family])
    assert found.size > 0
    assert found.modules
