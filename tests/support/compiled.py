"""Compiles the Triton kernels that a workload calls to H200 machine code, on a machine without a GPU.

Does: stand in for the driver, so that the kernels' own wrappers run on tensors of the host and `compile_ahead` compiles
what they would launch. Does not: compute; what kernels would write stays as it was. For a process of its own, in which
kernels are not interpreted: `python -m tests.support.compiled [NAME ...]`, the names being those of `PARTS`.
"""

import sys
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial
from typing import NamedTuple

import torch
import triton
from intaglio.kernels.attention.paged import UnsplitAttention, attend
from intaglio.kernels.contracts import (
    PLAIN_SCALING,
    Activation,
    AddTo,
    ExpertMlp,
    Gate,
    Logits,
    MixtureRule,
    Packs,
    Places,
    QKNorm,
    Ragged,
    RmsNorm,
    ScoreScaling,
    Weight,
)
from intaglio.kernels.dispatch import choose
from intaglio.kernels.drafts.verify import verify
from intaglio.kernels.exchange.peer_sums import PeerBuffers, add_sum, most_exchanged
from intaglio.kernels.experts.grouped_experts import GroupedExperts
from intaglio.kernels.grammar import walk_masks
from intaglio.kernels.grammar.arena import ArenaLimits, GrammarArena
from intaglio.kernels.grammar.vocabulary_layout import lay_out
from intaglio.kernels.linear.fixed_order import FixedOrderWeight, agreeing_tiles
from intaglio.kernels.linear.linear import DenseWeight, most_rows
from intaglio.kernels.mxfp4_weight import Mxfp4Weight
from intaglio.kernels.quantised.coded_weight import CodedWeight
from intaglio.kernels.quantised.packed_codes import packed
from intaglio.kernels.runtime import launch
from intaglio.kernels.runtime.precompile import compile_ahead
from intaglio.kernels.sample import logits_pipeline
from intaglio.kernels.sampling_contracts import Legal, Sampled
from triton.backends.compiler import GPUTarget

from tests.support.drawn_codes import FLOAT, drawn_codes, mxfp4
from tests.support.picks import cases

H200 = GPUTarget("cuda", 90, 32)
PROCESSORS = 132
HOST = torch.device("cpu")


class Nowhere:
    """The part of a driver that loads and launches kernels, without any effect."""

    def __init__(self, *_: object) -> None:
        pass

    def __call__(self, *_: object) -> None:
        pass

    def get_device_properties(self, _device: int) -> dict[str, int]:
        return {"max_shared_mem": 232_448}

    def load_binary(self, *_: object) -> tuple[int, int, int, int, int]:
        return 0, 0, 0, 0, 1024


class NoGpu:
    """The part of a driver that is called before a launch."""

    launcher_cls = Nowhere
    utils = Nowhere()

    def get_current_target(self) -> GPUTarget:
        return H200

    def get_current_device(self) -> int:
        return 0

    def get_current_stream(self, _device: int) -> int:
        return 0


def stand_in() -> None:
    """Make Triton compile kernels as for a GPU. No kernel can be launched."""
    triton.runtime.driver.set_active(NoGpu())
    launch._starts_early = lru_cache(lambda _device: True)
    for module in [m for name, m in sys.modules.items() if name.startswith("intaglio.kernels.")]:
        if hasattr(module, "processors"):
            module.processors = lambda _device: PROCESSORS  # type: ignore[attr-defined]


class Sizes(NamedTuple):
    """A layer's: query heads, key heads, head size, hidden, inner; whether queries and keys are normed."""

    heads: int
    kv_heads: int
    dim: int
    hidden: int
    inner: int
    normed: bool


SIZES = (Sizes(32, 8, 128, 4096, 14336, normed=False), Sizes(16, 8, 128, 1024, 3072, normed=True))


def walks() -> None:
    """Masks from tables, for few rows and many, and every variant of advancing a row."""
    arena = GrammarArena(HOST, ArenaLimits(grammars=2, cells=1000, sites=10, returns=10))
    table = lay_out([bytes([byte]) for byte in range(256)], [3], 151_936, HOST)
    walker = walk_masks.GrammarWalker(arena, table, 128)
    states = walk_masks.GrammarStates(128, HOST)
    for count in (1, 16, 37, 128):
        rows = torch.arange(count, dtype=torch.int32)
        walker.walk(states, rows, torch.zeros((count, 4748), dtype=torch.int32))
        walker.advance(states, rows, torch.zeros(count, dtype=torch.int64))
        replays = torch.zeros(5 * count + 1, dtype=torch.int32)
        walker.replay(states, replays, torch.zeros(count, dtype=torch.uint8))


