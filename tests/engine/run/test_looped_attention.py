"""Attention in loops: against the definition in torch, with few tokens and many, alone and in company."""

from collections.abc import Callable, Sequence
from dataclasses import replace

import pytest
import torch
from intaglio.engine.api import model_folder
from intaglio.engine.model.spec import read_spec
from intaglio.engine.run.host.attention_loops import QUERY_TILE
from intaglio.engine.run.host.looped_attention import LoopedPass
from intaglio.engine.run.host.looped_kernels import LoopedKernels, has_loops
from intaglio.engine.run.host.shares import ShareThreads
from intaglio.kernels.contracts import Places, QKNorm, Ragged, ScoreScaling
from intaglio.kernels.linear import packed
from intaglio.kernels.reference_kernels import ReferenceKernels, ReferencePass
from torch import Tensor

HEADS, KV_HEADS, SIZE, BLOCK = 6, 2, 32, 4
POSITIONS = 400


def randn(*shape: int, seed: int = 0) -> Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).bfloat16()


def norms() -> QKNorm:
    return QKNorm(1 + randn(SIZE, seed=5) / 4, 1 + randn(SIZE, seed=6) / 4, 1e-6)


class Step:
    """A step of sequences of (tokens of this step, length), over a cache of random keys and values."""

    def __init__(self, *sequences: tuple[int, int], padding: int = 0) -> None:
        starts, lengths, tables = [0], list[int](), list[list[int]]()
        positions, slots = list[int](), list[int]()
        width = max(-(-length // BLOCK) for _, length in sequences)
        block = 1
        for count, length in sequences:
            table = list(range(block, block + -(-length // BLOCK)))
            block += len(table)
            tables.append(table + [0] * (width - len(table)))
            starts.append(starts[-1] + count)
            lengths.append(length)
            new = range(length - count, length)
            positions += new
            slots += [table[at // BLOCK] * BLOCK + at % BLOCK for at in new]
        by_sequence = (starts, lengths, tables)
        first, second, third = (torch.tensor(each, dtype=torch.int32) for each in by_sequence)
        self.ragged = Ragged(first, second, third)
        cos, sin = randn(POSITIONS, SIZE, seed=1), randn(POSITIONS, SIZE, seed=2)
        self.places = Places(cos, sin, torch.tensor(positions + [0] * padding), torch.tensor(slots))
        self.fused = randn(starts[-1] + padding, HEADS + 2 * KV_HEADS, SIZE, seed=3)
        self.cache = randn(2, block, BLOCK, KV_HEADS, SIZE, seed=4)
        self.cache[:, 0] = 0

    def run(
        self, kernels: ReferenceKernels, norms: QKNorm | None = None, scale: float | None = None
    ) -> tuple[Tensor, Tensor]:
        """The attended values, and the cache afterwards."""
        cache = self.cache.clone()
        attention = kernels.attend(
            self.ragged, self.places, HEADS, cache.shape, ScoreScaling(scale)
        )
        return attention.run(self.fused.clone(), norms, cache), cache


@pytest.mark.parametrize(
    "sequences",
    [
        [(1, 1)],
        [(1, 131)],
        [(3, 9), (1, 40), (QUERY_TILE, QUERY_TILE)],
        [(QUERY_TILE + 1, QUERY_TILE + 1)],
        [(2, 30), (40, 300), (1, 17), (QUERY_TILE + 5, 150)],
    ],
)
@pytest.mark.parametrize("normed", [False, True])
def test_attention_is_that_of_torch(sequences: list[tuple[int, int]], normed: bool) -> None:
    step = Step(*sequences, padding=2)
    given = norms() if normed else None
    got, cache = step.run(LoopedKernels(), given, 0.3)
    right, right_cache = step.run(ReferenceKernels(), given, 0.3)
    rows = int(step.ragged.query_starts[-1])
    error = (got - right)[:rows].float().norm(dim=2) / right[:rows].float().norm(dim=2)
    assert error.max() < 0.1
    assert error.mean() < 0.01
    assert got[rows:].count_nonzero() == 0
    torch.testing.assert_close(cache, right_cache, atol=0.02, rtol=0.02)
    untouched = torch.ones(cache.shape[1] * BLOCK, dtype=torch.bool)
    untouched[step.places.slots] = False
    for plane, before in zip(cache, step.cache, strict=True):
        assert torch.equal(
            plane.view(-1, KV_HEADS, SIZE)[untouched], before.view(-1, KV_HEADS, SIZE)[untouched]
        )


def test_a_token_has_the_same_bits_in_any_company() -> None:
    step = Step((1, 60), (6, 90), (40, 44), (1, 3))
    whole, cache = step.run(LoopedKernels(), norms())
    alone = Step((1, 90))
    for token in range(6):  # the same keys are there already
        length = 90 - 6 + token + 1
        at = 1 + token
        alone.ragged = Ragged(
            torch.tensor([0, 1], dtype=torch.int32),
            torch.tensor([length], dtype=torch.int32),
            step.ragged.block_tables[1:2],
        )
        alone.places = replace(
            step.places,
            positions=step.places.positions[at : at + 1],
            slots=step.places.slots[at : at + 1],
        )
        alone.fused, alone.cache = step.fused[at : at + 1], cache
        got, same = alone.run(LoopedKernels(), norms())
        assert torch.equal(got[0], whole[at])
        assert torch.equal(same, cache)


def test_the_bits_are_the_same_with_any_number_of_threads() -> None:
    step = Step((400, 400), (300, 400), (400, 400), (1, 30), (390, 400))
    right, _ = step.run(LoopedKernels(threads=ShareThreads(1)))
    counts = list[int]()

    class Counted(ShareThreads):
        def run(self, work: Callable[[slice], None], shares: Sequence[slice]) -> None:
            counts.append(len(shares))
            super().run(work, shares)

    got, _ = step.run(LoopedKernels(threads=Counted(3)))
    assert counts == [3]
    assert torch.equal(got, right)


def test_the_weights_of_norms_may_be_float32() -> None:
    step, narrow = Step((3, 9), (QUERY_TILE + 1, 30)), norms()
    wide = QKNorm(narrow.query.float(), narrow.key.float(), narrow.eps)
    got, cache = step.run(LoopedKernels(), wide)
    right, right_cache = step.run(LoopedKernels(), narrow)
    assert torch.equal(got, right)
    assert torch.equal(cache, right_cache)


def test_negative_slots_are_not_stored() -> None:
    step = Step((3, 9))
    step.places.slots[1] = -1
    _, cache = step.run(LoopedKernels())
    _, right = step.run(ReferenceKernels())
    torch.testing.assert_close(cache, right, atol=0.02, rtol=0.02)


def test_windows_and_soft_caps_are_left_to_torch_and_sinks_refused() -> None:
    step, kernels = Step((2, 9)), LoopedKernels()
    given = step.ragged, step.places, HEADS, step.cache.shape
    assert isinstance(kernels.attend(*given, window=4), ReferencePass)
    assert isinstance(kernels.attend(*given, ScoreScaling(softcap=3.0)), ReferencePass)
    looped = kernels.attend(*given)
    assert isinstance(looped, LoopedPass)
    with pytest.raises(ValueError, match="sinks"):
        looped.run(step.fused, None, step.cache, torch.zeros(HEADS))


def test_wide_models_other_dtypes_and_other_devices_have_no_loops() -> None:
    spec, host = read_spec(model_folder(None)), torch.device("cpu")
    assert has_loops(spec, host, torch.bfloat16) == packed.is_available()
    with_sinks = replace(spec, family=replace(spec.family, sinks=True))
    for other in (replace(spec, heads=32), with_sinks):
        assert not has_loops(other, host, torch.bfloat16)
    assert not has_loops(spec, host, torch.float32)
    assert not has_loops(spec, torch.device("cuda"), torch.bfloat16)
