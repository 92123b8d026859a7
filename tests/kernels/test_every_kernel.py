"""One small case of every kernel against the reference, for runs under a memory and race checker.

    compute-sanitizer --tool memcheck python -m pytest -n 0 tests/kernels/test_every_kernel.py     (or racecheck)

On a device kernels are compiled side by side before the first is launched, for a checker makes everything slow; host
code of grammars, which is compiled too, is not asked for. Without a device they are interpreted.
"""

import os
import random
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from itertools import product
from pathlib import Path

import numpy as np
import pytest
import torch
from intaglio.grammar.device.device_tables import (
    CALLS,
    ENDS,
    LEAVES,
    NO_BYTE,
    DeviceTables,
    Lookahead,
    code,
)
from intaglio.kernels import reference
from intaglio.kernels.attention.paged import split_attention, tile_attention
from intaglio.kernels.attention.shared_prefix import PackedAttention
from intaglio.kernels.attention.split_kv import few_tokens
from intaglio.kernels.contracts import (
    PLAIN_SCALING,
    Activation,
    AddTo,
    ExpertMlp,
    Gate,
    Logits,
    MixtureRule,
    Packs,
    RmsNorm,
    ScoreScaling,
)
from intaglio.kernels.experts.expert_matrices import ExpertMatrices
from intaglio.kernels.experts.expert_product import expert_product, paired
from intaglio.kernels.gpu import GpuKernels
from intaglio.kernels.grammar.arena import ArenaLimits, GrammarArena
from intaglio.kernels.grammar.vocabulary_layout import lay_out
from intaglio.kernels.grammar.walk_masks import GrammarStates, GrammarWalker
from intaglio.kernels.linear.rms_norm import rms_norm
from intaglio.kernels.linear.silu_gate import gate
from intaglio.kernels.quantised.coded_weight import CodedWeight
from intaglio.kernels.quantised.packed_codes import packed
from intaglio.kernels.reference_kernels import ReferenceKernels
from intaglio.kernels.runtime import precompile
from intaglio.kernels.sample import reference_logits
from intaglio.kernels.sampling_contracts import Legal

from tests.support.drafts import accepted, answers, random_drafts
from tests.support.drawn_codes import FLOAT, drawn_codes
from tests.support.legal import legal_tokens, random_legal
from tests.support.paged import (
    Heads,
    Step,
    make_raw_step,
    make_step,
    relative_error,
    with_shared_beginnings,
)
from tests.support.picks import cases, compare, on_device

ON_DEVICE = torch.cuda.is_available()
DEVICE = torch.device("cuda" if ON_DEVICE else "cpu")
# The interpreter cannot multiply bfloat16.
DTYPE, LIMIT = (torch.bfloat16, 1e-2) if ON_DEVICE else (torch.float32, 1e-4)

Checks = list[Callable[[], None]]
"""What is to be asserted of launches that have been made: when kernels are only compiled, nothing can be."""

KERNELS = {
    "_codes_gemv", "_combine", "_decode", "_dequantise", "_few_down", "_few_gate_up", "_gate", "_gemv", "_legal_row",
    "_legal_words", "_lone", "_narrow_codes", "_packed", "_quantise_rows", "_rms_norm", "_rope_and_store", "_route",
    "_scaled_tiles", "_scanned_experts", "_skinny", "_skinny_codes", "_softcap", "_sorted_experts", "_tiles",
    "_verify", "advance_pass", "cut_pass", "first_pass", "flat_pass", "replay_pass", "stack_pass", "tile_pass",
    "walk_pass",
}  # fmt: skip


def randn(*shape: int, seed: int, dtype: torch.dtype = DTYPE) -> torch.Tensor:
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


def near(got: torch.Tensor, expected: torch.Tensor, limit: float = LIMIT) -> Callable[[], None]:
    def check() -> None:
        assert relative_error(got, expected.double()) < limit

    return check


def attended(step: Step, run: Callable[[Step, torch.Tensor], None]) -> Checks:
    """Twice: counters are as they were after a call."""
    here = step.to(DEVICE)
    out = torch.full(step.query.shape, float("nan"), dtype=step.query.dtype).to(DEVICE)
    for _ in range(2):
        run(here, out)
    return [near(out, step.expected)]