def picks() -> None:
    """Every stage, in the types that models have."""
    for dtype in (torch.bfloat16, torch.float32):
        for args in cases(151_936, 0, 4):
            logits_pipeline.TokenSampler(HOST, 4).sample(
                torch.zeros((4, 151_936), dtype=dtype), args
            )


def drafts() -> None:
    """Verification of drafts, with tokens of both types."""
    for dtype in (torch.int32, torch.int64):
        drawn = Sampled(torch.zeros(9, dtype=torch.int64), torch.zeros(9, dtype=torch.int64))
        verify(drawn, torch.zeros(9, dtype=dtype), torch.tensor([0, 4, 9], dtype=torch.int32))


def linears() -> None:
    """A layer's products and the head's, of one row and of some."""
    counters = torch.zeros(1 << 16, dtype=torch.int32)

    def matrix(outputs: int, inputs: int) -> DenseWeight:
        zeros = torch.zeros((outputs, inputs), dtype=torch.bfloat16)
        return DenseWeight(zeros, None, counters)

    masks = torch.zeros((64, 4748), dtype=torch.int32)
    for sizes in SIZES:
        norm = RmsNorm(torch.zeros(sizes.hidden, dtype=torch.bfloat16), 1e-6)
        up, down = matrix(2 * sizes.inner, sizes.hidden), matrix(sizes.hidden, sizes.inner)
        head = matrix(151_936, sizes.hidden)
        for rows in (1, 8, 64, 80):
            x = torch.zeros((rows, sizes.hidden), dtype=torch.bfloat16)
            if rows <= most_rows(head.outputs, head.inputs):
                head.matmul(x, norm, Logits(Legal(masks, masks[:rows, 0]), 30.0))
            if rows <= most_rows(up.outputs, up.inputs):
                up.matmul(x, norm)
                for activation in Activation:
                    gated = up.matmul(x, norm, Gate(activation))
                    down.matmul(gated, epilogue=AddTo(x))
                down.matmul(gated, epilogue=AddTo(x, norm))


def exchanges() -> None:
    """Sums over two ranks, of one row and of more rows than overlap, with a norm and without."""
    for dtype in (torch.bfloat16, torch.float32):
        buffers = PeerBuffers(
            1,
            torch.zeros(2, dtype=torch.int64),
            torch.zeros(most_exchanged(2), dtype=torch.int32),
            torch.zeros(1, dtype=torch.int32),
        )
        norm = RmsNorm(torch.zeros(4096, dtype=dtype), 1e-6)
        for rows in (1, 80):
            x = torch.zeros((rows, 4096), dtype=dtype)
            for onto in (AddTo(x), AddTo(x, norm)):
                add_sum(x, onto, buffers)


def deterministic(
    windows: Sequence[int | None] = (1024,), layers: Sequence[str] = ("down",)
) -> None:
    """A layer's products in every tile, and attention of single tokens and of a prompt, with equal bits for a row."""
    counters = torch.zeros(1 << 10, dtype=torch.int32)
    for sizes in SIZES[1:]:
        shapes = {
            "down": (sizes.hidden, sizes.inner),
            "up": (2 * sizes.inner, sizes.hidden),
            # Of two ranges of inputs: a program for each, and one for both.
            "wide": (4096, sizes.hidden),
        }
        for outputs, inputs in map(shapes.__getitem__, layers):
            matrix = torch.zeros((outputs, inputs), dtype=torch.bfloat16)
            agreeing_tiles(FixedOrderWeight(matrix, None, counters), torch.bfloat16)
        cache = torch.zeros((2, 70, 16, sizes.kv_heads, sizes.dim), dtype=torch.bfloat16)
        weight = torch.zeros(sizes.dim, dtype=torch.bfloat16)
        norms = QKNorm(weight, weight, 1e-6) if sizes.normed else None
        for counts in ([1] * 4, [40, 1]):
            starts = torch.tensor([0, *counts]).cumsum(0).int()
            rows, count = sum(counts), len(counts)
            ragged = Ragged(starts, torch.full((count,), 50).int(), torch.ones(count, 4).int())
            angles = torch.zeros((64, sizes.dim), dtype=torch.bfloat16)
            places = Places(angles, angles, torch.zeros(rows).int(), torch.zeros(rows).int())
            heads = sizes.heads + 2 * sizes.kv_heads
            fused = torch.zeros((rows, heads, sizes.dim), dtype=torch.bfloat16)
            for window in windows:
                attention = UnsplitAttention(
                    ragged, places, sizes.heads, cache.shape, window=window
                )
                attention.run(fused, norms, cache)


