"""MXFP4: values as published and as in `transformers`, products, and refusals."""

import os

os.environ["HF_HUB_OFFLINE"] = "1"

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.build_runner import build_runner, model_dtype
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.errors import ConfigError, ModelError
from intaglio.engine.model.checkpoint_report import check_checkpoint
from intaglio.engine.model.spec import parse_spec
from intaglio.kernels.dispatch import choose
from intaglio.kernels.mxfp4_weight import Mxfp4Weight, decoded
from safetensors.torch import load_file, save_file

from tests.engine.run.driver import Driver, Job
from tests.engine.run.parity import OURS, THEIRS, prompts, runner, theirs
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint
from tests.support.tiny_mxfp4 import CODED_GPT_OSS, PLAIN_GPT_OSS, write_coded_gpt_oss

CPU = torch.device("cpu")
CONFIG, QUANTISED = PLAIN_GPT_OSS, CODED_GPT_OSS


def bits(generator: torch.Generator, *shape: int, low: int = 0, high: int = 256) -> torch.Tensor:
    return torch.randint(low, high, shape, generator=generator, dtype=torch.uint8)


def published(byte: int, scale: int) -> tuple[float, float]:
    """The two values of a byte: sign, two bits of exponent with bias 1, one of mantissa; E8M0 has bias 127."""
    values = []
    for code in (byte & 15, byte >> 4):
        sign, exponent, mantissa = -1 if code & 8 else 1, code >> 1 & 3, code & 1
        size = mantissa / 2 if exponent == 0 else (1 + mantissa / 2) * 2.0 ** (exponent - 1)
        values.append(sign * size * 2.0 ** (scale - 127))
    return values[0], values[1]


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_every_byte_and_scale_means_what_the_format_defines(dtype: torch.dtype) -> None:
    """The values are exact in both dtypes, the sign of zero included."""
    scales = range(2, 252)
    blocks = torch.arange(256, dtype=torch.uint8).view(1, 16, 16).expand(len(scales), 16, 16)
    powers = torch.tensor(scales, dtype=torch.uint8).view(-1, 1).expand(-1, 16).contiguous()
    got = decoded(blocks.contiguous(), powers, dtype)
    right = torch.tensor([[published(byte, s) for byte in range(256)] for s in scales])
    right = right.view(len(scales), -1)
    assert torch.equal(got.float(), right)
    assert torch.equal(got.float().signbit(), right.signbit())


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_random_matrices_equal_those_of_transformers(dtype: torch.dtype) -> None:
    from transformers.integrations.mxfp4 import convert_moe_packed_tensors

    generator = torch.Generator().manual_seed(0)
    blocks = bits(generator, 3, 40, 5, 16)
    scales = bits(generator, 3, 40, 5, low=90, high=160)
    right = convert_moe_packed_tensors(blocks, scales, dtype=dtype).transpose(1, 2)
    got = torch.stack([decoded(*pair, dtype) for pair in zip(blocks, scales, strict=True)])
    assert torch.equal(got, right)


def test_products_are_those_of_the_decoded_matrix() -> None:
    generator = torch.Generator().manual_seed(1)
    blocks, scales = bits(generator, 24, 3, 16), bits(generator, 24, 3, low=120, high=130)
    bias = torch.randn(24, generator=generator)
    x = torch.randn((5, 96), generator=generator)
    weight = Mxfp4Weight(blocks, scales, bias, choose(CPU))
    assert (weight.outputs, weight.inputs) == (24, 96)
    right = x.double() @ decoded(blocks, scales, torch.float32).double().t() + bias
    torch.testing.assert_close(weight.matmul(x).double(), right, atol=1e-3, rtol=1e-5)


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """A checkpoint with experts in MXFP4, and the same one converted to float32."""
    root = tmp_path_factory.mktemp("mxfp4")
    return write_coded_gpt_oss(root / "coded", root / "plain")


def test_a_model_in_codes_gives_the_logits_of_transformers(folders: tuple[Path, Path]) -> None:
    coded, plain = folders
    asked = prompts((3, 90))
    alone = [Driver(runner(coded, "float32")).run([Job(prompt, 6)])[0] for prompt in asked]
    longest = alone[-1]
    right = theirs(plain, tuple(longest.tokens))[len(longest.prompt) - 1 : -1]
    torch.testing.assert_close(torch.stack(longest.logits), right, atol=10 * THEIRS, rtol=0)
    assert longest.generated == right.argmax(-1).tolist()
    engine = runner(coded, "float32")
    mixed = Driver(engine, chunk=17, preempt=0.1).run([Job(prompt, 6) for prompt in asked])
    for job, reference in zip(mixed, alone, strict=True):
        assert job.generated == reference.generated
        torch.testing.assert_close(
            torch.stack(job.logits), torch.stack(reference.logits), atol=10 * OURS, rtol=0
        )