def decode() -> Checks:
    """Of single tokens and of few, in the type of the model and in one byte; padding among them."""

    def run(here: Step, out: torch.Tensor) -> None:
        attention = split_attention(here.ragged, here.query.shape[1], here.cache.shape)
        attention.run(here.query, here.cache, out)

    few, checks = few_tokens(2), Checks()
    for lengths, counts, kept in (
        ([5, 70, 0, 33], [1, 1, 1, 1], None),
        ([70, 33, 20], [1, few, 1], None),
        ([70, 33], [1, 1], torch.float8_e4m3fn),
    ):
        step = make_step(lengths, counts, Heads(2, 2, 64), 16, DTYPE, 5, kept=kept)
        checks += attended(step, run)
    return checks


def tiles() -> Checks:
    """Prompts, one behind tokens that are cached."""

    def run(here: Step, out: torch.Tensor) -> None:
        tile_attention(here.ragged, here.query, here.cache.shape).run(here.query, here.cache, out)

    return attended(make_step([70, 90], [70, 40], Heads(2, 2, 64), 16, DTYPE, 6), run)


def packed_tokens() -> Checks:
    """Tokens that share a beginning, the last pack not full."""
    few = few_tokens(2)
    lengths = [50 + 7 * s for s in range(few + 2)]
    step = make_step(lengths, [1] * len(lengths), Heads(2, 2, 64), 16, DTYPE, 7)
    order = torch.full((2 * few,), -1, dtype=torch.int32)
    order[: len(lengths)] = torch.arange(len(lengths))
    common = torch.full((2,), 40, dtype=torch.int32)
    leads = torch.arange(2 * few, dtype=torch.int32) % few
    packs = Packs(*(t.to(DEVICE) for t in (order, common, leads)))

    def run(here: Step, out: torch.Tensor) -> None:
        attention = PackedAttention(here.ragged, packs, here.query.shape[1], here.cache.shape)
        attention.run(here.query, here.cache, out)

    return attended(with_shared_beginnings(step, 40, packs=few), run)


def raw() -> Checks:
    """New tokens that are normed, rotated, stored and attended: a lone one, and several; capped, and in a window."""
    checks = Checks()
    steps = [([70], [1]), ([33, 7], [1, 1]), ([40, 9], [30, 1])]
    kinds = (PLAIN_SCALING, None), (ScoreScaling(0.3, 2.0), None), (PLAIN_SCALING, 20)
    for (lengths, counts), (scores, window) in product(steps, kinds):
        step = make_raw_step(lengths, counts, Heads(2, 2, 64), normed=True, seed=2)
        right, here = step.to(torch.device("cpu")), step.to(DEVICE)
        ways = (right, ReferenceKernels()), (here, GpuKernels(DEVICE))
        expected, got = (
            kernels.attend(each.ragged, each.places, 4, each.cache.shape, scores, window).run(
                each.fused, each.norms, each.cache
            )
            for each, kernels in ways
        )
        checks += [near(got, expected, 1e-4), near(here.cache, right.cache, 1e-5)]
    return checks


def linears() -> Checks:
    """One row, several, and more than one tile of them: every epilogue; norm and gate by themselves."""
    kernels, inputs, outputs, checks = GpuKernels(DEVICE), 320, 96, Checks()
    weight = randn(outputs, inputs, seed=1) * inputs**-0.5
    norm = RmsNorm(randn(inputs, seed=2), 1e-5)
    there = RmsNorm(norm.weight.to(DEVICE), norm.eps)
    post = RmsNorm(torch.ones(outputs, device=DEVICE), norm.eps)
    bias, matrix = randn(outputs, seed=3), kernels.weight(weight.to(DEVICE))
    biased, silu = kernels.weight(weight.to(DEVICE), bias.to(DEVICE)), Gate(Activation.SILU)
    for rows in (1, 5, 72):
        x, residual = randn(rows, inputs, seed=rows), randn(rows, outputs, seed=4)
        y = x.to(DEVICE)
        wide = x.double()
        scale = (wide.square().mean(-1, keepdim=True) + norm.eps).rsqrt()
        plain = wide @ weight.double().T
        normed = wide * scale * norm.weight.double()
        left, right = (normed @ weight.double().T + bias.double()).chunk(2, -1)
        gated = left * left.sigmoid() * right
        total, normed_total = residual.clone().to(DEVICE), residual.clone().to(DEVICE)
        biased.matmul(y, epilogue=AddTo(total))
        matrix.matmul(y, epilogue=AddTo(normed_total, post))
        own = plain * (plain.square().mean(-1, keepdim=True) + post.eps).rsqrt()
        checks += [
            near(matrix.matmul(y), plain),
            near(matrix.matmul(y, there), normed @ weight.double().T),
            near(biased.matmul(y, there, silu), gated, 3 * LIMIT),
            near(total, residual.double() + plain + bias.double()),
            near(normed_total, residual.double() + own),
            near(matrix.matmul(y, None, Logits(None, 2.0)), 2 * (plain / 2).tanh()),
            near(rms_norm(y, there), normed),
            near(gate(y), reference.gate(x)),
        ]
    return checks