PLAIN_MIXTURES = ((2048, 768, 128, 8), (4096, 1024, 8, 2))
FEWER_EXPERTS = ((2048, 768, 16, 8),)  # the same kernels; 128 experts take 600 MB to lay out
HALF_MIXTURES = ((2048, 384, 16, 8),)
"""A rank's part of the first one, if there are two ranks; with fewer experts too."""


def experts(
    formats: Sequence[bool] = (False, True),
    plain: Sequence[tuple[int, int, int, int]] = PLAIN_MIXTURES,
    row_counts: Sequence[int] = (1, 64, 1100),
    clamped_ffn: int = 576,
) -> None:
    """Mixtures with few experts and many, of one row, of some, and of a prompt; those of gpt-oss in both formats."""
    clamped = MixtureRule(
        4, renormalised=True, gate=Gate(Activation.SILU), of_chosen=True, clamp=(1.702, 7.0)
    )
    for coded in formats:
        sizes = ((2 * clamped_ffn, 576), (576, clamped_ffn))
        pair = [_biased(*size, coded=coded) for size in sizes]
        layer = GroupedExperts([ExpertMlp(*pair)] * 32, clamped)
        for rows in row_counts:
            x = torch.zeros((rows, 576), dtype=torch.bfloat16)
            layer.outputs(x, torch.zeros((rows, 32), dtype=torch.bfloat16))
    for hidden, ffn, count, per_token in plain:
        rule = MixtureRule(per_token, renormalised=True, gate=Gate(Activation.SILU))
        counters = torch.zeros(64, dtype=torch.int32)
        up, down = (
            DenseWeight(torch.empty(shape, dtype=torch.bfloat16), None, counters)
            for shape in ((2 * ffn, hidden), (hidden, ffn))
        )
        layer = GroupedExperts([ExpertMlp(up, down)] * count, rule)
        for rows in row_counts:
            x = torch.zeros((rows, hidden), dtype=torch.bfloat16)
            layer.outputs(x, torch.zeros((rows, count), dtype=torch.bfloat16))
        router = DenseWeight(torch.empty((count, hidden), dtype=torch.bfloat16), None, counters)
        residual = torch.zeros((1, hidden), dtype=torch.bfloat16)
        assert layer.add(residual, RmsNorm(residual[0], 1e-6), router)


def _biased(outputs: int, inputs: int, *, coded: bool) -> Weight:
    """The matrix of an expert of gpt-oss."""
    bias = torch.zeros(outputs, dtype=torch.bfloat16)
    if not coded:
        zeros = torch.zeros((outputs, inputs), dtype=torch.bfloat16)
        return DenseWeight(zeros, bias, torch.zeros(64, dtype=torch.int32))
    blocks, scales = mxfp4(outputs, inputs, 0)
    return Mxfp4Weight(blocks, scales, bias, choose(HOST))


def quantised() -> None:
    """Products of codes of every kind, conversions, and rows rounded to 8 bits."""
    counters, inputs = torch.zeros(1 << 16, dtype=torch.int32), 512
    norm = RmsNorm(torch.zeros(inputs, dtype=torch.bfloat16), 1e-6)
    for bits, group in ((4, 128), (4, None), (8, None), (FLOAT, None), (FLOAT, 128)):
        for symmetric in (True, False):
            codes = drawn_codes(64, inputs, bits, group, symmetric=symmetric, activations=True)
            form = packed([codes])
            if form is None:
                raise SystemExit(f"{bits} bits in groups of {group} have no form")
            weight = CodedWeight(form, None, counters)
            for rows in (1, 5, 64, 300):
                x = torch.zeros((rows, inputs), dtype=torch.bfloat16)
                weight.matmul(x, norm, Gate(Activation.SILU))
                weight.matmul(x, epilogue=AddTo(torch.zeros((rows, 64), dtype=torch.bfloat16)))


