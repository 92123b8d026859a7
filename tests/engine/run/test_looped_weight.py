"""Products of int8 weights in loops: against packed weights, which round one step more, and row by row."""

import pytest
import torch
from intaglio.engine.model.schemes.int8 import rounded
from intaglio.engine.run.host.bfloat16 import bits, exponential, largest, narrowed, widened
from intaglio.engine.run.host.looped_weight import ROWS, LoopedWeight
from intaglio.kernels.codes import Codes
from intaglio.kernels.contracts import Activation, AddTo, Epilogue, Gate, Logits, RmsNorm
from intaglio.kernels.linear import packed
from intaglio.kernels.linear.packed import (
    COARSE,
    FINE,
    Grid,
    PackedInt8,
    PackedWeight,
    finest,
)
from torch import Tensor

needs_library = pytest.mark.skipif(not packed.is_available(), reason="needs FBGEMM and AVX2")


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def codes(outputs: int, inputs: int) -> Codes:
    values, scales = rounded(randn(outputs, inputs) / inputs**0.5)
    return Codes(values, scales.float().unsqueeze(1), None, inputs, 8, activations=True)


def rows(count: int, width: int) -> Tensor:
    """Rows of several magnitudes, some with one value far beyond the others."""
    x = randn(count, width, seed=1) * torch.logspace(-3, 3, count).unsqueeze(1)
    x[1::3, width // 2] *= 200
    return x.bfloat16()


def of_residual(outputs: int, count: int) -> AddTo:
    return AddTo(randn(count, outputs, seed=3).bfloat16())


@needs_library
@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("what", ["plain", "gate", "gelu", "add", "capped"])
@pytest.mark.parametrize("count", [2, 7, ROWS + 5])
@pytest.mark.parametrize("grid", [COARSE, FINE])
def test_results_are_those_of_packed_weights(
    count: int, what: str, normed: bool, grid: Grid
) -> None:
    blocks = [codes(96, 200), codes(32, 200)]
    x = rows(count, 200)
    norm = RmsNorm((1 + randn(200, seed=2) / 4).bfloat16(), 1e-6) if normed else None

    def epilogue() -> Epilogue | None:
        found: dict[str, Epilogue | None] = {
            "plain": None,
            "gate": Gate(Activation.SILU),
            "gelu": Gate(Activation.GELU_TANH),
            "add": of_residual(128, count),
            "capped": Logits(softcap=3.0),
        }
        return found[what]

    given = x.clone()
    if grid == FINE != finest():
        pytest.skip("this processor multiplies the coarse grid only")
    got = LoopedWeight(blocks, grid).matmul(x, norm, epilogue())
    right = PackedWeight(PackedInt8(blocks, grid)).matmul(x, norm, epilogue())
    assert torch.equal(x, given)
    assert got.dtype == torch.bfloat16
    assert got.shape == right.shape
    error = (got.float() - right.float()).norm(dim=1) / right.float().norm(dim=1)
    # What packed weights round to bfloat16 may have another nearest step, and differences of sums magnify it.
    assert error.max() < (0.04 if normed else 0.03)


@needs_library
def test_the_weight_of_a_norm_may_be_float32() -> None:
    weight, x = LoopedWeight([codes(64, 200)]), rows(3, 200)
    narrow = (1 + randn(200, seed=2) / 4).bfloat16()
    got = weight.matmul(x, RmsNorm(narrow.float(), 1e-6))
    assert torch.equal(got, weight.matmul(x, RmsNorm(narrow, 1e-6)))


@needs_library
def test_a_sum_is_added_in_place() -> None:
    epilogue = of_residual(64, 3)
    assert LoopedWeight([codes(64, 70)]).matmul(rows(3, 70), None, epilogue) is epilogue.residual


@needs_library
@pytest.mark.parametrize("epilogue", [None, Gate(Activation.SILU)])
def test_a_row_has_the_same_bits_in_any_company(epilogue: Epilogue | None) -> None:
    weight, norm = LoopedWeight([codes(70, 640)]), RmsNorm(torch.ones(640).bfloat16(), 1e-6)
    x = rows(2 * ROWS + 9, 640)
    whole = weight.matmul(x, norm, epilogue)
    for first, end in [(0, 1), (3, 4), (7, 10), (ROWS - 1, ROWS + 2), (5, 2 * ROWS + 9)]:
        assert torch.equal(weight.matmul(x[first:end], norm, epilogue), whole[first:end])


@needs_library
@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_only_a_row_that_is_not_finite_gives_nothing_finite(value: float) -> None:
    x = rows(4, 70)
    x[2, 3] = value
    got = LoopedWeight([codes(20, 70)]).matmul(x)
    assert not got[2].isfinite().any()
    assert got[[0, 1, 3]].isfinite().all()


def test_bfloat16_rounds_as_torch_does() -> None:
    values = torch.cat((randn(500), randn(500) * 1e-20, torch.tensor([0.0, -0.0, float("inf")])))
    numbers = values.view(torch.int32).numpy()  # every second number between two bfloat16
    numbers[:200] = numbers[:200] & ~0xFFFF | 0x8000
    expected = bits(values.bfloat16())
    assert [narrowed(each) for each in values.numpy()] == expected.tolist()
    assert [float(widened(each)) for each in expected] == values.bfloat16().tolist()


def test_exponentials_are_close_over_the_whole_range() -> None:
    values = torch.cat((torch.linspace(-86.9, 88, 999), torch.tensor([0.0])))
    found = torch.tensor([float(exponential(each)) for each in values.numpy()])
    torch.testing.assert_close(found.double(), values.double().exp(), rtol=3e-7, atol=0)
    assert exponential(torch.tensor([float("nan")]).numpy()[0]) != 0
    assert found[-1] == 1


def test_the_largest_is_found_among_negative_values() -> None:
    assert largest(torch.tensor([-3.0, -1.5, -2.0]).numpy()) == -1.5
    assert largest(torch.tensor([-3.0, 0.0, 2.5, 1.0]).numpy()) == 2.5
    assert largest(torch.tensor([1.0, float("nan")]).numpy()) != 1
