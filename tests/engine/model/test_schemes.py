"""Quantisation schemes: int8 on a CPU, and a scheme of integers in a checkpoint, each behind the same seam."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal, get_args

import pytest
import torch
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, Quantization, SchedulerConfig
from intaglio.engine.errors import ConfigError, ModelError
from intaglio.engine.model.schemes import AT_LOADING
from intaglio.engine.model.schemes.int8 import FEW, Int8, Int8Weight, rounded
from intaglio.engine.model.schemes.scheme import Dense, Part, Stored, Uniform, stacked
from intaglio.engine.model.spec import parse_spec
from intaglio.engine.model.weights import load_decoder, random_decoder
from intaglio.kernels.contracts import Activation, AddTo, Epilogue, Gate, Kernels, RmsNorm, Weight
from intaglio.kernels.dispatch import choose

from tests.engine.run.driver import Driver, Job
from tests.support.tiny_checkpoint import GEMMA2, QWEN2, QWEN3, random_weights, write_checkpoint

CPU = torch.device("cpu")
KERNELS = choose(CPU)


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def in_steps(matrix: torch.Tensor) -> torch.Tensor:
    """`matrix` in float64 after rounding to 255 steps a row."""
    largest = matrix.float().abs().amax(1, keepdim=True)
    scales = (largest / 127).to(matrix.dtype).double()
    scales[scales == 0] = 1
    return (matrix.double() / scales).round().clamp(-127, 127) * scales


@pytest.mark.parametrize(("dtype", "limit"), [(torch.float32, 1e-5), (torch.bfloat16, 1e-2)])
@pytest.mark.parametrize("rows", [1, 2, FEW, FEW + 1, 70])
@pytest.mark.parametrize(
    ("outputs", "inputs"), [(2, 16), (34, 700), (3, 64), (33, 1088), (96, 1300)]
)
def test_int8_multiplies_by_the_rounded_matrix(
    outputs: int, inputs: int, rows: int, dtype: torch.dtype, limit: float
) -> None:
    matrix = (randn(outputs, inputs) * inputs**-0.5).to(dtype)
    matrix[0] = 0
    bias, x = randn(outputs, seed=1).to(dtype), randn(rows, inputs, seed=2).to(dtype)
    weight = Int8Weight(*rounded(matrix), bias, KERNELS)
    exact = x.double() @ in_steps(matrix).T + bias.double()
    assert (weight.outputs, weight.inputs) == (outputs, inputs)
    assert error(weight.matmul(x), exact) < limit
    assert error(in_steps(matrix), matrix.double()) < 0.01


def error(got: torch.Tensor, exact: torch.Tensor) -> float:
    return float((got.double() - exact).norm() / exact.norm())


@pytest.mark.parametrize("rows", [1, 5, 40])
def test_int8_norms_first_and_takes_every_epilogue(rows: int) -> None:
    matrix, x = randn(64, 48), randn(rows, 48, seed=1)
    norm, post_norm = RmsNorm(randn(48, seed=2), 1e-5), RmsNorm(randn(64, seed=3), 1e-5)
    weight, exact = (
        Int8Weight(*rounded(matrix), None, KERNELS),
        KERNELS.weight(in_steps(matrix).float()),
    )
    for post in (None, post_norm):
        ours, right = randn(rows, 64, seed=4), randn(rows, 64, seed=4)
        weight.matmul(x, norm, AddTo(ours, post))
        exact.matmul(x, norm, AddTo(right, post))
        torch.testing.assert_close(ours, right, atol=1e-4, rtol=1e-4)
    for activation in Activation:
        gate = Gate(activation)
        ours, right = weight.matmul(x, norm, gate), exact.matmul(x, norm, gate)
        torch.testing.assert_close(ours, right, atol=1e-3, rtol=1e-4)


@pytest.mark.parametrize("config", [QWEN2, GEMMA2])
@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_model_in_int8_stays_close_to_itself(
    tmp_path: Path, config: dict[str, Any], dtype: Literal["float32", "bfloat16"]
) -> None:
    folder = write_checkpoint(tmp_path, config)
    logits = []
    for quantization in ("none", "int8"):
        runner = build_runner(
            ModelConfig(model=str(folder), dtype=dtype, quantization=quantization, threads=1),
            CacheConfig(num_blocks=100),
            SchedulerConfig(max_running=4, max_batched_tokens=256),
        ).runner
        (job,) = Driver(runner, chunk=20).run([Job(tuple(range(50)), 1)])
        logits.append(job.logits[0].double())
    assert 0 < error(logits[1], logits[0]) < 0.06


def test_int8_on_a_gpu_is_for_bfloat16() -> None:
    """On a device without products of float32 and codes, as GPUs are."""
    elsewhere = torch.empty((4, 4), device="meta")
    Int8().weight([OneMatrix(torch.zeros(4, 4))], None, KERNELS)
    with pytest.raises(ConfigError, match="bfloat16") as caught:
        Int8().weight([OneMatrix(elsewhere)], None, KERNELS)
    assert caught.value.where == "quantization"


def test_every_choice_of_the_setting_has_a_scheme() -> None:
    assert {"none", *AT_LOADING} == set(get_args(Quantization))


@dataclass(frozen=True)
class OneMatrix:
    """A part of a checkpoint with one tensor, whatever its suffix."""

    tensor: torch.Tensor
    name: str = "matrix"

    @property
    def dtype(self) -> torch.dtype:
        return self.tensor.dtype

    def __call__(self, suffix: str) -> torch.Tensor:
        assert suffix == ".weight"
        return self.tensor

    def has(self, suffix: str) -> bool:
        return suffix == ".weight"


@dataclass(frozen=True)
class Halves:
    """A scheme of checkpoints: integers `.codes`, and a `.step` for each output by which they are multiplied."""

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        return {
            ".codes": Stored((outputs, inputs), torch.int8),
            ".step": Stored((outputs, 1), torch.float32),
        }

    def weight(self, parts: Sequence[Part], bias: torch.Tensor | None, kernels: Kernels) -> Weight:
        codes, steps = (stacked([part(kind) for part in parts]) for kind in (".codes", ".step"))
        return _HalvesWeight(codes, steps, bias, kernels)

    def dense(self, part: Part) -> torch.Tensor:
        return part(".codes") * part(".step")


class _HalvesWeight:
    """The smallest weight there can be: all but the product is the kernels'."""

    def __init__(
        self, codes: torch.Tensor, steps: torch.Tensor, bias: torch.Tensor | None, kernels: Kernels
    ) -> None:
        assert codes.dtype == torch.int8
        assert steps.dtype == torch.float32
        self.outputs, self.inputs = codes.shape
        self._codes, self._steps, self._bias, self._kernels = codes, steps, bias, kernels

    def matmul(
        self, x: torch.Tensor, norm: RmsNorm | None = None, epilogue: Epilogue | None = None
    ) -> torch.Tensor:
        x = x if norm is None else self._kernels.rms_norm(x, norm)
        product = (x.float() @ (self._codes * self._steps).T).to(x.dtype)
        product = product if self._bias is None else product + self._bias
        return self._kernels.finish(product, epilogue)