CAPPED = ScoreScaling(0.1, 50.0)
# All that a kernel may add to its scores and products at once: what `make test` compiles.
WHOLE_KIND = ((SIZES[1], torch.float8_e4m3fn, CAPPED, (1024,)),)
# Each layer, type of a cache and scaling of scores at least once, with a window and without.
KINDS = (
    (SIZES[0], torch.float8_e4m3fn, PLAIN_SCALING, (1024,)),
    (SIZES[1], torch.bfloat16, CAPPED, (None,)),
)
MORE_KINDS = (
    (SIZES[0], torch.float8_e4m3fn, PLAIN_SCALING, (None,)),
    (SIZES[0], torch.bfloat16, PLAIN_SCALING, (None, 1024)),
    (SIZES[1], torch.bfloat16, PLAIN_SCALING, (None, 1024)),
    (SIZES[1], torch.float8_e4m3fn, PLAIN_SCALING, (None, 1024)),
    (SIZES[0], torch.bfloat16, CAPPED, (None,)),
)


def attention(
    kinds: Sequence[tuple[Sizes, torch.dtype, ScoreScaling, Sequence[int | None]]] = KINDS,
    with_sinks: Sequence[bool] = (False, True),
) -> None:
    """Steps of single tokens, of few sequences, many and packed, and with a prompt among them; copies of blocks.

    Windowed layers with sinks and without.
    """
    for sizes, kept, scores, windows in kinds:
        cache = torch.zeros((2, 70, 16, sizes.kv_heads, sizes.dim), dtype=torch.uint8)
        cache = cache.to(kept) if kept == torch.bfloat16 else cache.view(kept)
        weight = torch.zeros(sizes.dim, dtype=torch.bfloat16)
        norms = QKNorm(weight, weight, 1e-6) if sizes.normed else None
        for counts in ([1], [1] * 64, [1] * 512, [40, 1]):
            rows, ends = sum(counts), torch.tensor([0, *counts]).cumsum(0)
            ragged = Ragged(
                ends.int(), torch.full((len(counts),), 50).int(), torch.ones(len(counts), 4).int()
            )
            angles = torch.zeros((64, sizes.dim), dtype=torch.bfloat16)
            places = Places(angles, angles, torch.zeros(rows).int(), torch.zeros(rows).int())
            fused = torch.zeros(
                (rows, sizes.heads + 2 * sizes.kv_heads, sizes.dim), dtype=torch.bfloat16
            )
            sinks = [torch.zeros(sizes.heads) if some else None for some in with_sinks]
            for window in windows:
                attention = attend(ragged, places, sizes.heads, cache.shape, scores, window)
                for each in [None] if window is None else sinks:
                    attention.run(fused, norms, cache, each)
            if rows == len(counts) == 512:
                none = torch.zeros(rows).int()
                packs = Packs(ragged.query_starts[1:], none, none)
                packed_rows = replace(ragged, packs=packs)
                for window in windows:
                    attention = attend(
                        packed_rows, places, sizes.heads, cache.shape, scores, window
                    )
                    for each in [None] if window is None else sinks:
                        attention.run(fused, norms, cache, each)


PARTS: dict[str, Callable[[], None]] = {
    "walks": walks,
    "picks": picks,
    "drafts": drafts,
    "linears": linears,
    "exchanges": exchanges,
    "deterministic": deterministic,
    "experts": experts,
    "halves-of-experts": partial(experts, plain=HALF_MIXTURES, clamped_ffn=1440),
    "sample-of-experts": partial(experts, (True,), FEWER_EXPERTS, (64, 1100)),
    "sample-of-attention": partial(attention, WHOLE_KIND, (True,)),
    "sample-of-deterministic": partial(deterministic, layers=("wide",)),
    "quantised": quantised,
    "attention": attention,
    "more-attention": partial(attention, MORE_KINDS),
    "more-deterministic": partial(deterministic, (None,), ("up", "down")),
}


def main() -> None:
    stand_in()
    counts: Counter[str] = Counter()
    for name in sys.argv[1:] or PARTS:
        began = time.monotonic()
        counts += compile_ahead(PARTS[name])
        again = compile_ahead(PARTS[name])
        if again:
            raise SystemExit(f"compiled, and asked for again: {dict(again)}")
        print(f"{name}: {time.monotonic() - began:.1f} s", flush=True)
    print(dict(counts))


if __name__ == "__main__":
    main()
