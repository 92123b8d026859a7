"""What FlashInfer is handed, with an attention in its place that reads exactly that; tests/gpu has the real one."""

import random
import sys
from itertools import pairwise
from types import ModuleType
from typing import Any

import numpy as np
import pytest
import torch
from intaglio.kernels.attention import flashinfer
from intaglio.kernels.attention.flashinfer import FlashInfer, memory_bytes, pages
from intaglio.kernels.contracts import HostRagged, Ragged
from intaglio.kernels.dispatch import choose

from tests.support.paged import Heads, RawStep, dense, make_raw_step, on_host

CPU = torch.device("cpu")


def described_step(seed: int) -> tuple[HostRagged, int]:
    """Contexts in rows of a table in any order; what lies past a context, or in other rows, is -1."""
    dice = random.Random(seed)
    block_size = dice.choice([1, 4, 16, 32])
    edges = [1, block_size, block_size + 1, 200]
    lengths = [dice.choice([*edges, dice.randint(1, 200)]) for _ in range(dice.randint(1, 12))]
    rows = dice.sample(range(len(lengths) + 3), len(lengths))
    width = -(-max(lengths) // block_size) + dice.randint(0, 2)
    tables = np.full((len(lengths) + 3, width), -1, dtype=np.int32)
    blocks = dice.sample(range(1, 5000), 12 * 200)
    for row, length in zip(rows, lengths, strict=True):
        for column in range(-(-length // block_size)):
            tables[row, column] = blocks.pop()
    starts = np.arange(len(lengths) + 1, dtype=np.int64)
    return HostRagged(starts, np.array(lengths), np.array(rows), tables), block_size


@pytest.mark.parametrize("seed", range(100))
def test_pages_lead_to_every_key_in_order(seed: int) -> None:
    host, block_size = described_step(seed)
    got = pages(host, block_size)
    assert got.starts.dtype == got.indices.dtype == got.last.dtype == np.int32
    assert got.starts[0] == 0
    assert got.starts[-1] == got.indices.size
    for s, length in enumerate(host.context_lengths.tolist()):
        mine = got.indices[got.starts[s] : got.starts[s + 1]].tolist()
        assert 1 <= got.last[s] <= block_size
        sizes = [block_size] * (len(mine) - 1) + [int(got.last[s])]
        slots = [b * block_size + i for b, n in zip(mine, sizes, strict=True) for i in range(n)]
        table = host.tables[host.rows[s]]
        expected = [
            int(table[p // block_size]) * block_size + p % block_size for p in range(length)
        ]
        assert slots == expected


@pytest.mark.parametrize(
    ("heads", "kv_heads", "dim", "processors"),
    [(32, 8, 128, 132), (16, 8, 128, 132), (64, 4, 128, 148), (8, 1, 256, 108), (6, 2, 64, 20)],
)
def test_memory_holds_what_a_full_device_of_split_contexts_leaves(
    heads: int, kv_heads: int, dim: int, processors: int
) -> None:
    """A plan of as many programs as are ever split, each with the largest tile, for all heads."""
    programs = max(p for p in range(2 * processors + 1) if p * kv_heads <= 2 * processors)
    values = heads * programs * 128 * dim
    sums = heads * programs * 128
    assert memory_bytes(heads, kv_heads, dim, processors) >= 4 * (values + sums)


class Planner:
    """FlashInfer's wrapper, as far as its documentation goes: pages of plain memory, causal attention."""

    made: list["Planner"]

    def __init__(self, memory: torch.Tensor, layout: str, *, backend: str) -> None:
        assert (memory.dtype, layout, backend) == (torch.uint8, "NHD", "fa2")
        self.plans = 0
        Planner.made.append(self)

    def plan(
        self,
        starts: torch.Tensor,
        page_starts: torch.Tensor,
        indices: torch.Tensor,
        last: torch.Tensor,
        heads: int,
        kv_heads: int,
        dim: int,
        page_size: int,
        *,
        causal: bool,
        q_data_type: torch.dtype,
        kv_data_type: torch.dtype,
        seq_lens: torch.Tensor,
    ) -> None:
        assert all(t.dtype == torch.int32 for t in (starts, page_starts, indices, last, seq_lens))
        assert causal
        assert q_data_type == kv_data_type == torch.float32
        self.sizes = (heads, kv_heads, dim, page_size)
        self.starts, self.page_starts = starts.tolist(), page_starts.tolist()
        self.indices, self.lengths = indices.long(), []
        for s, end in enumerate(last.tolist()):
            whole = self.page_starts[s + 1] - self.page_starts[s] - 1
            self.lengths.append(whole * page_size + end)
        assert seq_lens.tolist() == self.lengths
        self.plans += 1

    def run(
        self,
        query: torch.Tensor,
        cache: tuple[torch.Tensor, torch.Tensor],
        *,
        out: torch.Tensor,
        enable_pdl: bool,
    ) -> None:
        assert not enable_pdl
        keys, values = cache
        assert (query.shape[1], keys.shape[2], keys.shape[3], keys.shape[1]) == self.sizes
        for s, length in enumerate(self.lengths):
            mine = self.indices[self.page_starts[s] : self.page_starts[s + 1]]
            rows = slice(self.starts[s], self.starts[s + 1])
            keys_of, values_of = (side[mine].flatten(0, 1)[:length] for side in (keys, values))
            out[rows] = dense(query[rows], keys_of, values_of)


class Event:
    """Of a device that copies at once."""

    log: list[tuple[str, "Event"]]

    def record(self, stream: object) -> None:
        Event.log.append(("record", self))

    def synchronize(self) -> None:
        Event.log.append(("wait", self))


@pytest.fixture
def ready(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Makes a `FlashInfer` for heads of key and query, with `Planner` for what it plans."""
    module = ModuleType("flashinfer")
    module.BatchPrefillWithPagedKVCacheWrapper = Planner  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "flashinfer", module)
    monkeypatch.setattr(torch.cuda, "Event", Event)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda device: device)
    monkeypatch.setattr(flashinfer, "LEAST_MEMORY", 0)
    monkeypatch.setattr(torch.Tensor, "pin_memory", lambda tensor: tensor)
    Planner.made, Event.log = [], []

    def make(heads: Heads) -> FlashInfer:
        return FlashInfer(CPU, torch.float32, heads.kv * heads.per_kv, heads.kv, heads.dim)

    return make


def described(step: RawStep) -> Ragged:
    """The step's sequences, told to the host, too."""
    ragged = step.ragged
    return Ragged(
        ragged.query_starts, ragged.context_lengths, ragged.block_tables, host=on_host(ragged)
    )


@pytest.mark.skipif(torch.cuda.is_available(), reason="tests/gpu runs it there")
@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("heads", [Heads(2, 3, 16), Heads(1, 1, 64)])
@pytest.mark.parametrize(
    ("lengths", "counts"),
    [([40], [40]), ([33, 7], [1, 1]), ([20, 50, 9, 16], [3, 1, 9, 16]), ([1], [1])],
)
def test_new_tokens_are_placed_and_attended(
    lengths: list[int], counts: list[int], heads: Heads, normed: bool, ready: Any
) -> None:
    step = make_raw_step(lengths, counts, heads, normed=normed, seed=2)
    query_heads = heads.kv * heads.per_kv
    here, there = step.to(CPU), step.to(CPU)
    attention = choose(CPU).attend(here.ragged, here.places, query_heads, here.cache.shape)
    expected = attention.run(here.fused, here.norms, here.cache)
    backend = ready(heads)
    attention = backend.attend(described(there), there.places, query_heads, there.cache.shape)
    got = attention.run(there.fused, there.norms, there.cache)
    torch.testing.assert_close(got, expected, atol=1e-5, rtol=1e-5)
    torch.testing.assert_close(there.cache, here.cache, atol=1e-5, rtol=1e-5)


def test_a_planner_is_not_planned_anew_before_its_last_plan_was_copied(ready: Any) -> None:
    heads = Heads(1, 2, 16)
    step = make_raw_step([20], [4], heads, normed=False, seed=1)
    backend = ready(heads)  # which plans once, to be ready
    for _ in range(5):
        backend.attend(described(step), step.places, 2, step.cache.shape)
    assert [planner.plans for planner in Planner.made] == [3, 3]
    steps = [Event.log[i : i + 2] for i in range(0, len(Event.log), 2)]
    assert all([what for what, _ in pair] == ["wait", "record"] for pair in steps)
    assert all(pair[0][1] is pair[1][1] for pair in steps)
    assert all(a[0][1] is not b[0][1] for a, b in pairwise(steps))


def test_a_step_that_the_host_does_not_describe_is_refused(ready: Any) -> None:
    heads = Heads(1, 1, 16)
    step = make_raw_step([20], [4], heads, normed=False, seed=1)
    with pytest.raises(ValueError, match="on the host"):
        ready(heads).attend(step.ragged, step.places, 1, step.cache.shape)


def test_a_host_is_given_no_other_attention(ready: Any) -> None:
    with pytest.raises(ValueError, match="one attention"):
        choose(CPU, ready(Heads(1, 1, 16)).attend)