def experts() -> Checks:
    """A layer of experts, of few rows; and a product of pairs that are sorted, as those of many rows are."""
    hidden, ffn, count = 64, 48, 6
    rule = MixtureRule(2, renormalised=True, gate=Gate(Activation.SILU))
    kernels, checks = GpuKernels(DEVICE), Checks()
    matrices = [
        (randn(2 * ffn, hidden, seed=e) * 0.1, randn(hidden, ffn, seed=50 + e) * 0.1)
        for e in range(count)
    ]
    mlps = [ExpertMlp(*(kernels.weight(m.to(DEVICE)) for m in pair)) for pair in matrices]
    plain = [ExpertMlp(*(reference.ReferenceWeight(m, None) for m in pair)) for pair in matrices]
    layer, right = kernels.experts(mlps, rule), ReferenceKernels().experts(plain, rule)
    for rows in (1, 9):
        x, logits = randn(rows, hidden, seed=1), randn(rows, count, seed=2)
        got = layer.outputs(x.to(DEVICE), logits.to(DEVICE))
        checks.append(near(got, right.outputs(x, logits), 3 * LIMIT))
    router, norm = randn(count, hidden, seed=4), RmsNorm(randn(hidden, seed=5), 1e-5)
    x, there = randn(2, hidden, seed=6), RmsNorm(norm.weight.to(DEVICE), norm.eps)
    residual, normed = x.to(DEVICE, copy=True), reference.rms_norm(x, norm.weight, norm.eps)
    assert layer.add(residual, there, kernels.weight(router.to(DEVICE)))
    added = x + right.outputs(normed, (normed.double() @ router.double().T).to(DTYPE))
    checks.append(near(residual, added, 3 * LIMIT))
    chosen = torch.arange(40, dtype=torch.int32).view(20, 2) % count
    pairs = paired(chosen.to(DEVICE), count, most_scanned=0)
    x, out = randn(20, hidden, seed=3), torch.empty((40, 2 * ffn), dtype=DTYPE, device=DEVICE)
    ups = torch.stack([up for up, _ in matrices])
    expert_product(x.to(DEVICE), ExpertMatrices(ups.to(DEVICE)), pairs, out, per_row=2)
    products = [x[p // 2].double() @ ups[p % count].double().T for p in range(40)]
    return [*checks, near(out, torch.stack(products))]


def quantised() -> Checks:
    """Codes of 4 and 8 bits: one row, several, and more than read codes, whose activations are rounded as well."""
    inputs, outputs, checks = 256, 96, Checks()
    norm = RmsNorm(randn(inputs, seed=2), 1e-5)
    there = RmsNorm(norm.weight.to(DEVICE), norm.eps)
    for bits, group in ((4, 128), (8, None), (FLOAT, None)):
        codes = drawn_codes(outputs, inputs, bits, group)
        matrix = codes.dense(torch.float32).double()
        form = packed([drawn_codes(outputs, inputs, bits, group, device=DEVICE)])
        assert form is not None
        weight = CodedWeight(form, None, torch.zeros(64, dtype=torch.int32, device=DEVICE))
        for rows in (1, 12, 257 if bits == 4 else 72):
            x, residual = randn(rows, inputs, seed=rows), randn(rows, outputs, seed=4)
            wide = x.double()
            scale = (wide.square().mean(-1, keepdim=True) + norm.eps).rsqrt()
            normed = (wide * scale * norm.weight.double()) @ matrix.T
            total = residual.clone().to(DEVICE)
            weight.matmul(x.to(DEVICE), epilogue=AddTo(total))
            checks += [
                near(weight.matmul(x.to(DEVICE), there), normed),
                near(total, residual.double() + wide @ matrix.T, 2 * LIMIT),
            ]
        one = randn(1, inputs, seed=5, dtype=torch.bfloat16)
        right = one.double() @ matrix.T
        checks.append(near(weight.matmul(one.to(DEVICE)), right, 1e-2))
    return checks + rounded_activations()


def rounded_activations() -> Checks:
    """An int8 product of rows that are rounded, in bfloat16: the interpreter does not multiply it."""
    form = packed([drawn_codes(96, 256, 8, None, activations=True, device=DEVICE)])
    assert form is not None
    weight = CodedWeight(form, None, torch.zeros(64, dtype=torch.int32, device=DEVICE))
    x = randn(72, 256, seed=1, dtype=torch.bfloat16)
    right = x.double() @ drawn_codes(96, 256, 8, None).dense(torch.float32).double().T
    return [near(weight.matmul(x.to(DEVICE)), right, 3e-2)]


def head() -> Checks:
    """Of few legal tokens: what is legal."""
    kernels, inputs, outputs, checks = GpuKernels(DEVICE), 320, 1000, Checks()
    weight = randn(outputs, inputs, seed=1) * inputs**-0.5
    matrix = kernels.weight(weight.to(DEVICE))
    norm = RmsNorm(torch.ones(inputs, dtype=DTYPE, device=DEVICE), 1e-5)
    for rows in (1, 3):
        legal = random_legal(rows, outputs, 0.05, seed=rows)
        assert legal.rows is not None
        x = randn(rows, inputs, seed=rows)
        given = Legal(legal.masks.to(DEVICE), legal.rows.to(DEVICE))
        got = matrix.matmul(x.to(DEVICE), norm, Logits(given))
        wide = x.double() * (x.double().square().mean(-1, keepdim=True) + 1e-5).rsqrt()
        wanted = legal_tokens(legal, outputs).any(0)
        checks.append(near(got.cpu()[:, wanted], wide @ weight[wanted].double().T))
    return checks


def picks() -> Checks:
    """Over several tiles: drawn under masks, with truncation, with every stage. Interpreted, all that is slow."""
    rows, vocab, kernels, checks = 3, 5000 if ON_DEVICE else 36, GpuKernels(DEVICE), Checks()
    every = cases(vocab, 33, rows)
    given = [(DTYPE, every[2]), (DTYPE, every[4]), (DTYPE, every[6]), (torch.float32, every[6])]
    for dtype, args in given if ON_DEVICE else given[2:3]:
        logits = (randn(rows, vocab, seed=1, dtype=torch.float32) * 3).to(dtype)
        got = kernels.sample(logits.to(DEVICE), on_device(args, DEVICE.type))
        expected = reference_logits.sample(logits.clone(), args)
        checks.append(partial(compare, got, expected))
    return checks


def drafts() -> Checks:
    """Which drafts stand."""
    kernels = GpuKernels(DEVICE)
    case = random_drafts(3, 9, 20, torch.int32)
    there = case.to(DEVICE.type)
    got = kernels.verify(there.drawn, there.given, there.starts)

    def check() -> None:
        assert answers(got) == accepted(case)

    return [check]


def lists_of_numbers() -> DeviceTables:
    """Tables of lists that hold numbers and lists: every kind of code."""
    columns = {"[": 2, "]": 3, ",": 4, **dict.fromkeys("0123456789", 5)}
    column_of = np.full(256, 6, np.uint8)
    for letter, column in columns.items():
        column_of[ord(letter)] = column
    column_of[NO_BYTE] = 1
    end, leave = code(ENDS, 0), code(LEAVES, 0)
    a_list, a_number = code(CALLS, 0), code(CALLS, 1)
    cells = np.array(
        [
            [0, 1, 2, 0, 0, 0, 0],  # before a list
            [0, 2, a_list, end, 0, a_number, 0],  # after its bracket
            [0, 3, 0, end, 4, 0, 0],  # after an item
            [0, 4, a_list, 0, 0, a_number, 0],  # after a comma
            [0, 5, 0, 0, 0, 6, 0],  # before a number
            [end, 6, 0, leave, leave, 6, 0],  # in a number
        ],
        np.int32,
    )
    sites, returns = np.array([[1, 0], [5, 1]], np.int32), np.array([3, 3], np.int32)
    none = np.zeros(0, np.int32)
    lookahead = Lookahead(none, none, none, none, none.astype(np.uint8), none)
    return DeviceTables(cells, column_of, sites, returns, 0, 1, lookahead)


def texts() -> list[bytes | None]:
    """All bytes, and pieces of lists, many of them impossible; the first ends an output."""
    dice, count = random.Random(2), 900 if ON_DEVICE else 90
    pieces = ["".join(dice.choices("[],0123456789", k=dice.randint(2, 9))) for _ in range(count)]
    pieces += ["[[", "]]", "],[", "],1", "12", "[1", "[[1,22],[", "1]"]
    return [None, *(bytes([byte]) for byte in range(256)), *(piece.encode() for piece in pieces)]


def walks() -> Checks:
    """Masks along an output of two rows, taken back once, and along texts."""
    known, tables, checks = texts(), lists_of_numbers(), Checks()
    width = len(known) + 70
    arena = GrammarArena(DEVICE, ArenaLimits(grammars=2, cells=1000, sites=10, returns=10))
    walker = GrammarWalker(arena, lay_out(known, [0], width, DEVICE), 2)
    states = GrammarStates(2, DEVICE)
    rows = torch.tensor([0, 1], dtype=torch.int32, device=DEVICE)
    slot = arena.load("lists", tables)
    assert slot is not None
    places = [tables.follow((tables.start, ()), text) for text in (b"[", b"[[3")]
    for row, at in enumerate(places):
        assert at is not None
        states.place(row, slot, *arena.configuration(slot, *at))

    def masks() -> None:
        got = torch.zeros((2, -(-width // 32)), dtype=torch.int32).to(DEVICE)
        walker.walk(states, rows, got)
        right = []
        for at in places:
            assert at is not None
            legal = {
                t for t, text in enumerate(known) if text and tables.follow(at, text) is not None
            }
            right.append(legal | ({0} if tables.can_end(at) else set()))

        def check() -> None:
            bits = np.unpackbits(got.cpu().numpy().view(np.uint8), axis=1, bitorder="little")
            assert [set(np.flatnonzero(row).tolist()) for row in bits] == right

        checks.append(check)

    def replays(numbers: list[int]) -> torch.Tensor:
        return torch.tensor(numbers, dtype=torch.int32).to(DEVICE)

    def moved(by: tuple[bytes, bytes]) -> None:
        for row, text in enumerate(by):
            at = places[row]
            assert at is not None
            places[row] = tables.follow(at, text)

    masks()
    picked = torch.tensor([known.index(b"[[1,22],["), known.index(b"1]")]).to(DEVICE)
    walker.advance(states, rows, picked)
    nothing, text = (
        torch.zeros(1, dtype=torch.uint8),
        torch.tensor(list(b"4]],5"), dtype=torch.uint8),
    )
    # Rows, no new grammars, no starts, back where they were, and no texts.
    walker.replay(states, replays([0, 1, -1, -1, 0, 0, 1, 1, 0, 0, 0]), nothing.to(DEVICE))
    masks()
    walker.advance(states, rows, picked)
    moved((b"[[1,22],[", b"1]"))
    walker.replay(states, replays([0, 1, -1, -1, 0, 0, 0, 0, 0, 3, 5]), text.to(DEVICE))
    moved((b"4]]", b",5"))
    masks()
    return checks


CASES = [
    decode,
    tiles,
    packed_tokens,
    raw,
    linears,
    experts,
    quantised,
    head,
    picks,
    drafts,
    walks,
]


@pytest.fixture(scope="module")
def _compiled() -> None:
    """All at once; nothing where kernels are interpreted."""
    if ON_DEVICE:
        precompile.compile_ahead(lambda: [case() for case in CASES])


@pytest.fixture(autouse=True)
def _infinities_are_meant() -> Iterator[None]:
    """The interpreter computes with numpy, which warns where a device does not."""
    with np.errstate(all="ignore"):
        yield


@pytest.mark.usefixtures("_compiled")
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_equals_the_reference(case: Callable[[], Checks]) -> None:
    for check in case():
        check()


LAUNCHED = """
from tests.kernels import test_every_kernel as every
from tests.support import compiled
compiled.stand_in()
every.precompile._make_ready = lambda *_: None
print(*every.precompile.compile_ahead(lambda: [case() for case in every.CASES]))
"""


@pytest.mark.skipif(ON_DEVICE, reason="with a stand-in for a device")
def test_no_kernel_is_left_out() -> None:
    """Where kernels are not interpreted: which of them the cases would launch."""
    variables = {k: v for k, v in os.environ.items() if k != "TRITON_INTERPRET"}
    found_at = filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep))
    variables["PYTHONPATH"] = os.pathsep.join((str(Path(__file__).parents[2]), *found_at))
    command = [sys.executable, "-W", "ignore", "-c", LAUNCHED]
    done = subprocess.run(command, env=variables, stdout=subprocess.PIPE, text=True, check=True)
    assert set(done.stdout.split()) == KERNELS
