"""Checkpoints written by `quantize_checkpoint`, read back: bit by bit, by the engine, and against the original.

The tests decode the tensors by the formats' descriptions, in numpy, without the loader's code.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from intaglio.engine.api import (
    CALIBRATED_FORMATS,
    QUANTIZED_FORMATS,
    CalibrationText,
    CalibrationTexts,
    ModelError,
    check_checkpoint,
    quantize_checkpoint,
)
from intaglio.engine.quantize.error_feedback import group_scales, rounded_4bit
from intaglio.engine.quantize.quantized_files import UNFINISHED, write_quantized
from safetensors.torch import load_file

from tests.engine.run.parity import prompts, runner, theirs
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint
from tests.support.tiny_families import CONFIGS, GPT_OSS, OLDEST, PHI4_MINI, QWEN3_MOE

TEXTS = tuple(map(CalibrationText, prompts([40, 50, 60, 30])))
CALIBRATION = CalibrationTexts(TEXTS[:3], TEXTS[3:])
LINEARS = ("q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj")


def tensors(folder: Path) -> dict[str, torch.Tensor]:
    found: dict[str, torch.Tensor] = {}
    for path in folder.glob("*.safetensors"):
        found |= load_file(path)
    return found


def decoded(found: Mapping[str, torch.Tensor], name: str) -> torch.Tensor:
    """The matrix of this name, as compressed-tensors describes it."""
    scales = found[name + ".weight_scale"].float()
    if name + ".weight" in found:
        return found[name + ".weight"].float() * scales
    words = found[name + ".weight_packed"].numpy().astype(np.int64) & 0xFFFFFFFF
    nibbles = (words[:, :, None] >> np.arange(0, 32, 4) & 15).reshape(len(words), -1)
    outputs, inputs = found[name + ".weight_shape"].tolist()
    codes = torch.from_numpy(nibbles[:, :inputs].astype(np.float32)) - 8
    return codes * scales.repeat_interleave(128, 1)[:outputs, :inputs]


def written(source: Path, out: Path, form: str) -> Any:
    return quantize_checkpoint(source, out, form, CALIBRATION, lambda part, done: None)


@pytest.mark.parametrize("form", QUANTIZED_FORMATS)
def test_matrices_are_rounded_and_all_else_is_kept(form: str, tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "model", LLAMA, shards=2)
    (source / "LICENSE").write_text("free")
    (source / "old.bin").write_text("weights")
    report = written(source, tmp_path / "out", form)
    before, after = tensors(source), tensors(tmp_path / "out")
    matrices = [name for name in before if name.split(".")[-2] in LINEARS and "weight" in name]
    assert report.matrices == len(matrices) == 14
    for name in matrices:
        rounded = decoded(after, name.removesuffix(".weight"))
        error = (rounded - before[name].float()).abs().amax() / before[name].float().abs().amax()
        assert float(error) < {"int8": 0.005, "fp8": 0.07, "w4": 0.5}[form]
    for name in before.keys() - matrices:
        assert torch.equal(before[name], after[name]), name
    assert (tmp_path / "out" / "LICENSE").read_text() == "free"
    assert not (tmp_path / "out" / "old.bin").exists()
    assert report.bytes_after == sum(tensor.nbytes for tensor in after.values())
    accuracy = report.accuracy
    assert accuracy.tokens == 29, "the text to compare has 30 tokens, the first of which is given"
    assert 0 <= accuracy.divergence < (2 if form == "w4" else 0.05)


@pytest.mark.parametrize("form", QUANTIZED_FORMATS)
def test_the_engine_computes_what_the_tensors_say(form: str, tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "model", LLAMA)
    written(source, tmp_path / "out", form)
    found = tensors(tmp_path / "out")
    plain = {
        name: decoded(found, name.removesuffix(".weight")) if name.split(".")[-2] in LINEARS
        and name.endswith(".weight") else tensor
        for name, tensor in tensors(source).items()
    }  # fmt: skip
    same = write_checkpoint(tmp_path / "decoded", LLAMA, weights=plain)
    report = check_checkpoint(tmp_path / "out")
    assert report.family == "llama"
    tokens = prompts([50])[0]
    logits = theirs(same, tokens)
    ours = quantize_checkpoint_logits(tmp_path / "out", tokens)
    torch.testing.assert_close(ours, logits[:-1], atol=1e-2, rtol=1e-2)


def quantize_checkpoint_logits(folder: Path, tokens: tuple[int, ...]) -> torch.Tensor:
    from intaglio.engine.quantize.sequence_reader import SequenceReader

    with torch.inference_mode():
        return SequenceReader(runner(folder, "float32").decoder, 64).logits(tokens, 1)


@pytest.mark.parametrize("name", ["qwen3", "gemma2", "phi3", "mixtral", "qwen3-moe"])
def test_every_kind_of_family_is_written_and_loads(name: str, tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "model", (OLDEST | CONFIGS)[name])
    report = written(source, tmp_path / "out", "w4")
    assert report.accuracy.tokens == 29
    check_checkpoint(tmp_path / "out")


def test_matrices_that_no_loader_takes_quantised_stay_as_they_are(tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "model", PHI4_MINI)
    written(source, tmp_path / "out", "int8")
    config = json.loads((tmp_path / "out" / "config.json").read_text())["quantization_config"]
    assert "model.layers.0.self_attn.qkv_proj" in config["ignore"]
    check_checkpoint(tmp_path / "out")


def test_routers_stay_as_they_are(tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "model", QWEN3_MOE)
    written(source, tmp_path / "out", "int8")
    router = next(name for name in tensors(source) if name.endswith("mlp.gate.weight"))
    assert torch.equal(tensors(source)[router], tensors(tmp_path / "out")[router])


def test_error_feedback_keeps_products_better_than_rounding_to_the_nearest() -> None:
    generator = torch.Generator().manual_seed(0)
    for _ in range(5):
        matrix = torch.randn(48, 200, generator=generator)
        mixing = torch.randn(200, 200, generator=generator) / 200**0.5
        x = torch.randn(400, 200, generator=generator) @ (mixing + torch.eye(200) * 0.2)
        codes, scales = rounded_4bit(matrix, x.t() @ x, 64)
        wide = scales.repeat_interleave(64, 1)[:, :200]
        assert int(codes.min()) >= -8
        assert int(codes.max()) <= 7
        plain = torch.cat(
            [
                (part / scale.unsqueeze(1)).round().clamp(-8, 7) * scale.unsqueeze(1)
                for part in torch.split(matrix, 64, 1)
                for scale in [group_scales(part, torch.ones(part.shape[1]))]
            ],
            1,
        )
        ours = (x @ (codes * wide - matrix).t()).square().mean()
        nearest = (x @ (plain - matrix).t()).square().mean()
        assert float(ours) < 0.8 * float(nearest)


def test_inputs_that_never_occur_are_rounded_to_the_nearest() -> None:
    matrix = torch.randn(8, 16, generator=torch.Generator().manual_seed(1))
    codes, scales = rounded_4bit(matrix, torch.zeros(16, 16), 128)
    assert float((codes * scales - matrix).abs().max()) <= float(scales.max()) * 1.01


def test_what_cannot_be_quantised_is_refused(tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "model", LLAMA)
    written(source, tmp_path / "out", "int8")
    with pytest.raises(ModelError, match="exists already"):
        written(source, tmp_path / "out", "int8")
    with pytest.raises(ModelError, match="quantised already"):
        written(tmp_path / "out", tmp_path / "again", "fp8")
    for form in CALIBRATED_FORMATS:
        with pytest.raises(ValueError, match="texts"):
            quantize_checkpoint(
                source, tmp_path / "none", form, CalibrationTexts(), lambda part, done: None
            )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["model", "out"]
    stacked = write_checkpoint(tmp_path / "stacked", GPT_OSS)
    with pytest.raises(ModelError, match="gpt-oss models cannot be quantised here"):
        written(stacked, tmp_path / "none", "int8")


def test_a_run_that_is_cut_off_leaves_no_checkpoint(tmp_path: Path) -> None:
    source = write_checkpoint(tmp_path / "model", LLAMA)

    def fails(name: str, matrix: torch.Tensor) -> Mapping[str, torch.Tensor]:
        if "layers.1" in name:
            raise KeyboardInterrupt
        return {".weight": matrix}

    names = ["model.layers.0.self_attn.q_proj", "model.layers.1.self_attn.q_proj"]
    with pytest.raises(KeyboardInterrupt):
        write_quantized(source, tmp_path / "out", names, fails, {})
    assert not (tmp_path / "out").exists()
    assert (tmp_path / ("out" + UNFINISHED)).exists()
    written(source, tmp_path / "out", "int8")
    assert not (tmp_path / ("out" + UNFINISHED)).exists(), "the next run removes it"
