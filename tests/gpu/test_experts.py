"""Mixtures of experts on a GPU: outputs as defined, and captured layers as launched ones."""

import pytest
import torch
from intaglio.kernels.contracts import Activation, ExpertMlp, Gate, MixtureRule, RmsNorm
from intaglio.kernels.experts.expert_matrices import stacked
from intaglio.kernels.experts.expert_product import expert_product, paired
from intaglio.kernels.experts.route import route
from intaglio.kernels.gpu import GpuKernels
from intaglio.kernels.mxfp4_weight import Mxfp4Weight, decoded
from intaglio.kernels.reference import ReferenceWeight
from intaglio.kernels.reference_kernels import ReferenceKernels

from tests.support.drawn_codes import mxfp4

pytestmark = [
    pytest.mark.gpu,
    pytest.mark.skipif(not torch.cuda.is_available(), reason="needs a GPU"),
]

DEVICE = torch.device("cuda")
SILU = Gate(Activation.SILU)


def randn(*shape: int, seed: int) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize(
    ("hidden", "ffn", "count", "per_token"), [(256, 96, 32, 8), (512, 320, 8, 2)]
)
def test_outputs_are_those_of_the_definition(
    hidden: int, ffn: int, count: int, per_token: int, dtype: torch.dtype
) -> None:
    ups = (randn(count, 2 * ffn, hidden, seed=1) * hidden**-0.5).to(dtype)
    downs = (randn(count, hidden, ffn, seed=2) * ffn**-0.5).to(dtype)
    rule, kernels = MixtureRule(per_token, renormalised=True, gate=SILU), GpuKernels(DEVICE)
    layer = kernels.experts(
        [
            ExpertMlp(kernels.weight(up.cuda()), kernels.weight(down.cuda()))
            for up, down in zip(ups, downs, strict=True)
        ],
        rule,
    )
    plain = ReferenceKernels().experts(
        [
            ExpertMlp(ReferenceWeight(up.float(), None), ReferenceWeight(down.float(), None))
            for up, down in zip(ups, downs, strict=True)
        ],
        rule,
    )
    for rows in (1, 2, 17, 64, 300, 2100):
        x = randn(rows, hidden, seed=3).to(dtype)
        logits = randn(rows, count, seed=4).argsort(-1).to(dtype) / 4  # without ties, in any dtype
        got = layer.outputs(x.cuda(), logits.cuda()).cpu().float()
        right = plain.outputs(x.float(), logits)
        error = (got - right).norm() / right.norm()
        assert error < (2e-2 if dtype == torch.bfloat16 else 1e-5), rows


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32, torch.float16])
def test_every_weight_of_mxfp4_is_exact(dtype: torch.dtype) -> None:
    """Products with one input each are the weights themselves, for pairs that are few and for those that are sorted."""
    inputs = 352
    scales = (114, 135) if dtype == torch.float16 else (2, 250)
    coded = [mxfp4(200, inputs, seed, scales=scales) for seed in range(3)]
    matrices = stacked(
        [Mxfp4Weight(b.cuda(), s.cuda(), None, GpuKernels(DEVICE)) for b, s in coded]
    )
    eye = torch.eye(inputs, dtype=dtype, device=DEVICE)
    for most in (0, 1024):
        for e, (blocks, powers) in enumerate(coded):
            chosen = torch.full((inputs, 1), e, dtype=torch.int32, device=DEVICE)
            out = torch.empty((inputs, 200), dtype=dtype, device=DEVICE)
            expert_product(eye, matrices, paired(chosen, 3, most), out, per_row=1)
            assert torch.equal(out.t().cpu(), decoded(blocks, powers, dtype))


