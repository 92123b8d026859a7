"""The parts of stacked experts that two ranks hold, put together again."""

from dataclasses import replace

import pytest
import torch
from intaglio.engine.model.sharded_experts import StackPart, coded_groups
from intaglio.engine.model.spec import ModelSpec, parse_spec
from intaglio.engine.parallel.parallel_layout import ParallelLayout

from tests.support.tiny_families import CONFIGS
from tests.support.tiny_mxfp4 import CODED_GPT_OSS, PLAIN_GPT_OSS

UNITS = 128
EXPERTS = 3
PREFIX = "model.layers.1.mlp.experts."


def spec(*, alternates: bool = True) -> ModelSpec:
    """A small gpt-oss; without `alternates` its outputs of gate all come first."""
    parsed = parse_spec(PLAIN_GPT_OSS | {"intermediate_size": UNITS})
    layout = parsed.family.experts
    assert layout is not None
    assert layout.stacked is not None
    stacked = replace(layout.stacked, alternates=alternates)
    return replace(parsed, family=replace(parsed.family, experts=replace(layout, stacked=stacked)))


def cut(name: str, tensor: torch.Tensor, of: ModelSpec) -> list[torch.Tensor]:
    part = StackPart.named(PREFIX + name, of)
    assert part is not None
    return [part.cut(tensor.clone(), of, ParallelLayout(2, rank)) for rank in range(2)]


def drawn(*sizes: int) -> torch.Tensor:
    return torch.randn(sizes, generator=torch.Generator().manual_seed(1))


def gate_and_up(tensor: torch.Tensor, outputs: int, *, alternates: bool) -> list[torch.Tensor]:
    count = tensor.shape[outputs]
    order = torch.arange(count)
    halves = (
        (order[0::2], order[1::2]) if alternates else (order[: count // 2], order[count // 2 :])
    )
    return [tensor.index_select(outputs, half) for half in halves]


@pytest.mark.parametrize("alternates", [False, True])
@pytest.mark.parametrize(
    ("name", "sizes", "outputs"),
    [
        ("gate_up_proj", (8, 2 * UNITS), 2),
        ("gate_up_proj_bias", (2 * UNITS,), 1),
        ("gate_up_proj_blocks", (2 * UNITS, 2, 16), 1),
        ("gate_up_proj_scales", (2 * UNITS, 2), 1),
    ],
)
def test_a_rank_has_gate_and_up_of_the_same_units(
    name: str, sizes: tuple[int, ...], outputs: int, alternates: bool
) -> None:
    whole = drawn(EXPERTS, *sizes)
    parts = cut(name, whole, spec(alternates=alternates))
    expected = gate_and_up(whole, outputs, alternates=alternates)
    found = [gate_and_up(part, outputs, alternates=alternates) for part in parts]
    for both, right in zip(zip(*found, strict=True), expected, strict=True):
        assert [each.shape[outputs] for each in both] == [UNITS // 2] * 2
        assert torch.equal(torch.cat(both, outputs), right)


@pytest.mark.parametrize(
    ("name", "sizes", "inputs"),
    [
        ("down_proj", (UNITS, 8), 1),
        ("down_proj_blocks", (8, UNITS // 32, 16), 2),
        ("down_proj_scales", (8, UNITS // 32), 2),
    ],
)
def test_a_rank_has_the_inputs_of_its_units_in_whole_groups(
    name: str, sizes: tuple[int, ...], inputs: int
) -> None:
    whole = drawn(EXPERTS, *sizes)
    parts = cut(name, whole, spec())
    assert parts[0].shape == parts[1].shape
    assert torch.equal(torch.cat(parts, inputs), whole)


def test_the_first_rank_alone_adds_the_bias_of_the_outputs() -> None:
    whole = drawn(EXPERTS, 8)
    first, second = cut("down_proj_bias", whole, spec())
    assert torch.equal(first, whole)
    assert not second.any()


@pytest.mark.parametrize("name", ["model.layers.1.mlp.router.weight", "model.norm.weight"])
def test_other_tensors_are_no_stacks(name: str) -> None:
    assert StackPart.named(name, spec()) is None


def test_experts_of_their_own_tensors_are_no_stacks() -> None:
    mixtral = parse_spec(CONFIGS["mixtral"])
    assert StackPart.named("model.layers.0.block_sparse_moe.experts.0.w2.weight", mixtral) is None


def test_only_codes_have_groups() -> None:
    sized = {"intermediate_size": UNITS}
    assert coded_groups(parse_spec(CODED_GPT_OSS | sized)) == 4
    assert coded_groups(parse_spec(PLAIN_GPT_OSS | sized)) is None