def in_halves(config: dict[str, Any]) -> tuple[dict[str, torch.Tensor], dict[str, torch.Tensor]]:
    """Weights of a model that are small multiples of one half, and the same as `Halves` stores them."""
    dense, stored = {}, {}
    for name, tensor in random_weights(config).items():
        if "_proj.weight" not in name:
            dense[name] = stored[name] = tensor
            continue
        codes = (tensor * 8).round().clamp(-100, 100)
        dense[name] = codes / 2
        stored[name.replace(".weight", ".codes")] = codes.to(torch.int8)
        stored[name.replace(".weight", ".step")] = torch.full((len(codes), 1), 0.5)
    return dense, stored


@pytest.mark.parametrize("config", [QWEN2, QWEN3])
def test_a_scheme_reads_its_own_tensors_in_their_own_dtypes(
    tmp_path: Path, config: dict[str, Any]
) -> None:
    dense, stored = in_halves(config)
    spec = parse_spec(config)
    given: dict[str, Any] = {
        "kernels": KERNELS,
        "dtype": torch.float32,
        "device": CPU,
        "positions": 64,
    }
    right = load_decoder(write_checkpoint(tmp_path / "a", config, weights=dense), spec, **given)
    folder = write_checkpoint(tmp_path / "b", config, weights=stored, shards=2)
    got = load_decoder(folder, replace(spec, schemes=Uniform(Halves())), **given)
    x = randn(3, spec.hidden)
    for ours, theirs in zip(got.layers, right.layers, strict=True):
        torch.testing.assert_close(
            ours.attention.qkv.matmul(x), theirs.attention.qkv.matmul(x), atol=1e-4, rtol=1e-4
        )
        added, expected = x.clone(), x.clone()
        ours.mlp.add(added)
        theirs.mlp.add(expected)
        torch.testing.assert_close(added, expected, atol=1e-3, rtol=1e-4)
    drawn = random_decoder(replace(spec, schemes=Uniform(Halves())), **given)
    assert drawn.layers[0].attention.qkv.matmul(x).isfinite().all()


def test_integers_are_never_converted(tmp_path: Path) -> None:
    """Neither floats to a scheme's integers nor integers to weights."""
    _, stored = in_halves(QWEN3)
    name = "model.layers.0.mlp.down_proj.codes"
    given: dict[str, Any] = {
        "kernels": KERNELS,
        "dtype": torch.float32,
        "device": CPU,
        "positions": 64,
    }
    for scheme, wrong in ((Halves(), torch.float32), (Dense(), torch.int8)):
        weights = random_weights(QWEN3) if scheme == Dense() else dict(stored)
        at = name if name in weights else name.replace(".codes", ".weight")
        weights[at] = weights[at].to(wrong)
        folder = write_checkpoint(tmp_path / str(wrong), QWEN3, weights=weights)
        with pytest.raises(ModelError, match="wrong dtype") as caught:
            load_decoder(folder, replace(parse_spec(QWEN3), schemes=Uniform(scheme)), **given)
        assert at in caught.value.message
