"""Random steps over a paged cache, with dense float64 attention as the judge."""

import random
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from intaglio.kernels.contracts import (
    NULL_BLOCK,
    PLAIN_SCALING,
    HostRagged,
    Places,
    QKNorm,
    Ragged,
    ScoreScaling,
)
from intaglio.kernels.reference import kv_write


@dataclass(frozen=True, slots=True)
class Heads:
    """Key heads, query heads for each, and the width of a head."""

    kv: int
    per_kv: int
    dim: int


@dataclass(frozen=True, slots=True)
class Step:
    """Queries [N, heads, dim], their sequences, the cache, and the expected output in float64."""

    query: torch.Tensor
    ragged: Ragged
    cache: torch.Tensor
    expected: torch.Tensor

    def to(self, device: torch.device) -> "Step":
        """The same step elsewhere; the expected output stays."""
        ragged = Ragged(
            self.ragged.query_starts.to(device),
            self.ragged.context_lengths.to(device),
            self.ragged.block_tables.to(device),
        )
        return Step(self.query.to(device), ragged, self.cache.to(device), self.expected)


def dense(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    rule: ScoreScaling = PLAIN_SCALING,
) -> torch.Tensor:
    """Causal attention of the last rows of a sequence; query [n, heads, d], keys and values [L, kv_heads, d]."""
    n, heads, dim = query.shape
    length, kv_heads, _ = keys.shape
    q = query.double().view(n, kv_heads, heads // kv_heads, dim)
    scale = dim**-0.5 if rule.scale is None else rule.scale
    scores = torch.einsum("nkgd,lkd->nkgl", q, keys.double()) * scale
    if rule.softcap is not None:
        scores = rule.softcap * (scores / rule.softcap).tanh()
    visible = torch.arange(length) <= torch.arange(length - n, length)[:, None]
    scores = scores.masked_fill(~visible[:, None, None, :], float("-inf"))
    return torch.einsum("nkgl,lkd->nkgd", scores.softmax(-1), values.double()).reshape(query.shape)


def make_step(
    lengths: Sequence[int],
    counts: Sequence[int],
    heads: Heads,
    block_size: int,
    dtype: torch.dtype,
    seed: int,
    *,
    kept: torch.dtype | None = None,
) -> Step:
    """Sequences of these context lengths and new tokens, in shuffled blocks. Cells that no sequence wrote are NaN.

    `kept`: the type of the cache, `dtype` if None.
    """
    generator = torch.Generator().manual_seed(seed)
    needs = [-(-length // block_size) for length in lengths]
    blocks = list(range(1, sum(needs) + 1))
    random.Random(seed).shuffle(blocks)
    shape = (2, sum(needs) + 1, block_size, heads.kv, heads.dim)
    cache = torch.full(shape, float("nan"), dtype=dtype)
    cache[:, NULL_BLOCK] = 0
    tables = torch.zeros((len(lengths), max(needs) + seed % 3), dtype=torch.int32)
    queries, expected = [], []
    for s, (length, count, need) in enumerate(zip(lengths, counts, needs, strict=True)):
        mine = torch.tensor([blocks.pop() for _ in range(need)], dtype=torch.int64)
        tables[s, :need] = mine
        drawn = torch.randn((2, length, heads.kv, heads.dim), generator=generator)
        keys, values = drawn.to(kept or dtype).to(dtype)
        at = torch.arange(length)
        kv_write(cache, keys, values, mine[at // block_size] * block_size + at % block_size)
        query = torch.randn((count, heads.kv * heads.per_kv, heads.dim), generator=generator)
        queries.append(query.to(dtype))
        if length:
            expected.append(dense(queries[-1], keys, values))
        else:
            expected.append(torch.zeros_like(queries[-1], dtype=torch.float64))
    starts = torch.tensor([0, *torch.tensor(counts).cumsum(0).tolist()], dtype=torch.int32)
    ragged = Ragged(starts, torch.tensor(lengths, dtype=torch.int32), tables)
    return Step(torch.cat(queries), ragged, cache.to(kept or dtype), torch.cat(expected))


def with_shared_beginnings(step: Step, tokens: int, *, packs: int) -> Step:
    """The step of single tokens, of which `packs` at a time begin with the same keys, in the first one's blocks.

    `tokens` need not fill the last shared block: what follows them there, no other sequence is said to share.
    """
    ragged, size = step.ragged, step.cache.shape[2]
    tables, cache, expected = ragged.block_tables.clone(), step.cache.clone(), []
    for s, length in enumerate(ragged.context_lengths.tolist()):
        leader = s // packs * packs
        whole = tokens // size
        tables[s, :whole] = tables[leader, :whole]
        rest = tokens % size
        cache[:, tables[s, whole], :rest] = cache[:, tables[leader, whole], :rest]
        at = torch.arange(length)
        keys, values = cache[:, tables[s, at // size].long(), at % size]
        expected.append(dense(step.query[s : s + 1], keys, values))
    shared = Ragged(ragged.query_starts, ragged.context_lengths, tables)
    return Step(step.query, shared, cache, torch.cat(expected))


def each_by_itself(step: Step, owners: Sequence[int], packs: int) -> tuple[Step, torch.Tensor]:
    """The step with every row as a sequence of its own, of the blocks of `owners`; and the leads of its packs."""
    ragged, rows = step.ragged, len(owners)
    starts = ragged.query_starts.tolist()
    ends = [starts[s + 1] for s in owners]
    lengths = [
        int(ragged.context_lengths[s]) - (end - 1 - row)
        for row, (s, end) in enumerate(zip(owners, ends, strict=True))
    ]
    leads = [list(owners[row // packs * packs : row + 1]).index(s) for row, s in enumerate(owners)]
    alone = Ragged(
        torch.arange(rows + 1, dtype=torch.int32),
        torch.tensor(lengths, dtype=torch.int32),
        ragged.block_tables[torch.tensor(owners)],
    )
    return Step(step.query, alone, step.cache, step.expected), torch.tensor(leads).int()


def without_rows(ragged: Ragged, *, at: int, more: int) -> Ragged:
    """The same with `more` sequences that own no rows before the one at `at`."""

    def widened(tensor: torch.Tensor, filler: torch.Tensor) -> torch.Tensor:
        return torch.cat((tensor[:at], filler.expand(more, *tensor.shape[1:]), tensor[at:]))

    return Ragged(
        widened(ragged.query_starts, ragged.query_starts[at]),
        widened(ragged.context_lengths, torch.zeros_like(ragged.context_lengths[0])),
        widened(ragged.block_tables, torch.zeros_like(ragged.block_tables[0])),
    )


def on_host(ragged: Ragged) -> HostRagged:
    """The step's description of its sequences, with its tables in another order."""
    starts, lengths = ragged.query_starts.cpu().numpy(), ragged.context_lengths.cpu().numpy()
    rows = np.arange(lengths.size)[::-1].copy()
    tables = np.zeros_like(ragged.block_tables.cpu().numpy())
    tables[rows] = ragged.block_tables.cpu().numpy()
    return HostRagged(starts.astype(np.int64), lengths.astype(np.int64), rows, tables)


def random_step(
    seed: int, dtype: torch.dtype, *, layouts: Sequence[tuple[Heads, int]], longest: int
) -> Step:
    """Up to six sequences of one or more new tokens each; `layouts` are heads and block sizes to choose from."""
    dice = random.Random(seed)
    lengths, counts = [], []
    for _ in range(dice.randint(1, 6)):
        edges = [n for n in (1, 2, 15, 16, 17, 63, 64, 65, 127, 128, 129, 700) if n <= longest]
        length = dice.choice([*edges, dice.randint(1, longest)])
        lengths.append(length)
        counts.append(dice.choice([1, 1, 1, min(2, length), dice.randint(1, length), length]))
    heads, block_size = dice.choice(layouts)
    return make_step(lengths, counts, heads, block_size, dtype, seed)


def relative_error(got: torch.Tensor, expected: torch.Tensor) -> float:
    """Norm of the difference over the norm of the expected; NaN counts as infinite."""
    error = (got.cpu().double() - expected).norm() / expected.norm().clamp_min(1e-30)
    return float("inf") if bool(error.isnan()) else float(error)


@dataclass(frozen=True, slots=True)
class RawStep:
    """A step with new tokens not rotated yet: `fused` [N, heads + 2 * kv_heads, dim] and the tables that place them."""

    fused: torch.Tensor
    ragged: Ragged
    places: Places
    norms: QKNorm | None
    cache: torch.Tensor

    def to(self, device: torch.device) -> "RawStep":
        """A copy of the step elsewhere."""
        ragged, places = self.ragged, self.places
        norms = self.norms
        if norms is not None:
            norms = QKNorm(norms.query.to(device), norms.key.to(device), norms.eps)
        return RawStep(
            self.fused.clone().to(device),
            Ragged(
                ragged.query_starts.to(device),
                ragged.context_lengths.to(device),
                ragged.block_tables.to(device),
            ),
            Places(
                places.cos.to(device),
                places.sin.to(device),
                places.positions.to(device),
                places.slots.to(device),
            ),
            norms,
            self.cache.clone().to(device),
        )


def make_raw_step(
    lengths: Sequence[int], counts: Sequence[int], heads: Heads, *, normed: bool, seed: int
) -> RawStep:
    """Like `make_step` in float32 with blocks of 16, the cache zero where nothing was written."""
    step = make_step(lengths, counts, heads, 16, torch.float32, seed)
    generator = torch.Generator().manual_seed(seed)
    rows = sum(counts)
    positions = torch.cat(
        [torch.arange(n - c, n) for n, c in zip(lengths, counts, strict=True)]
    ).int()
    owner = torch.repeat_interleave(torch.arange(len(counts)), torch.tensor(counts))
    blocks = step.ragged.block_tables[owner, positions // 16]
    angles = torch.randn((max(lengths), heads.dim // 2), generator=generator)
    cos, sin = angles.cos(), angles.sin()
    places = Places(
        torch.cat((cos, cos), -1),
        torch.cat((-sin, sin), -1),
        positions,
        blocks * 16 + positions % 16,
    )
    weights = torch.randn((2, heads.dim), generator=generator)
    fused = torch.randn((rows, heads.kv * (heads.per_kv + 2), heads.dim), generator=generator)
    norms = QKNorm(weights[0], weights[1], 1e-6) if normed else None
    return RawStep(fused, step.ragged, places, norms, step.cache.nan_to_num(0))
