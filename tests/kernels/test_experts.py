"""Mixtures of experts, interpreted, against the definition in torch: few and many pairs, odd sizes."""

import random

import pytest
import torch
from intaglio.kernels.contracts import Activation, ExpertMlp, Gate, MixtureRule, Weight
from intaglio.kernels.dispatch import choose
from intaglio.kernels.expert_choice import GroupedChoice
from intaglio.kernels.experts.expert_matrices import ExpertMatrices
from intaglio.kernels.experts.expert_product import (
    PairGate,
    Pairs,
    ProductShape,
    expert_product,
    paired,
)
from intaglio.kernels.experts.grouped_experts import GroupedExperts
from intaglio.kernels.experts.reference_experts import ReferenceExperts
from intaglio.kernels.experts.reference_experts import route as reference_route
from intaglio.kernels.experts.route import combine, route
from intaglio.kernels.linear.linear import DenseWeight
from intaglio.kernels.mxfp4_weight import Mxfp4Weight, decoded
from intaglio.kernels.reference import ReferenceWeight

from tests.support.drawn_codes import mxfp4

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

SILU = Gate(Activation.SILU)
SMALL = ProductShape(16, 16, 16, 2, 1)


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


@pytest.mark.parametrize("renormalised", [True, False])
@pytest.mark.parametrize(("experts", "per_token"), [(5, 1), (8, 2), (60, 4), (128, 8)])
def test_the_chosen_experts_and_their_shares(
    experts: int, per_token: int, renormalised: bool
) -> None:
    logits = 3 * randn(9, experts + 3)[:, 1 : experts + 1]
    rule = MixtureRule(per_token, renormalised, SILU)
    chosen, shares = route(logits, rule)
    expected = reference_route(logits, rule)
    assert torch.equal(chosen.long(), expected.chosen)
    torch.testing.assert_close(shares, expected.shares, atol=1e-6, rtol=1e-6)


def test_logits_that_are_no_numbers_choose_experts_that_exist() -> None:
    logits = randn(3, 6)
    logits[1] = float("nan")
    chosen, _ = route(logits, MixtureRule(2, renormalised=True, gate=SILU))
    assert int(chosen.min()) >= 0
    assert int(chosen.max()) < 6


