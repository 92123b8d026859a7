"""The fused experts of few rows, interpreted, against the definition in torch: choices, shares, odd sizes."""

import pytest
import torch
from intaglio.kernels import reference
from intaglio.kernels.contracts import Activation, ExpertMlp, Gate, MixtureRule, RmsNorm
from intaglio.kernels.experts.few_rows import MOST_ROWS, add_few
from intaglio.kernels.experts.grouped_experts import GroupedExperts
from intaglio.kernels.experts.reference_experts import ReferenceExperts
from intaglio.kernels.experts.route import route
from intaglio.kernels.linear.linear import DenseWeight
from intaglio.kernels.reference import ReferenceWeight

pytestmark = pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs them there")

SILU = Gate(Activation.SILU)


def randn(*shape: int, seed: int = 0) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def mixture(
    hidden: int, ffn: int, count: int, rule: MixtureRule
) -> tuple[GroupedExperts, ReferenceExperts]:
    ups = [randn(2 * ffn, hidden, seed=e) * 0.2 for e in range(count)]
    downs = [randn(hidden, ffn, seed=500 + e) * 0.2 for e in range(count)]
    counters = torch.zeros(64, dtype=torch.int32)
    return (
        GroupedExperts(
            [
                ExpertMlp(DenseWeight(up, None, counters), DenseWeight(down, None, counters))
                for up, down in zip(ups, downs, strict=True)
            ],
            rule,
        ),
        ReferenceExperts(
            [
                ExpertMlp(ReferenceWeight(up, None), ReferenceWeight(down, None))
                for up, down in zip(ups, downs, strict=True)
            ],
            rule,
        ),
    )


@pytest.mark.parametrize(
    ("hidden", "ffn", "count", "per_token", "activation", "normed", "renormalised"),
    [
        (64, 48, 6, 2, Activation.SILU, True, True),
        (130, 33, 5, 3, Activation.GELU_TANH, False, False),
        (300, 40, 9, 8, Activation.SILU, True, False),
    ],
)
def test_rows_get_the_outputs_of_the_definition(
    hidden: int,
    ffn: int,
    count: int,
    per_token: int,
    activation: Activation,
    normed: bool,
    renormalised: bool,
) -> None:
    rule = MixtureRule(per_token, renormalised, Gate(activation))
    fused, definition = mixture(hidden, ffn, count, rule)
    norm = RmsNorm(randn(hidden, seed=9), 1e-5) if normed else None
    matrix = randn(count, hidden, seed=8) * 0.3
    router = DenseWeight(matrix, None, torch.zeros(64, dtype=torch.int32))
    for rows in (1, MOST_ROWS - 1):
        residual = randn(rows, hidden, seed=rows)
        x = residual if norm is None else reference.rms_norm(residual, norm.weight, norm.eps)
        right = residual + definition.outputs(x, x @ matrix.T)
        assert fused.add(residual, norm, router)
        torch.testing.assert_close(residual, right, atol=1e-4, rtol=1e-4)


def test_the_choice_is_that_of_the_separate_kernel() -> None:
    """With equal logits, too. Experts whose outputs are their numbers, added with their shares, show the choice."""
    count, rule = 128, MixtureRule(8, renormalised=True, gate=SILU)
    number = torch.eye(count)
    ups = torch.ones(count, 2, 1)
    counters = torch.zeros(64, dtype=torch.int32)
    layer = GroupedExperts(
        [
            ExpertMlp(
                DenseWeight(ups[e], None, counters),
                DenseWeight(number[e].unsqueeze(1).contiguous(), None, counters),
            )
            for e in range(count)
        ],
        rule,
    )
    layer.gate_up = type(layer.gate_up)(ups.expand(count, 2, 128).contiguous() / 128)
    for seed in range(2):
        logits = (4 * randn(2, count, seed=seed)).round() / 2
        residual = torch.ones(2, count)
        add_few(residual, None, logits, rule, layer.gate_up, layer.down)
        chosen, shares = route(logits, rule)
        gated = torch.sigmoid(torch.ones(()))
        right = torch.ones(2, count).scatter_add_(1, chosen.long(), shares * gated)
        torch.testing.assert_close(residual, right, atol=1e-6, rtol=1e-6)


def test_logits_that_are_no_numbers_choose_experts_that_exist() -> None:
    rule = MixtureRule(2, renormalised=True, gate=SILU)
    fused, _ = mixture(32, 16, 6, rule)
    logits = randn(2, 6)
    logits[0] = float("nan")
    add_few(randn(2, 32), None, logits, rule, fused.gate_up, fused.down)


def test_other_experts_and_more_rows_take_the_separate_kernels() -> None:
    hidden, count = 32, 6
    router = DenseWeight(randn(count, hidden), None, torch.zeros(64, dtype=torch.int32))
    plain, _ = mixture(hidden, 16, count, MixtureRule(2, renormalised=True, gate=SILU))
    of_chosen = MixtureRule(2, renormalised=True, gate=SILU, of_chosen=True)
    other, _ = mixture(hidden, 16, count, of_chosen)
    for layer, rows in ((plain, MOST_ROWS + 1), (other, 1)):
        residual = randn(rows, hidden)
        assert not layer.add(residual, None, router)
        assert torch.equal(residual, randn(rows, hidden))
