"""Paged causal attention in plain torch, for any mix of query and context lengths, fast enough to serve on a CPU.

Does: cut the step into equal pieces, run them together, merge the pieces. Does not: write keys and values.

Queries are cut into chunks of rows, keys into tiles of `TILE` tokens; a piece is one chunk against one tile. All
sequences with a single new token share one call, whatever their lengths; the others are cut at multiples of `CHUNK`
positions. Pieces are merged by their log-sum-exp, tile after tile (Dao et al. 2022, online softmax; split-KV decoding).
A row always meets the same tiles in the same order, so the chunking of a prompt does not change its sums. With a
sliding window, tiles before the window of a chunk's first row are left out; a row that sees nothing of a tile gives it
no weight at all, so that it does not matter whether the tile was met.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.nn.functional import pad

from .. import reference
from ..contracts import NULL_BLOCK, PLAIN_SCALING, Ragged, ScoreScaling

TILE = 128
CHUNK = 64
CALL_PIECES = 16
ROWS = 8
"""Rows of a piece come in multiples of this. BLAS multiplies fewer rows in another order, and a token's attention would
then depend on how many tokens it was computed with. Measured with MKL in float32: the same bits from 6 rows on."""

UNSEEN = np.float32(-1e30)
"""The bias of a key that a row does not see. Finite: a row without any visible key in a tile must not become NaN."""

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class _Call:
    """Pieces of a group that are computed at once.

    `chunk_of` [pieces] is the chunk of each. `blocks` indexes the cache as [planes * num_blocks, ...]: all key blocks
    of the pieces, then all value blocks, unless the keys are the values. `bias` [pieces, 1, 1 or rows, TILE], None
    where every row sees every key.
    """

    chunk_of: Tensor
    blocks: Tensor
    bias: Tensor | None


@dataclass(frozen=True, slots=True)
class _Group:
    """Chunks of one row count. `rows` [chunks, count] are rows of the step, repeated past a chunk's end; `out_rows` are
    the rows to fill from `picked` (flat positions in [chunks, count]). `tiles[t]` is how many chunks, from the first,
    have a tile `t`: pieces are ordered by tile, then by chunk.
    """

    rows: Tensor
    out_rows: Tensor
    picked: Tensor | None
    tiles: tuple[int, ...]
    calls: tuple[_Call, ...]


class Workspace:
    """Scratch memory for gathered keys and values, kept from call to call and step to step.

    A fresh tensor of some megabytes for every layer costs more in page faults than the attention itself. It grows to
    the largest call, `CALL_PIECES` tiles, and no further.
    """

    def __init__(self) -> None:
        self._memory: Tensor | None = None

    def gathered(self, flat: Tensor, index: Tensor) -> Tensor:
        """Rows `index` [n] of `flat` [rows, width], valid until the next call."""
        size = index.shape[0] * flat.shape[1]
        memory = self._memory
        if memory is None or memory.numel() < size or memory.dtype != flat.dtype:
            with torch.inference_mode(mode=False):
                memory = self._memory = torch.empty(size, dtype=flat.dtype)
        out = memory[:size].view(index.shape[0], flat.shape[1])
        return torch.index_select(flat, 0, index, out=out)


class ReferenceAttention:
    """Prepared attention of one step. Stateless between layers."""

    def __init__(
        self,
        ragged: Ragged,
        heads: int,
        cache_shape: Sequence[int],
        workspace: Workspace,
        scores: ScoreScaling = PLAIN_SCALING,
        window: int | None = None,
        chunk: int = CHUNK,
    ) -> None:
        """`window`: see `Kernels.attend`. `chunk`: the most rows of a piece; with 1 all pieces have one shape."""
        self._workspace = workspace
        self._planes, self._num_blocks, block_size, self._kv_heads, self._head_dim = cache_shape
        if TILE % block_size:
            raise ValueError(f"block_size must divide {TILE}, not {block_size}")
        self._heads = heads
        self._scores = scores
        starts = ragged.query_starts.numpy().astype(np.int64)
        lengths = ragged.context_lengths.numpy().astype(np.int64)
        tables = ragged.block_tables.numpy()
        counts = np.diff(starts)
        if chunk == 1:  # each row is a sequence of its own
            owners = np.repeat(np.arange(counts.size), counts)
            offsets = np.arange(counts.sum()) - np.repeat(starts[:-1], counts)
            lengths, tables = (lengths - counts)[owners] + offsets + 1, tables[owners]
            starts = np.arange(counts.sum() + 1) + starts[0]
            counts = np.ones_like(owners)
        single = np.flatnonzero(counts == 1)
        several = np.flatnonzero(counts > 1)
        cutter = _Cutter(
            self._planes, self._num_blocks, block_size, heads // self._kv_heads, window
        )
        self._groups: list[_Group] = []
        if single.size:
            self._groups.append(
                cutter.cut(
                    1, single, starts[single], np.ones_like(single), lengths[single] - 1, tables
                )
            )
        if several.size:
            chunks = _chunks(several, starts, lengths)
            self._groups.append(cutter.cut(int(chunks[2].max()), *chunks, tables))

    def run(self, query: Tensor, cache: Tensor, sinks: Tensor | None = None) -> Tensor:
        """Attention of `query` [N, heads, head_dim] over one layer's `cache`; returns [N, heads, head_dim].

        `sinks`: see `AttentionPass.run`.
        """
        out = torch.zeros_like(query)
        flat = cache.view(self._planes * self._num_blocks, -1)
        for group in self._groups:
            self._run_group(group, query, flat, out, sinks)
        return out

    def _run_group(
        self, group: _Group, query: Tensor, flat: Tensor, out: Tensor, sinks: Tensor | None
    ) -> None:
        chunks, count = group.rows.shape
        per_kv = self._heads // self._kv_heads
        q = query.index_select(0, group.rows.view(-1))
        q = q.view(chunks, count, self._kv_heads, per_kv, self._head_dim).permute(0, 2, 3, 1, 4)
        q = q.reshape(chunks, self._kv_heads, per_kv * count, self._head_dim)
        q = pad(q, (0, 0, 0, _padding(per_kv * count)))
        parts = [self._run_call(call, q, flat) for call in group.calls]
        merged, lse = (part[:, :, : per_kv * count] for part in _merge(parts, group.tiles))
        merged = merged.reshape(chunks, self._kv_heads, per_kv, count, self._head_dim)
        if sinks is not None:  # a further key with this score and a value of zero
            lse = lse.reshape(chunks, self._kv_heads, per_kv, count)
            kept = reference.sigmoid(lse - sinks.view(1, self._kv_heads, per_kv, 1))
            merged = merged * kept.unsqueeze(-1)
            merged = merged.to(query.dtype)
        rows = merged.permute(0, 3, 1, 2, 4).reshape(chunks * count, self._heads, self._head_dim)
        if group.picked is not None:
            rows = rows.index_select(0, group.picked)
        out.index_copy_(0, group.out_rows, rows)

    def _run_call(self, call: _Call, q: Tensor, flat: Tensor) -> tuple[Tensor, Tensor]:
        """Outputs [pieces, kv_heads, rows, head_dim] and log-sum-exps [pieces, kv_heads, rows] of a call."""
        pieces = call.chunk_of.shape[0]
        kv = self._workspace.gathered(flat, call.blocks)
        kv = kv.view(self._planes, pieces, TILE, self._kv_heads, self._head_dim).transpose(2, 3)
        queries = q.index_select(0, call.chunk_of)
        softcap = self._scores.softcap
        if softcap is not None:
            return _capped_attention(queries, kv, call.bias, self._scores.scale, softcap)
        out, lse = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu(
            queries, kv[0], kv[-1], attn_mask=call.bias, scale=self._scores.scale
        )
        return out, lse


def _capped_attention(
    queries: Tensor, kv: Tensor, bias: Tensor | None, scale: float | None, softcap: float
) -> tuple[Tensor, Tensor]:
    """Attention with a soft cap, as `_run_call` returns it; scores and their weights are float32.

    `queries` [pieces, kv_heads, rows, head_dim]; `kv` [planes, pieces, kv_heads, TILE, head_dim]; every row sees a key.
    """
    scale = queries.shape[-1] ** -0.5 if scale is None else scale
    scores = torch.matmul(queries.float(), kv[0].float().transpose(-1, -2))
    scores.mul_(scale / softcap).tanh_().mul_(softcap)
    if bias is not None:
        scores.add_(bias)
    lse = scores.logsumexp(-1)
    weights = scores.sub_(lse.unsqueeze(-1)).exp_()
    return torch.matmul(weights.to(kv.dtype), kv[-1]), lse


def _merge(parts: list[tuple[Tensor, Tensor]], tiles: tuple[int, ...]) -> tuple[Tensor, Tensor]:
    """Join the pieces of each chunk: parts follow one another in the order of pieces, see `_Group.tiles`.

    Returns the outputs and their log-sum-exps.
    """
    if len(parts) == 1:
        outs, lses = parts[0]
    else:
        outs, lses = torch.cat([out for out, _ in parts]), torch.cat([lse for _, lse in parts])
    total, weight = outs[: tiles[0]], lses[: tiles[0]]
    if len(tiles) > 1:
        total, weight = total.clone(), weight.clone()
    first = tiles[0]
    for size in tiles[1:]:
        out, lse = outs[first : first + size], lses[first : first + size]
        # Spelt out: unlike `exp` and `log`, `logaddexp` rounds differently at the end of an array.
        most = torch.maximum(weight[:size], lse)
        old, new = (weight[:size] - most).exp_(), (lse - most).exp_()
        both = old + new
        total[:size].mul_((old / both).unsqueeze(-1))
        total[:size].addcmul_(out, (new / both).unsqueeze(-1))
        weight[:size] = most.add_(both.log_())
        first += size
    return total, weight


def _padding(rows: int) -> int:
    """Rows to add to reach a multiple of `ROWS`."""
    return -rows % ROWS


def _chunks(which: Ints, starts: Ints, lengths: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Cut sequences `which` at multiples of CHUNK positions: owner, first row, row count, first position of each."""
    owners, rows, counts, positions = [], [], [], []
    for s in which.tolist():
        row, end = int(starts[s]), int(starts[s + 1])
        position = int(lengths[s]) - (end - row)
        while row < end:
            count = min(CHUNK - position % CHUNK, end - row)
            owners.append(s)
            rows.append(row)
            counts.append(count)
            positions.append(position)
            row, position = row + count, position + count
    return np.array(owners), np.array(rows), np.array(counts), np.array(positions)


