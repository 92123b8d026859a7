"""Quantised weights on the device: products against float64, and whole engines on checkpoints in each format."""

import json
from functools import partial
from pathlib import Path

import pytest
import torch
from intaglio.engine.api import CalibrationTexts, quantize_checkpoint
from intaglio.engine.build_runner import build_runner
from intaglio.engine.config import CacheConfig, ModelConfig, SchedulerConfig
from intaglio.engine.model.checkpoint import model_folder
from intaglio.kernels.contracts import Activation, AddTo, Gate, RmsNorm
from intaglio.kernels.dispatch import choose
from intaglio.kernels.quantised.coded_weight import CodedWeight
from intaglio.kernels.quantised.codes_gemv import codes_gemv
from intaglio.kernels.quantised.narrow_codes import NARROW_ROWS
from intaglio.kernels.quantised.packed_codes import packed

from tests.support.drawn_codes import FLOAT, drawn_codes
from tests.support.paged import relative_error

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

DEVICE = torch.device("cuda")
DTYPE = torch.bfloat16
LIMIT = 1e-2
ROUNDED = {8: 3e-2, FLOAT: 6e-2}
"""The errors of products whose activations are rounded as well, by bits."""


def randn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(DTYPE)


FORMS = [
    *[(4, group, symmetric) for group in (32, 64, 128, 256, None) for symmetric in (True, False)],
    (3, 64, False),
    (2, 128, False),
    *[(8, group, symmetric) for group in (32, 128, None) for symmetric in (True, False)],
    (FLOAT, None, True),
    (FLOAT, 128, True),
]