def test_codes_stay_codes_in_memory(folders: tuple[Path, Path]) -> None:
    coded, plain = (check_checkpoint(folder, 2) for folder in folders)
    assert coded.parameters == plain.parameters
    matrices = 2 * 6 * 3 * 64 * 32  # layers, experts, gate, up and down
    assert plain.weight_bytes - coded.weight_bytes == matrices * 2 - matrices * 17 // 32
    assert model_dtype("auto", parse_spec(QUANTISED), CPU) == torch.bfloat16
    engine = build_runner(
        ModelConfig(model=str(folders[0]), weights="random", threads=1),
        CacheConfig(num_blocks=80),
        SchedulerConfig(max_running=2, max_batched_tokens=64),
    ).runner
    (job,) = Driver(engine).run([Job(tuple(range(20)), 2)])
    assert bool(torch.stack(job.logits).isfinite().all())


def test_a_scale_that_is_no_number_is_refused_by_name(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    tensors = load_file(folders[0] / "model.safetensors")
    name = "model.layers.1.mlp.experts.down_proj_scales"
    tensors[name][3, 0, 0] = 255
    write_checkpoint(tmp_path, QUANTISED, weights=tensors)
    with pytest.raises(ModelError, match="not a number") as caught:
        runner(tmp_path)
    assert caught.value.where == name


def test_missing_and_wrong_tensors_are_refused_by_name(
    folders: tuple[Path, Path], tmp_path: Path
) -> None:
    name = "model.layers.0.mlp.experts.gate_up_proj_"
    tensors = load_file(folders[0] / "model.safetensors")
    write_checkpoint(tmp_path, QUANTISED, weights=tensors)
    broken = {
        "missing .*gate_up_proj_scales": {k: v for k, v in tensors.items() if k != name + "scales"},
        r"_blocks is \[6, 64, 1, 16\], not": {
            **tensors,
            name + "blocks": tensors[name + "blocks"][:, :, :1].contiguous(),
        },
        "_blocks is of int8, not uint8": {
            **tensors,
            name + "blocks": tensors[name + "blocks"].view(torch.int8),
        },
        r"missing model\.layers\.1\.self_attn\.sinks": {
            k: v for k, v in tensors.items() if k != "model.layers.1.self_attn.sinks"
        },
    }
    for message, weights in broken.items():
        save_file(weights, tmp_path / "model.safetensors")
        with pytest.raises(ModelError, match=message):
            check_checkpoint(tmp_path)


@pytest.mark.parametrize(
    ("base", "change", "where"),
    [
        (QUANTISED, {"intermediate_size": 48}, "quantization_config"),
        (LLAMA, {}, "quantization_config/quant_method"),
        (
            QUANTISED,
            {"quantization_config": {"quant_method": "fp8"}},
            "quantization_config/quant_method",
        ),
        (
            QUANTISED,
            {
                "quantization_config": {
                    "quant_method": "mxfp4",
                    "modules_to_not_convert": ["model.layers.0.mlp.experts"],
                }
            },
            "quantization_config/modules_to_not_convert",
        ),
        (QUANTISED, {"swiglu_limit": -1}, "swiglu_limit"),
    ],
)
def test_what_is_not_supported_is_refused_by_name(
    base: dict[str, Any], change: dict[str, Any], where: str, tmp_path: Path
) -> None:
    config = {**base, "quantization_config": QUANTISED["quantization_config"], **change}
    write_checkpoint(tmp_path, CONFIG)
    (tmp_path / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelError) as caught:
        check_checkpoint(tmp_path)
    assert caught.value.where == where


def test_experts_are_not_stored_in_other_formats_at_loading(folders: tuple[Path, Path]) -> None:
    with pytest.raises(ConfigError, match="cannot be stored") as caught:
        build_runner(
            ModelConfig(model=str(folders[1]), quantization="int8"),
            CacheConfig(num_blocks=80),
            SchedulerConfig(max_running=2, max_batched_tokens=64),
        )
    assert caught.value.where == "quantization"