@dataclass(frozen=True, slots=True)
class _Cutter:
    """Builds groups for caches of one shape."""

    planes: int
    num_blocks: int
    block_size: int
    per_kv: int
    window: int | None

    def cut(
        self, width: int, owners: Ints, rows: Ints, counts: Ints, positions: Ints, tables: Ints
    ) -> _Group:
        """A group of chunks of at most `width` rows.

        Without a window, each row of a chunk sees a key of each of the chunk's tiles.
        """
        ends = positions + counts
        first_tiles = self._first_keys(positions) // TILE
        tile_counts = -(-ends // TILE) - first_tiles
        order = np.argsort(-tile_counts, kind="stable")
        owners, rows, counts, positions, ends, first_tiles, tile_counts = (
            a[order] for a in (owners, rows, counts, positions, ends, first_tiles, tile_counts)
        )
        steps = np.arange(width)
        padded = rows[:, None] + np.minimum(steps[None, :], counts[:, None] - 1)
        real = (steps[None, :] < counts[:, None]).reshape(-1)
        tiles = tuple(int((tile_counts > t).sum()) for t in range(int(tile_counts[0])))
        calls: list[_Call] = []
        chunk_of = np.concatenate([np.arange(n) for n in tiles])
        tile_of = np.repeat(np.arange(len(tiles)), tiles) + first_tiles[chunk_of]
        # With a window, all tiles are masked: a row's sums do not depend on which other rows are in its chunk.
        cut = ((tile_of + 1) * TILE >= ends[chunk_of]) | (self.window is not None)
        edges = np.flatnonzero(np.diff(cut)) + 1 if width > 1 else np.array([], np.int64)
        for run in np.split(np.arange(chunk_of.size), edges):
            for at in range(0, run.size, CALL_PIECES):
                piece = run[at : at + CALL_PIECES]
                chunk, tile = chunk_of[piece], tile_of[piece]
                blocks = self._blocks(tables, owners[chunk], tile, ends[chunk])
                bias = None
                if cut[piece].any():
                    last = positions[chunk, None] + np.minimum(steps, counts[chunk, None] - 1)
                    bias = self._bias(last, tile * TILE)
                calls.append(_Call(torch.from_numpy(chunk), blocks, bias))
        everything = bool(real.all())
        return _Group(
            rows=torch.from_numpy(padded),
            out_rows=torch.from_numpy(padded.reshape(-1)[real]),
            picked=None if everything else torch.from_numpy(np.flatnonzero(real)),
            tiles=tiles,
            calls=tuple(calls),
        )

    def _blocks(self, tables: Ints, owners: Ints, tile: Ints, ends: Ints) -> Tensor:
        """Key blocks, then value blocks, if any, of each piece; the null block past the sequence's last key."""
        per_tile = TILE // self.block_size
        column = tile[:, None] * per_tile + np.arange(per_tile)[None, :]
        used = column * self.block_size < ends[:, None]
        column = np.minimum(column, tables.shape[1] - 1)
        keys = np.where(used, tables[owners[:, None], column], NULL_BLOCK).astype(np.int64)
        flat = keys.reshape(-1)
        return torch.from_numpy(
            np.concatenate([flat + plane * self.num_blocks for plane in range(self.planes)])
        )

    def _first_keys(self, positions: Ints) -> Ints:
        """The first key that a row at each of these positions sees."""
        if self.window is None:
            return np.zeros_like(positions)
        return np.maximum(positions - self.window + 1, 0)

    def _bias(self, positions: Ints, starts: Ints) -> Tensor:
        """Attention bias: 0 where a row may attend, else `UNSEEN`.

        `positions` [pieces, rows] of the rows; `starts` [pieces]: the first position of each piece's tile.
        """
        keys = starts[:, None, None] + np.arange(TILE)
        visible = keys <= positions[:, :, None]
        visible &= keys >= self._first_keys(positions)[:, :, None]
        bias = np.where(visible, np.float32(0), UNSEEN)
        if positions.shape[1] > 1:
            bias = np.tile(bias, (1, self.per_kv, 1))
            padding = _padding(bias.shape[1])
            bias = np.pad(bias, ((0, 0), (0, padding), (0, 0)))
        return torch.from_numpy(bias[:, None])
