"""The head with few legal tokens on the device, against float64; illegal logits are not written."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
import torch
from intaglio.kernels.contracts import Logits, RmsNorm
from intaglio.kernels.dispatch import choose
from intaglio.kernels.sampling_contracts import Draw, Legal, SampleArgs

from tests.support.legal import legal_tokens, random_legal
from tests.support.paged import relative_error

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

DEVICE = torch.device("cuda")
TOLERANCE = {torch.float32: 1e-5, torch.float16: 2e-3, torch.bfloat16: 1e-2}
SHAPES = [
    (torch.bfloat16, 151_936, 1024),
    (torch.bfloat16, 32_001, 4096),
    (torch.bfloat16, 5_000, 6144),
    (torch.float16, 896, 4864),
    (torch.float32, 34, 130),
]


@contextmanager
def poisoned() -> Iterator[None]:
    """What torch does not fill is NaN."""
    torch.use_deterministic_algorithms(mode=True)
    yield
    torch.use_deterministic_algorithms(mode=False)


def randn(*shape: int, seed: int, dtype: torch.dtype) -> torch.Tensor:
    values = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    return values.to(DEVICE, dtype)


def on_device(legal: Legal) -> Legal:
    return Legal(legal.masks.to(DEVICE), None if legal.rows is None else legal.rows.to(DEVICE))


@pytest.mark.parametrize(("dtype", "outputs", "inputs"), SHAPES)
@pytest.mark.parametrize("rows", [1, 2, 3, 4])
def test_the_head_makes_what_is_legal(
    rows: int, outputs: int, inputs: int, dtype: torch.dtype
) -> None:
    kernels = choose(DEVICE)
    x = randn(rows, inputs, seed=rows, dtype=dtype)
    weight = randn(outputs, inputs, seed=1, dtype=dtype) * inputs**-0.5
    norm = RmsNorm(randn(inputs, seed=2, dtype=dtype), 1e-5)
    bias = randn(outputs, seed=3, dtype=dtype) if rows % 2 else None
    matrix = kernels.weight(weight, bias)
    whole = matrix.matmul(x, norm, Logits())
    wide = x.double()
    wide *= (wide.square().mean(-1, keepdim=True) + norm.eps).rsqrt() * norm.weight.double()
    for share, free in ((0.0, False), (64 / outputs, False), (0.4, False), (0.001, True)):
        legal = random_legal(rows, outputs, share / rows, seed=rows, free=free)
        together = legal_tokens(legal, outputs).any(0).to(DEVICE)
        with poisoned():
            got = matrix.matmul(x, norm, Logits(on_device(legal)))
        assert bool(got[:, ~together].isnan().all())
        if bool(together.any()):
            right = wide @ weight[together].double().T
            right = right if bias is None else right + bias[together].double()
            assert relative_error(got[:, together], right.cpu()) < TOLERANCE[dtype]
            assert relative_error(got[:, together], whole[:, together].double().cpu()) < 1e-2


@pytest.mark.parametrize("rows", [1, 4, 64])
def test_a_captured_head_and_pick_follow_the_masks(rows: int) -> None:
    """Masks that change from replay to replay; the picks are those of the whole head."""
    outputs, inputs, dtype = 151_936, 1024, torch.float32
    kernels = choose(DEVICE)
    x = randn(rows, inputs, seed=rows, dtype=dtype)
    matrix = kernels.weight(randn(outputs, inputs, seed=1, dtype=dtype) * inputs**-0.5)
    norm = RmsNorm(randn(inputs, seed=2, dtype=dtype), 1e-5)
    masks = torch.zeros((rows + 1 + rows // 3, outputs // 32), dtype=torch.int32, device=DEVICE)
    which = torch.zeros(rows, dtype=torch.int32, device=DEVICE)
    keys = torch.randint(0, 2**32, (rows, 2), device=DEVICE)
    args = SampleArgs(outputs, masks, which, draw=Draw(torch.ones(rows, device=DEVICE), keys))

    def choice() -> tuple[torch.Tensor, torch.Tensor]:
        drawn = kernels.sample(matrix.matmul(x, norm, Logits(args.legal)), args)
        return drawn.tokens, drawn.status

    choice()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        captured = choice()
    for turn, (share, free) in enumerate(
        ((0.0005, False), (0.5, False), (0.0, True), (0.0, False))
    ):
        legal = random_legal(rows, outputs, share, seed=turn, free=free)
        assert legal.rows is not None
        masks.copy_(legal.masks)
        which.copy_(legal.rows)
        x.copy_(randn(rows, inputs, seed=100 + turn, dtype=dtype))
        graph.replay()
        right = kernels.sample(matrix.matmul(x, norm, Logits()), args)
        ok = right.status == 0
        assert torch.equal(captured[1], right.status)
        # Sums of two kernels differ in their last bits, so that near ties may tip.
        same = captured[0][ok] == right.tokens[ok]
        assert same.float().sum() >= 0.95 * len(same) - 1