@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_products_of_pairs(seed: int, is_sorted: bool) -> None:
    dice = random.Random(seed)
    experts, per_token, rows = dice.choice((3, 8, 40)), dice.randint(1, 3), dice.randint(1, 30)
    inputs, written = dice.randint(3, 40) * 2, dice.randint(3, 50)
    activation = dice.choice((None, *Activation))
    gate = None if activation is None else PairGate(activation)
    outputs = written if gate is None else 2 * written
    matrices, x = randn(experts, outputs, inputs), randn(rows, inputs + 4, seed=1)[:, 2:-2]
    biases = randn(experts, outputs, seed=3) if dice.random() < 0.5 else None
    most = dice.choice((1, experts))  # all rows choose one expert, or any
    chosen = torch.tensor(
        [[dice.randrange(most) for _ in range(per_token)] for _ in range(rows)], dtype=torch.int32
    )
    shares = randn(rows * per_token, seed=2).abs() if dice.random() < 0.5 else None
    out = torch.full((rows * per_token, written), float("nan"))
    pairs = paired(chosen, experts, 0 if is_sorted else 1000)
    expert_product(
        x,
        ExpertMatrices(matrices, None, biases),
        pairs,
        out,
        per_row=per_token,
        gate=gate,
        shares=shares,
        shape=SMALL,
    )
    for pair, expert in enumerate(chosen.view(-1).tolist()):
        epilogue = None if activation is None else Gate(activation)
        one = x[pair // per_token : pair // per_token + 1].double()
        bias = None if biases is None else biases[expert].double()
        right = ReferenceWeight(matrices[expert].double(), bias).matmul(one, None, epilogue)[0]
        if shares is not None:
            right = right * shares[pair].double()
        torch.testing.assert_close(out[pair].double(), right, atol=1e-4, rtol=1e-4)


def test_numbers_that_are_no_experts_read_no_other_memory() -> None:
    """They occur while kernels are compiled ahead of the first step."""
    matrices = ExpertMatrices(torch.full((3, 4, 8), 2.0))
    chosen = torch.tensor([7, -(1 << 30)], dtype=torch.int32)
    out = torch.zeros((2, 4))
    expert_product(torch.ones(2, 8), matrices, Pairs(chosen), out, per_row=1, shape=SMALL)
    assert bool(((out == 0) | (out == 16)).all())


def test_many_pairs_are_sorted() -> None:
    chosen = torch.tensor([[3, 0], [0, 5], [3, 3]], dtype=torch.int32)
    assert paired(chosen, 6).order is None
    pairs = paired(chosen, 6, most_scanned=5)
    assert pairs.order is not None
    assert pairs.order.tolist() == [1, 2, 0, 4, 5, 3]
    assert pairs.starts is not None
    assert pairs.starts.tolist() == [0, 2, 2, 2, 5, 5, 6]


def test_parts_are_added_in_float32() -> None:
    parts = torch.tensor([[[1.0], [2.0**-8], [2.0**-8]]]).bfloat16()
    assert combine(parts).item() == 1 + 2.0**-7


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize(("experts", "per_token"), [(4, 2), (16, 3)])
def test_a_layer_of_experts_is_that_of_the_reference(
    rows: int, experts: int, per_token: int
) -> None:
    hidden, ffn = 32, 24
    gate_up, down = randn(experts, 2 * ffn, hidden), randn(experts, hidden, ffn, seed=1)
    rule = MixtureRule(per_token, renormalised=True, gate=SILU)
    counters = torch.zeros(8, dtype=torch.int32)
    mlps = [
        ExpertMlp(DenseWeight(a, None, counters), DenseWeight(b, None, counters))
        for a, b in zip(gate_up, down, strict=True)
    ]
    plain = [
        ExpertMlp(ReferenceWeight(a, None), ReferenceWeight(b, None))
        for a, b in zip(gate_up, down, strict=True)
    ]
    x, logits = randn(rows, hidden, seed=2), randn(rows, experts, seed=3)
    got = GroupedExperts(mlps, rule).outputs(x, logits)
    right = ReferenceExperts(plain, rule).outputs(x, logits)
    torch.testing.assert_close(got, right, atol=1e-4, rtol=1e-4)


def test_weights_of_another_kind_are_refused() -> None:
    weight = ReferenceWeight(randn(4, 4), None)
    with pytest.raises(ValueError, match="unquantised or in MXFP4"):
        GroupedExperts([ExpertMlp(weight, weight)], MixtureRule(1, renormalised=True, gate=SILU))


def test_experts_that_are_chosen_by_groups_are_refused() -> None:
    mlp = ExpertMlp(
        *(DenseWeight(randn(*s), None, torch.zeros(1, dtype=torch.int32)) for s in ((8, 4), (4, 4)))
    )
    choice = GroupedChoice(sigmoid=True, groups=1, kept=1, summed=1, scale=1.0)
    with pytest.raises(ValueError, match="by groups"):
        GroupedExperts([mlp], MixtureRule(1, renormalised=True, gate=SILU, grouped=choice))


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16])
def test_shares_among_the_chosen_are_rounded_as_the_logits_are(dtype: torch.dtype) -> None:
    """Also where other experts are so likely that the probabilities of all but one are zero."""
    logits = (randn(9, 6).argsort(-1) / 2).to(dtype)
    logits[1] *= 100
    rule = MixtureRule(3, renormalised=True, gate=SILU, of_chosen=True)
    chosen, shares = route(logits, rule)
    expected = reference_route(logits, rule)
    assert torch.equal(chosen.long(), expected.chosen)
    torch.testing.assert_close(shares, expected.shares.float(), atol=1e-6, rtol=1e-3)
    assert torch.equal(shares, shares.to(dtype).float())


