"""Paged attention against dense float64 attention, over random mixes of lengths, heads and block tables."""

import random

import pytest
import torch
from intaglio.kernels.attention.reference_attention import TILE, ReferenceAttention, Workspace
from intaglio.kernels.contracts import NULL_BLOCK, Ragged, ScoreScaling
from intaglio.kernels.reference import kv_write

TOLERANCE = 2e-6  # float32 against float64, values of size 1


def dense(
    query: torch.Tensor,
    keys: torch.Tensor,
    values: torch.Tensor,
    window: int | None = None,
    sinks: torch.Tensor | None = None,
) -> torch.Tensor:
    """Causal attention of the last rows of a sequence; query [n, heads, d], keys and values [L, kv_heads, d]."""
    n, heads, dim = query.shape
    length, kv_heads, _ = keys.shape
    q = query.double().view(n, kv_heads, heads // kv_heads, dim)
    scores = torch.einsum("nkgd,lkd->nkgl", q, keys.double()) / dim**0.5
    rows = torch.arange(length - n, length)[:, None]
    visible = torch.arange(length) <= rows
    if window is not None:
        visible &= torch.arange(length) > rows - window
    scores = scores.masked_fill(~visible[:, None, None, :], float("-inf"))
    if sinks is not None:
        further = sinks.double().view(1, kv_heads, -1, 1).expand(n, -1, -1, -1)
        scores = torch.cat((scores, further), -1)
    shares = scores.softmax(-1)[..., :length]
    return torch.einsum("nkgl,lkd->nkgd", shares, values.double()).reshape(query.shape)


def case(
    seed: int, window: int | None = None, sinks: torch.Tensor | None = None
) -> tuple[torch.Tensor, Ragged, torch.Tensor, torch.Tensor]:
    """Queries, their layout, the cache, and the expected output, for a random step."""
    dice = random.Random(seed)
    generator = torch.Generator().manual_seed(seed)
    kv_heads, per_kv = dice.choice([(1, 1), (1, 5), (2, 1), (2, 3), (2, 4), (4, 2)])
    dim, block = dice.choice([8, 16, 64, 80, 128]), dice.choice([1, 4, 16, 32])
    lengths, counts = [], []
    for _ in range(dice.randint(1, 6)):
        length = dice.choice([1, 2, 15, 16, 17, 63, 64, 65, TILE - 1, TILE, TILE + 1, 300, 700])
        lengths.append(length)
        counts.append(dice.choice([1, 1, 1, min(2, length), dice.randint(1, length), length]))
    needs = [-(-length // block) for length in lengths]
    blocks = list(range(1, sum(needs) + 1))
    dice.shuffle(blocks)
    cache = torch.full((2, sum(needs) + 1, block, kv_heads, dim), 7.0)
    cache[:, NULL_BLOCK] = 0
    tables = torch.zeros((len(lengths), max(needs) + dice.randint(0, 2)), dtype=torch.int32)
    queries, expected = [], []
    for s, (length, count, need) in enumerate(zip(lengths, counts, needs, strict=True)):
        mine = torch.tensor([blocks.pop() for _ in range(need)])
        tables[s, :need] = mine
        keys, values = torch.randn((2, length, kv_heads, dim), generator=generator)
        at = torch.arange(length)
        kv_write(cache, keys, values, mine[at // block] * block + at % block)
        query = torch.randn((count, kv_heads * per_kv, dim), generator=generator)
        queries.append(query)
        expected.append(
            dense(
                query, keys, values, window, None if sinks is None else sinks[: kv_heads * per_kv]
            )
        )
    starts = torch.tensor([0, *torch.tensor(counts).cumsum(0).tolist()], dtype=torch.int32)
    ragged = Ragged(starts, torch.tensor(lengths, dtype=torch.int32), tables)
    return torch.cat(queries), ragged, cache, torch.cat(expected)


@pytest.mark.parametrize("seed", range(60))
def test_any_mix_of_lengths_equals_dense_attention(seed: int) -> None:
    query, ragged, cache, expected = case(seed)
    got = ReferenceAttention(ragged, query.shape[1], cache.shape, Workspace()).run(query, cache)
    torch.testing.assert_close(got.double(), expected, atol=TOLERANCE, rtol=TOLERANCE)


@pytest.mark.parametrize("window", [1, 2, 63, 64, 100, TILE, TILE + 1, 250, 699, 5000])
@pytest.mark.parametrize("seed", range(6))
def test_a_window_hides_what_is_before_it(seed: int, window: int) -> None:
    query, ragged, cache, expected = case(seed, window)
    attention = ReferenceAttention(ragged, query.shape[1], cache.shape, Workspace(), window=window)
    got = attention.run(query, cache)
    torch.testing.assert_close(got.double(), expected, atol=TOLERANCE, rtol=TOLERANCE)


@pytest.mark.parametrize("window", [None, 40, TILE])
@pytest.mark.parametrize("seed", range(12))
def test_a_sink_takes_its_share_of_each_head(seed: int, window: int | None) -> None:
    sinks = torch.linspace(-3, 9, 8)
    query, ragged, cache, expected = case(seed, window, sinks)
    heads = query.shape[1]
    attention = ReferenceAttention(ragged, heads, cache.shape, Workspace(), window=window)
    got = attention.run(query, cache, sinks[:heads])
    torch.testing.assert_close(got.double(), expected, atol=TOLERANCE, rtol=TOLERANCE)


@pytest.mark.parametrize("softcap", [None, 3.0])
@pytest.mark.parametrize("seed", range(6))
def test_keys_may_be_the_values(seed: int, softcap: float | None) -> None:
    query, ragged, cache, _ = case(seed)
    heads, scores = query.shape[1], ScoreScaling(0.2, softcap)
    twice = cache[:1].expand(2, -1, -1, -1, -1).contiguous()
    expected, got = (
        ReferenceAttention(ragged, heads, each.shape, Workspace(), scores).run(query, each)
        for each in (twice, cache[:1])
    )
    assert torch.equal(got, expected)


def test_non_contiguous_queries_give_the_same() -> None:
    query, ragged, cache, _ = case(3)
    wide = torch.cat((query, query), dim=1)[:, : query.shape[1]]
    assert not wide.is_contiguous()
    attention = ReferenceAttention(ragged, query.shape[1], cache.shape, Workspace())
    assert torch.equal(attention.run(wide, cache), attention.run(query, cache))


def test_rows_past_the_last_sequence_are_zero() -> None:
    query, ragged, cache, _ = case(5)
    padded = torch.cat((query, query[:3]))
    got = ReferenceAttention(ragged, query.shape[1], cache.shape, Workspace()).run(padded, cache)
    assert not got[query.shape[0] :].any()


def test_block_size_that_does_not_divide_the_tile_is_refused() -> None:
    ragged = Ragged(torch.tensor([0, 1]), torch.tensor([1]), torch.tensor([[1]]))
    with pytest.raises(ValueError, match="block_size"):
        ReferenceAttention(ragged, 2, (2, 4, 12, 1, 8), Workspace())


@pytest.mark.parametrize("window", [None, 200])
@pytest.mark.parametrize(("per_kv", "dim"), [(1, 16), (3, 64), (4, 128), (2, 80)])
def test_a_token_gets_close_to_the_same_bits_alone_and_in_a_chunk(
    per_kv: int, dim: int, window: int | None
) -> None:
    """The order of sums does not depend on the cut, so what is left is BLAS's own choice of kernel: at most 1e-6."""
    length, block, kv_heads = 600, 16, 2
    generator = torch.Generator().manual_seed(1)
    blocks = -(-length // block)
    cache = torch.randn((2, blocks + 1, block, kv_heads, dim), generator=generator)
    table = torch.arange(1, blocks + 1, dtype=torch.int32)[None]
    query = torch.randn((length, kv_heads * per_kv, dim), generator=generator)

    def attend(first: int, end: int) -> torch.Tensor:
        ragged = Ragged(torch.tensor([0, end - first]), torch.tensor([end]), table)
        rows = query[first:end]
        attention = ReferenceAttention(
            ragged, rows.shape[1], cache.shape, Workspace(), window=window
        )
        return attention.run(rows, cache)

    whole = attend(0, length)
    for first, end in [(0, 1), (255, 257), (300, 301), (500, 563), (599, 600), (7, 399)]:
        torch.testing.assert_close(attend(first, end), whole[first:end], atol=1e-6, rtol=0)
