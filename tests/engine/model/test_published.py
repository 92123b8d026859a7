"""Quantised checkpoints as published: each format is read bit by bit, and unsupported ones are refused by name."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.errors import ConfigError, ModelError
from intaglio.engine.model.decoder import Decoder
from intaglio.engine.model.layers import GatedMlp
from intaglio.engine.model.schemes.published import METHODS
from intaglio.engine.model.schemes.stored_codes import FEW, Int4Weight
from intaglio.engine.model.spec import parse_spec, read_spec
from intaglio.engine.model.weights import load_decoder, random_decoder
from intaglio.kernels.dispatch import choose

from tests.engine.run.driver import Driver, Job
from tests.engine.run.parity import runner
from tests.support.quantised_checkpoints import FORMATS, compressed
from tests.support.tiny_checkpoint import QWEN3, random_weights, write_checkpoint
from tests.support.tiny_vision import (
    FACTORS,
    QWEN3_VL,
    QWEN25_VL,
    as_published,
    prompt_with_images,
)

CPU = torch.device("cpu")
KERNELS = choose(CPU)
CONFIG: dict[str, Any] = {**QWEN3, "intermediate_size": 192, "num_hidden_layers": 2}
SEEING: dict[str, dict[str, Any]] = {
    "qwen2.5-vl": {**QWEN25_VL, "intermediate_size": 192},
    "qwen3-vl": {**QWEN3_VL, "text_config": {**QWEN3_VL["text_config"], "intermediate_size": 192}},
}


def decoder(folder: Path, dtype: torch.dtype = torch.float32) -> Decoder:
    return load_decoder(
        folder, read_spec(folder), kernels=KERNELS, dtype=dtype, device=CPU, positions=64
    )


def tensors(
    form: str, config: dict[str, Any] = CONFIG
) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """The tensors of a checkpoint with layers in this format, and of the same as an unquantised one."""
    writer = FORMATS[form][1]
    rng = np.random.default_rng(len(form))
    dense, stored = {}, {}
    for name, weight in random_weights(config).items():
        if not name.endswith("_proj.weight") or name.startswith("visual."):
            dense[name] = stored[name] = weight
            continue
        written = writer(rng, *weight.shape)
        dense[name] = written.matrix
        module = name.removesuffix(".weight")
        stored |= {module + suffix: tensor for suffix, tensor in written.tensors.items()}
    return stored, dense


def write(folder: Path, form: str, **changes: Any) -> tuple[Path, Path]:
    """A checkpoint in this format, and the same as an unquantised one."""
    stored, dense = tensors(form)
    config = {**CONFIG, "quantization_config": {**FORMATS[form][0], **changes}}
    return (
        write_checkpoint(folder / "quantised", config, weights=stored),
        write_checkpoint(folder / "dense", CONFIG, weights=dense),
    )


def matrices(model: Decoder, x: torch.Tensor, wide: torch.Tensor) -> list[torch.Tensor]:
    """The products of all matrices of all layers with rows of the hidden size or of that of the MLP."""
    found = []
    for layer in model.layers:
        attention, mlp = layer.attention, layer.mlp
        assert isinstance(mlp, GatedMlp)
        found += [attention.qkv.matmul(x), mlp.gate_up.matmul(x)]
        found += [
            mlp.down.matmul(wide),
            attention.output.matmul(wide[:, : attention.output.inputs]),
        ]
    return found


@pytest.mark.parametrize("form", ["awq", "gptq-4", "w4a16", "w8a8", "fp8-blocks"])
@pytest.mark.parametrize("family", SEEING)
def test_the_layers_of_a_model_that_reads_images_may_be_quantised(
    family: str, form: str, tmp_path: Path
) -> None:
    """The encoder stays as it is, and the logits are those of the same weights in float32."""
    config = SEEING[family]
    written = tensors(form, config)
    configs = ({**config, "quantization_config": FORMATS[form][0]}, config)
    factor = FACTORS[config["architectures"][0]]
    prompt, images = prompt_with_images((5, (3, 5), 7), factor=factor)
    found = []
    for name, given, weights in zip(("quantised", "dense"), configs, written, strict=True):
        folder = write_checkpoint(tmp_path / name, given, weights=as_published(given, weights))
        job = Job(prompt, 1, images=images)
        found.append(Driver(runner(folder, "float32")).run([job])[0].logits[0])
    torch.testing.assert_close(*found, atol=0, rtol=0)


@pytest.mark.parametrize("form", FORMATS)
def test_every_weight_is_the_one_that_the_format_defines(form: str, tmp_path: Path) -> None:
    quantised, dense = map(decoder, write(tmp_path, form))
    x = torch.eye(64)
    wide = torch.eye(192)
    for got, expected in zip(matrices(quantised, x, wide), matrices(dense, x, wide), strict=True):
        assert torch.equal(got, expected)


@pytest.mark.parametrize("rows", [1, 5, FEW, FEW + 1])
@pytest.mark.parametrize(
    "form", ["gptq-4", "gptq-4-desc-act", "awq", "w4a16", "w4a16-asymmetric", "w8a8", "fp8-blocks"]
)
def test_products_in_bfloat16_are_as_near_as_those_of_rounded_weights(
    form: str, rows: int, tmp_path: Path
) -> None:
    folder, same = write(tmp_path, form)
    quantised, dense, exact = (
        decoder(folder, torch.bfloat16),
        decoder(same, torch.bfloat16),
        decoder(same),
    )
    random = torch.Generator().manual_seed(rows)
    x, wide = (torch.randn(rows, size, generator=random).bfloat16() for size in (64, 192))
    right = matrices(exact, x.float(), wide.float())
    near = matrices(dense, x, wide)
    for got, usual, expected in zip(matrices(quantised, x, wide), near, right, strict=True):
        error, allowed = ((y.float() - expected).norm() / expected.norm() for y in (got, usual))
        assert error < 2 * allowed + 1e-3


def test_four_bits_stay_in_four_bits(tmp_path: Path) -> None:
    folder, _ = write(tmp_path, "w4a16")
    assert isinstance(decoder(folder, torch.bfloat16).layers[0].attention.qkv, Int4Weight)


def test_modules_that_are_not_quantised_are_read_as_they_are(tmp_path: Path) -> None:
    settings, writer = FORMATS["w4a16"]
    weights, spared = random_weights(CONFIG), ("q_proj", "down_proj")
    rng = np.random.default_rng(1)
    dense = dict(weights)
    for name in [name for name in weights if name.endswith("_proj.weight")]:
        if not any(part in name for part in spared):
            written = writer(rng, *weights[name].shape)
            dense[name] = written.matrix
            weights |= {name.removesuffix(".weight") + key: t for key, t in written.tensors.items()}
            del weights[name]
    ignored = {
        **deepcopy(settings),
        "ignore": ["lm_head", "re:.*q_proj", "model.layers.0.mlp.down_proj"],
    }
    ignored["config_groups"]["group_0"]["targets"] = ["re:.*(k|v|o|gate|up)_proj$"]
    config = {**CONFIG, "quantization_config": ignored}
    got = decoder(write_checkpoint(tmp_path / "a", config, weights=weights))
    right = decoder(write_checkpoint(tmp_path / "b", CONFIG, weights=dense))
    x, wide = torch.eye(64), torch.eye(192)
    for ours, theirs in zip(matrices(got, x, wide), matrices(right, x, wide), strict=True):
        assert torch.equal(ours, theirs)


@pytest.mark.parametrize("form", ["gptq-4", "awq", "w8a8", "fp8", "fp8-blocks"])
def test_random_weights_can_be_drawn_for_measurements(form: str) -> None:
    settings, _ = FORMATS[form]
    spec = parse_spec({**CONFIG, "quantization_config": settings})
    drawn = random_decoder(spec, kernels=KERNELS, dtype=torch.float32, device=CPU, positions=64)
    x, wide = torch.ones(1, 64), torch.ones(1, 192)
    assert all(product.isfinite().all() for product in matrices(drawn, x, wide))


def test_a_gptq_file_may_have_biases_of_zeros_and_no_order(tmp_path: Path) -> None:
    folder, dense = write(tmp_path, "gptq-4")
    weights = _weights(folder)
    for name in [name for name in weights if name.endswith(".qweight")]:
        module = name.removesuffix(".qweight")
        weights[module + ".bias"] = torch.zeros(weights[name].shape[1])
        del weights[module + ".g_idx"]
    config = {**CONFIG, "quantization_config": FORMATS["gptq-4"][0]}
    got = decoder(write_checkpoint(tmp_path / "c", config, weights=weights))
    x, wide = torch.eye(64), torch.eye(192)
    for ours, theirs in zip(matrices(got, x, wide), matrices(decoder(dense), x, wide), strict=True):
        assert torch.equal(ours, theirs)
    weights["model.layers.0.mlp.up_proj.bias"][3] = 1.0
    with pytest.raises(ModelError, match=r"not used model\.layers\.0\.mlp\.up_proj\.bias"):
        decoder(write_checkpoint(tmp_path / "d", config, weights=weights))


def _weights(folder: Path) -> dict[str, torch.Tensor]:
    from safetensors.torch import load_file

    return load_file(folder / "model.safetensors")


@pytest.mark.parametrize(
    ("form", "name", "change", "message"),
    [
        (
            "gptq-4",
            "k_proj.qweight",
            lambda t: t[:-1],
            "wrong shape: model.layers.0.self_attn.k_proj",
        ),
        ("gptq-4", "k_proj.qzeros", None, "missing model.layers.0.self_attn.k_proj.qzeros"),
        ("gptq-4", "k_proj.scales", lambda t: t.to(torch.int32), "wrong dtype: model.layers.0"),
        ("gptq-4-desc-act", "k_proj.g_idx", torch.zeros_like, "the groups in g_idx"),
        ("w4a16", "o_proj.weight_shape", lambda t: t.flip(0), "weight_shape is"),
        ("w8a8", "o_proj.weight", lambda t: t.float(), "wrong dtype"),
        ("fp8", "o_proj.weight", lambda t: t.float(), "wrong dtype"),
        ("awq", "up_proj.scales", lambda t: t[:1], "wrong shape"),
    ],
)
def test_damaged_tensors_are_named(
    form: str, name: str, change: Any, message: str, tmp_path: Path
) -> None:
    folder, _ = write(tmp_path, form)
    weights = _weights(folder)
    (at,) = [key for key in weights if key.startswith("model.layers.0") and key.endswith(name)]
    changed = weights.pop(at)
    if change is not None:
        weights[at] = change(changed).contiguous()
    config = {**CONFIG, "quantization_config": FORMATS[form][0]}
    with pytest.raises(ModelError) as caught:
        decoder(write_checkpoint(tmp_path / "damaged", config, weights=weights))
    assert message in caught.value.message


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "/quant_method"),
        ({"quant_method": "hqq"}, "/quant_method"),
        ({"quant_method": "mxfp4"}, "/quant_method"),
        ({"bits": 4}, "/quant_method"),
        ([4], ""),
        ({"quant_method": "gptq", "bits": 5, "group_size": 128}, "/bits"),
        ({"quant_method": "gptq", "bits": True, "group_size": 128}, "/bits"),
        ({"quant_method": "gptq", "bits": 4, "group_size": 0}, "/group_size"),
        ({"quant_method": "gptq", "bits": 4, "checkpoint_format": "marlin"}, "/checkpoint_format"),
        ({"quant_method": "gptq", "bits": 4, "dynamic": {"-:a": {}}}, "/dynamic"),
        ({"quant_method": "gptq", "bits": 4, "lm_head": True}, "/lm_head"),
        ({"quant_method": "awq", "bits": 8}, "/bits"),
        ({"quant_method": "awq", "bits": 4, "version": "gemv"}, "/version"),
        ({"quant_method": "awq", "bits": 4, "zero_point": False}, "/zero_point"),
        ({"quant_method": "fp8", "weight_block_size": [128]}, "/weight_block_size"),
        ({"quant_method": "fp8", "weight_block_size": [0, 128]}, "/weight_block_size"),
        ({"quant_method": "fp8", "fmt": "e5m2"}, "/fmt"),
        ({"quant_method": "auto-round", "bits": 4, "packing_format": "itrex"}, "/packing_format"),
        ({"quant_method": "compressed-tensors", "format": "pack-quantized"}, "/config_groups"),
        (compressed("marlin-24"), "/config_groups/group_0/weights"),
        (
            compressed("nvfp4-pack-quantized", type="float", num_bits=4),
            "/config_groups/group_0/weights",
        ),
        (compressed("pack-quantized", "group", num_bits=3), "/config_groups/group_0/weights"),
        ({**compressed("int-quantized"), "transform_config": {"a": 1}}, "/transform_config"),
        ({**compressed("int-quantized"), "ignore": [1]}, "/ignore"),
        (
            {**compressed("int-quantized"), "sparsity_config": {"format": "sparse-24-bitmask"}},
            "/sparsity_config",
        ),
    ],
)
def test_what_is_not_supported_is_refused_by_its_key(settings: Any, where: str) -> None:
    with pytest.raises(ModelError) as caught:
        parse_spec({**CONFIG, "quantization_config": settings})
    assert caught.value.where == "quantization_config" + where


def test_every_method_has_a_format_in_these_tests() -> None:
    """MXFP4 has its own: `test_mxfp4`."""
    assert {settings["quant_method"] for settings, _ in FORMATS.values()} >= set(METHODS) - {
        "intel/auto-round",
        "mxfp4",
    }


def test_a_quantised_checkpoint_is_not_quantised_again(tmp_path: Path) -> None:
    folder, _ = write(tmp_path, "w8a8")
    model = ModelConfig(model=str(folder), quantization="int8", device="cpu")
    with pytest.raises(ConfigError, match="quantised already") as caught:
        build_runner(model, CacheConfig(num_blocks=8), SchedulerConfig())
    assert caught.value.where == "quantization"