@pytest.mark.parametrize("coded", [False, True])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_experts_of_gpt_oss_are_those_of_the_definition(dtype: torch.dtype, coded: bool) -> None:
    hidden, ffn, count = 320, 192, 32
    rule = MixtureRule(4, renormalised=True, gate=SILU, of_chosen=True, clamp=(1.702, 1.5))
    kernels, host = GpuKernels(DEVICE), ReferenceKernels()
    here, there = [], []
    for e in range(count):
        pairs = []
        for i, (outputs, inputs) in enumerate(((2 * ffn, hidden), (hidden, ffn))):
            blocks, scales = mxfp4(outputs, inputs, 10 * e + i, scales=(121, 123))
            bias = randn(outputs, seed=e).to(dtype)
            matrix = decoded(blocks, scales, dtype)
            plain = ReferenceWeight(matrix.float(), bias.float())
            weight = (
                Mxfp4Weight(blocks.cuda(), scales.cuda(), bias.cuda(), kernels)
                if coded
                else kernels.weight(matrix.cuda(), bias.cuda())
            )
            pairs.append((plain, weight))
        here.append(ExpertMlp(pairs[0][0], pairs[1][0]))
        there.append(ExpertMlp(pairs[0][1], pairs[1][1]))
    layer, definition = kernels.experts(there, rule), host.experts(here, rule)
    for rows in (1, 2, 17, 64, 300, 2100):
        x = randn(rows, hidden, seed=3).to(dtype)
        logits = randn(rows, count, seed=4).argsort(-1).to(dtype) / 4
        got = layer.outputs(x.cuda(), logits.cuda()).cpu().float()
        right = definition.outputs(x.float(), logits)
        error = (got - right).norm() / right.norm()
        assert error < (2e-2 if dtype == torch.bfloat16 else 1e-5), rows


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize(
    ("hidden", "ffn", "count", "per_token", "coded"),
    [(2048, 768, 16, 8, False), (2880, 2880, 8, 4, False), (2880, 2880, 8, 4, True)],
)
def test_the_parts_of_two_ranks_add_up_to_the_whole(
    hidden: int, ffn: int, count: int, per_token: int, coded: bool, dtype: torch.dtype
) -> None:
    """With the sizes of Qwen3 30B-A3B and of gpt-oss, of whose hidden units a rank has 384 and 1440."""
    rule, kernels = MixtureRule(per_token, renormalised=True, gate=SILU), GpuKernels(DEVICE)
    own, groups = range(0, ffn + 1, ffn // 2), range(0, ffn // 32 + 1, ffn // 64)
    layers: list[list[ExpertMlp]] = [[], [], []]
    for e in range(count):
        (up, up_scales), (down, down_scales) = (
            [codes.to(DEVICE) for codes in mxfp4(*size, 2 * e + i, scales=(119, 121))]
            for i, size in enumerate(((2 * ffn, hidden), (hidden, ffn)))
        )
        for layer, a, b in ((layers[0], 0, 2), (layers[1], 0, 1), (layers[2], 1, 2)):
            rows = torch.cat([torch.arange(own[a], own[b]) + first for first in (0, ffn)]).to(
                DEVICE
            )
            at = slice(groups[a], groups[b])
            codes = (up[rows], up_scales[rows]), (down[:, at], down_scales[:, at])
            layer.append(
                ExpertMlp(
                    *(
                        Mxfp4Weight(each.contiguous(), scales.contiguous(), None, kernels)
                        if coded
                        else kernels.weight(decoded(each, scales, dtype))
                        for each, scales in codes
                    )
                )
            )
    whole, *parts = (kernels.experts(mlps, rule) for mlps in layers)
    for rows_of_x in (1, 17, 600):
        x = randn(rows_of_x, hidden, seed=3).to(DEVICE, dtype)
        logits = (randn(rows_of_x, count, seed=4).argsort(-1) / 4).to(DEVICE, dtype)
        right = whole.outputs(x, logits).float()
        got = sum(part.outputs(x, logits).float() for part in parts)
        error = (got - right).norm() / right.norm()
        assert error < (2e-2 if dtype == torch.bfloat16 else 1e-4), rows_of_x


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
@pytest.mark.parametrize(
    ("hidden", "ffn", "count", "per_token"), [(2048, 768, 128, 8), (512, 320, 8, 2)]
)
def test_few_rows_add_the_outputs_of_the_definition(
    hidden: int, ffn: int, count: int, per_token: int, dtype: torch.dtype
) -> None:
    """Fused with norm, choice and residual: launched, and captured; against float64 with the logits of the device."""
    rule, kernels = MixtureRule(per_token, renormalised=True, gate=SILU), GpuKernels(DEVICE)
    torch.manual_seed(0)
    ups = (torch.randn(count, 2 * ffn, hidden, device=DEVICE) * hidden**-0.5).to(dtype)
    downs = (torch.randn(count, hidden, ffn, device=DEVICE) * ffn**-0.5).to(dtype)
    mlps = [
        ExpertMlp(kernels.weight(up), kernels.weight(down))
        for up, down in zip(ups, downs, strict=True)
    ]
    layer = kernels.experts(mlps, rule)
    norm = RmsNorm(torch.rand(hidden, device=DEVICE).to(dtype) + 0.5, 1e-6)
    router = kernels.weight(torch.randn(count, hidden, device=DEVICE).to(dtype) * hidden**-0.5)
    for rows in (1, 2, 4):
        x = torch.randn(rows, hidden, device=DEVICE).to(dtype)
        chosen, shares = route(router.matmul(x, norm), rule)
        wide = x.double()
        scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + norm.eps)
        normed = wide * scale * norm.weight.double()
        right = torch.zeros_like(wide)
        for row in range(rows):
            for expert, share in zip(chosen[row].tolist(), shares[row].tolist(), strict=True):
                gate, up = (ups[expert].double() @ normed[row]).chunk(2)
                gated = torch.nn.functional.silu(gate) * up
                right[row] += share * (downs[expert].double() @ gated)
        residual = x.clone()
        assert layer.add(residual, norm, router)
        error = (residual.double() - wide - right).norm() / right.norm()
        assert error < (2e-2 if dtype == torch.bfloat16 else 1e-4), rows
        again = x.clone()
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            layer.add(again, norm, router)
        for _ in range(20):
            again.copy_(x)
            graph.replay()
            assert torch.equal(again, residual), rows


def test_a_captured_layer_follows_its_inputs() -> None:
    kernels, rule = GpuKernels(DEVICE), MixtureRule(4, renormalised=True, gate=SILU)
    mlps = [
        ExpertMlp(
            kernels.weight(randn(128, 64, seed=e).cuda().bfloat16()),
            kernels.weight(randn(64, 64, seed=99 + e).cuda().bfloat16()),
        )
        for e in range(16)
    ]
    layer = kernels.experts(mlps, rule)
    x, logits = torch.zeros((6, 64), device=DEVICE).bfloat16(), torch.zeros((6, 16), device=DEVICE)
    layer.outputs(x, logits)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        out = layer.outputs(x, logits)
    for seed in range(5):
        x.copy_(randn(6, 64, seed=seed))
        logits.copy_(randn(6, 16, seed=seed + 50))
        graph.replay()
        assert torch.equal(out, layer.outputs(x, logits))