@pytest.mark.parametrize(("bits", "group", "symmetric"), FORMS)
@pytest.mark.parametrize(("outputs", "inputs"), [(6144, 4096), (896, 4864), (130, 1000)])
def test_products_of_codes(
    bits: int, group: int | None, symmetric: bool, outputs: int, inputs: int
) -> None:
    kernels = choose(DEVICE)
    codes = drawn_codes(outputs, inputs, bits, group, symmetric=symmetric, kept=torch.float16)
    there = drawn_codes(
        outputs, inputs, bits, group, symmetric=symmetric, kept=torch.float16, device=DEVICE
    )
    matrix = codes.dense(torch.float32).double()
    bias = randn(outputs, seed=3)
    weight = kernels.coded([there], bias.to(DEVICE), DTYPE)
    assert isinstance(weight, CodedWeight)
    norm = RmsNorm(randn(inputs, seed=2), 1e-5)
    normed = RmsNorm(norm.weight.to(DEVICE), 1e-5)
    for rows in (1, 2, 8, 9, 17, 64, 65, 300):
        x = randn(rows, inputs, seed=rows)
        y, wide = x.to(DEVICE), x.double()
        plain = wide @ matrix.T + bias.double()
        scale = (wide.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
        of_normed = (wide * scale * norm.weight.double()) @ matrix.T + bias.double()
        assert relative_error(weight.matmul(y), plain) < LIMIT, rows
        assert relative_error(weight.matmul(y, normed), of_normed) < LIMIT, rows
        left, right = of_normed.chunk(2, -1)
        gated = torch.nn.functional.silu(left) * right
        got = weight.matmul(y, normed, Gate(Activation.SILU))
        assert relative_error(got, gated) < 2 * LIMIT, rows
        residual = randn(rows, outputs, seed=4)
        onto = residual.to(DEVICE)
        weight.matmul(y, epilogue=AddTo(onto))
        assert relative_error(onto, residual.double() + plain) < 2 * LIMIT, rows


@pytest.mark.parametrize("bits", [8, FLOAT])
@pytest.mark.parametrize(("outputs", "inputs"), [(6144, 4096), (896, 4864)])
@pytest.mark.parametrize("rows", [NARROW_ROWS, NARROW_ROWS + 1, 64, 65, 129, 1030])
def test_products_of_rounded_activations(bits: int, outputs: int, inputs: int, rows: int) -> None:
    """Rows with outliers; of more than a few rows, all are rounded to 8 bits, with one scale each."""
    kernels = choose(DEVICE)
    codes = drawn_codes(outputs, inputs, bits, None, activations=True)
    there = drawn_codes(outputs, inputs, bits, None, activations=True, device=DEVICE)
    matrix = codes.dense(torch.float32).double()
    bias = randn(outputs, seed=3)
    weight = kernels.coded([there], bias.to(DEVICE), DTYPE)
    assert isinstance(weight, CodedWeight)
    norm = RmsNorm(randn(inputs, seed=2), 1e-5)
    there_norm = RmsNorm(norm.weight.to(DEVICE), 1e-5)
    x = randn(rows, inputs, seed=rows)
    x[:, 3] *= 8
    x[1] = 0
    wide = x.double()
    scale = (wide.square().mean(-1, keepdim=True) + 1e-5).rsqrt()
    right = (wide * scale * norm.weight.double()) @ matrix.T + bias.double()
    y = x.to(DEVICE)
    limit = ROUNDED[bits] if rows > NARROW_ROWS else LIMIT
    found = relative_error(weight.matmul(y, there_norm), right)
    assert found < limit
    assert rows <= NARROW_ROWS or found > 1e-3, "activations are rounded"
    left, up = right.chunk(2, -1)
    got = weight.matmul(y, there_norm, Gate(Activation.SILU))
    assert relative_error(got, torch.nn.functional.silu(left) * up) < 2 * limit
    residual = randn(rows, outputs, seed=4)
    onto = residual.to(DEVICE)
    weight.matmul(y, there_norm, AddTo(onto))
    assert relative_error(onto, residual.double() + right) < 2 * limit


@pytest.mark.parametrize("bits", [8, FLOAT])
def test_a_row_that_is_not_finite_stays_so(bits: int) -> None:
    kernels = choose(DEVICE)
    there = drawn_codes(64, 256, bits, None, activations=True, device=DEVICE)
    weight = kernels.coded([there], None, DTYPE)
    assert weight is not None
    x = randn(100, 256, seed=1).to(DEVICE)
    x[3, 7], x[5, 9] = float("nan"), float("inf")
    bad = ~weight.matmul(x).isfinite().all(-1)
    assert bad.nonzero().flatten().tolist() == [3, 5]


@pytest.mark.parametrize("bad", [float("nan"), float("inf")])
@pytest.mark.parametrize(("bits", "group"), [(4, 128), (8, None), (FLOAT, None)])
def test_a_lone_row_that_is_not_finite_stays_so(bits: int, group: int | None, bad: float) -> None:
    there = drawn_codes(64, 4096, bits, group, device=DEVICE)
    weight = choose(DEVICE).coded([there], None, DTYPE)
    assert weight is not None
    x = randn(1, 4096, seed=1).to(DEVICE)
    x[0, 3001] = bad
    assert not weight.matmul(x).isfinite().any()


@pytest.mark.parametrize(("outputs", "inputs"), [(6144, 4096), (512, 14336), (96, 36864)])
@pytest.mark.parametrize(("bits", "group"), [(4, 128), (8, None), (FLOAT, None)])
def test_equal_lone_rows_have_equal_bits(
    bits: int, group: int | None, outputs: int, inputs: int
) -> None:
    """Results do not depend on when programs run. The matrices have one, several and many slices."""
    form = packed([drawn_codes(outputs, inputs, bits, group, device=DEVICE)])
    assert form is not None
    x, found = randn(1, inputs, seed=1).to(DEVICE), []
    for _ in range(50):
        out = torch.full((1, outputs), float("nan"), dtype=DTYPE, device=DEVICE)
        codes_gemv(x, form, None, out)
        found.append(out)
    assert all(torch.equal(found[0], other) for other in found)
    matrix = drawn_codes(outputs, inputs, bits, group).dense(torch.float32)
    assert relative_error(found[0], x.double().cpu() @ matrix.double().T) < LIMIT


def test_weights_are_rounded_while_they_are_loaded() -> None:
    model = ModelConfig(model=str(model_folder()), device="cuda", quantization="int8")
    built = build_runner(model, CacheConfig(), SchedulerConfig(max_running=8))
    assert isinstance(built.runner.decoder.layers[0].attention.output, CodedWeight)


@pytest.mark.parametrize("form", ["fp8", "int8"])
def test_an_engine_serves_a_quantised_checkpoint(form: str, tmp_path: Path) -> None:
    """By graph, one step ahead, with masks of the device: outputs under a schema are valid, tokens as without."""
    from tests.gpu import test_engine as engines

    folder = tmp_path / form
    none = CalibrationTexts((), ())
    quantize_checkpoint(model_folder(), folder, form, none, lambda part, done: None)
    built = build_runner(
        ModelConfig(model=str(folder), device="cuda"), CacheConfig(), SchedulerConfig(max_running=8)
    )
    layer = built.runner.decoder.layers[0]
    assert isinstance(layer.attention.qkv, CodedWeight)
    del built, layer
    torch.cuda.empty_cache()
    run = partial(engines.engine, model=str(folder), max_batched_tokens=512)
    ahead, tokenizer = run(overlap="on")
    requests = engines.mixed(tokenizer, 60)
    engines.run(ahead, requests[:8])  # by then the tables are there
    first = engines.run(ahead, requests)
    plain, _ = run(overlap="off", grammar_device="off")
    second = engines.run(plain, requests)
    ended = [name for name, (_, end) in first.items() if end == "stop" and int(name) % 2 == 0]
    assert len(ended) >= 15
    for name in ended:
        json.loads(engines.text_of(tokenizer, first[name][0]))
    same = engines.agreement(first, second)
    print({"form": form, "same tokens without overlap": same})
    assert same >= 0.5, "bfloat16 tips the scales of near ties, not of most tokens"