@pytest.mark.parametrize("rows", [1, 7])
@pytest.mark.parametrize("coded", [False, True])
def test_a_layer_of_gpt_oss_is_that_of_the_reference(coded: bool, rows: int) -> None:
    """With biases and clamped gates; unquantised, and in MXFP4 with groups of every scale."""
    hidden, ffn, experts = 96, 64, 6
    rule = MixtureRule(3, renormalised=True, gate=SILU, of_chosen=True, clamp=(1.702, 1.5))
    sizes = [(2 * ffn, hidden), (hidden, ffn)]
    here, there = [], []
    for e in range(experts):
        pair = [
            weights(outputs, inputs, 10 * e + i, coded=coded)
            for i, (outputs, inputs) in enumerate(sizes)
        ]
        here.append(ExpertMlp(*(weight for weight, _ in pair)))
        there.append(ExpertMlp(*(weight for _, weight in pair)))
    x, logits = randn(rows, hidden, seed=2), randn(rows, experts, seed=3)
    got = GroupedExperts(there, rule).outputs(x, logits)
    right = ReferenceExperts(here, rule).outputs(x, logits)
    torch.testing.assert_close(got, right, atol=1e-4, rtol=1e-4)


@pytest.mark.parametrize("coded", [False, True])
def test_parts_of_the_hidden_units_add_up_to_the_whole(coded: bool) -> None:
    """Of 96 units, three groups of MXFP4, one part has two thirds; the first part has the bias of the outputs."""
    hidden, ffn, cut, experts = 64, 96, 64, 5
    rule = MixtureRule(3, renormalised=True, gate=SILU, of_chosen=True, clamp=(1.702, 1.5))
    whole: list[ExpertMlp] = []
    first: list[ExpertMlp] = []
    second: list[ExpertMlp] = []
    counters = torch.zeros(1, dtype=torch.int32)
    for e in range(experts):
        up, down = mxfp4(2 * ffn, hidden, 2 * e), mxfp4(hidden, ffn, 2 * e + 1)
        biases = randn(2 * ffn, seed=e), randn(hidden, seed=e + 50)
        for mlps, units, bias in (
            (whole, range(ffn), biases[1]),
            (first, range(cut), biases[1]),
            (second, range(cut, ffn), torch.zeros(hidden)),
        ):
            rows = torch.tensor([*units, *(unit + ffn for unit in units)])
            groups = slice(units.start // 32, units.stop // 32)
            parts = (
                (up[0][rows], up[1][rows], biases[0][rows]),
                (down[0][:, groups].contiguous(), down[1][:, groups].contiguous(), bias),
            )
            mlps.append(
                ExpertMlp(
                    *(
                        Mxfp4Weight(blocks, scales, own, choose(torch.device("cpu")))
                        if coded
                        else DenseWeight(decoded(blocks, scales, torch.float32), own, counters)
                        for blocks, scales, own in parts
                    )
                )
            )
    x, logits = randn(7, hidden, seed=2), randn(7, experts, seed=3)
    right, *parts_of = (
        GroupedExperts(mlps, rule).outputs(x, logits) for mlps in (whole, first, second)
    )
    torch.testing.assert_close(sum(parts_of), right, atol=1e-3, rtol=1e-4)


def weights(outputs: int, inputs: int, seed: int, *, coded: bool) -> tuple[Weight, Weight]:
    """The same weight for the reference and for the kernels."""
    bias = randn(outputs, seed=seed)
    if not coded:
        matrix = randn(outputs, inputs, seed=seed)
        return ReferenceWeight(matrix, bias), DenseWeight(
            matrix, bias, torch.zeros(1, dtype=torch.int32)
        )
    weight = Mxfp4Weight(*mxfp4(outputs, inputs, seed), bias, choose(torch.device("cpu")))
    return weight, weight
