"""Reduction of the partial results of a row of logits, and the draw within the winning group.

Does: reduce in a fixed order, draw, and write the row's token, status and log-probability. Does not: read logits of
other groups.
"""

# ruff: noqa: SIM102 - a condition known when compiling must not be joined with one of the device

import triton
import triton.language as tl

from ..runtime.tuples import Pair, Tensors, Three
from .gumbel import counted, exponential, natural_log
from .load import is_legal
from .sample_records import DrawInputs, MaskWords, Outputs, RowPart, WeightSum
from .token_weights import CANDIDATES, DEPTH, LANES, LOG2E, LOWEST, NEVER, OCTETS, PARTS, TILE, fold


@triton.jit
def member_of(group: tl.tensor, inner: tl.tensor, first_tile_offset: tl.constexpr) -> tl.tensor:
    """int32: the tokens of groups, by their index within the group; out of range where a group extends past the row."""
    first = group // OCTETS * TILE - first_tile_offset + group % OCTETS * 8
    return first + inner // 8 * LANES + inner % 8


@triton.jit
def better(value: tl.tensor, choice: tl.tensor, other: tl.tensor, other_choice: tl.tensor) -> Pair:
    """The larger of two values with its choice; for equal values, the lower choice."""
    wins = (value > other) | ((value == other) & (choice < other_choice))
    return tl.where(wins, value, other), tl.where(wins, choice, other_choice)


@triton.jit
def in_vector(numbers: Tensors) -> tl.tensor:
    """A tuple of scalars as one tensor [length of the tuple]."""
    at = tl.arange(0, len(numbers))
    row = tl.zeros(at.shape, numbers[0].dtype) + numbers[0]
    for i in tl.static_range(1, len(numbers)):
        row = tl.where(at == i, numbers[i], row)
    return row


@triton.jit
def store_part(
    part: tl.tensor,
    found: RowPart,
    truncating: tl.constexpr,
    with_logprobs: tl.constexpr,
) -> None:
    """Write a program's partial result to its PARTS float32 numbers.

    0, 1: the model's own weights (peak, total); 4, 5: the draw's weights; from 8 on each candidate's value and choice.
    """
    one = tl.arange(0, found.best.shape[0])
    tl.store(part + 8 + 2 * one, found.best)
    tl.store(part + 9 + 2 * one, found.choices.to(tl.float32, bitcast=True))
    if with_logprobs:
        tl.store(part, found.own.peak)
        tl.store(part + 1, found.own.total)
    if truncating:
        tl.store(part + 4, found.drawn.peak)
        tl.store(part + 5, found.drawn.total)


@triton.jit
def folded(part: tl.tensor, there: tl.tensor, scale: tl.tensor) -> WeightSum:
    """The sum of the weights of several programs; their (peak, total) pairs are stored from `part` on."""
    high = tl.load(part, mask=there, other=LOWEST, cache_modifier=".cg")
    total = tl.load(part + 1, mask=there, other=0.0, cache_modifier=".cg")
    peak, weight = fold(high, total, scale)
    return WeightSum(peak, weight)


@triton.jit
def gathered(
    parts: tl.tensor,
    found: RowPart,
    row: tl.tensor,
    splits: tl.tensor,
    scale: tl.tensor,
    padded_tiles: tl.constexpr,
    truncating: tl.constexpr,
    with_logprobs: tl.constexpr,
) -> RowPart:
    """The partial results of all programs of a row, reduced to one; `found` is the calling program's result."""
    own, drawn = found.own, found.drawn
    at = tl.arange(0, padded_tiles)
    there = at < splits
    part = parts + (row * splits + at) * PARTS
    one = tl.arange(0, found.best.shape[0])
    candidate = part[None, :] + 8 + 2 * one[:, None]
    value = tl.load(candidate, mask=there[None, :], other=NEVER, cache_modifier=".cg")
    choice = tl.load(candidate + 1, mask=there[None, :], other=0.0, cache_modifier=".cg")
    best, choices = tl.reduce((value, choice.to(tl.int32, bitcast=True)), 1, better)
    if with_logprobs:
        own = folded(part, there, LOG2E)
    if truncating:
        drawn = folded(part + 4, there, scale)
    return RowPart(best, choices, own, drawn)


@triton.jit
def chosen(
    logits: tl.tensor,
    vocab: tl.tensor,
    mask: MaskWords,
    mask_row: tl.tensor,
    temperature: tl.tensor,
    keys: Pair,
    edited: tl.tensor,
    edit: tl.tensor,
    found: RowPart,
    row: tl.tensor,
    outputs: Outputs,
    first_tile_offset: tl.constexpr,
    candidates: tl.constexpr,
    masked: tl.constexpr,
    editing: tl.constexpr,
    truncating: tl.constexpr,
) -> Three:
    """(status, token, the model's own logit of the token) of a row, int32, int32 and float32 scalars.

    Draws within the winning group, for each of `candidates`; at temperature 0 the choice is the token itself. With
    `truncating`, all candidates are written to `outputs`.
    """
    one = tl.arange(0, candidates)
    if temperature > 0:
        # Where logits are not sound no group won.
        last = (vocab - 1 + first_tile_offset) // TILE * OCTETS + OCTETS - 1
        group = tl.minimum(found.choices, last)
        member = member_of(group[:, None], tl.arange(0, DEPTH * 8)[None, :], first_tile_offset)
        inside = (member >= 0) & (member < vocab)
        member = tl.where(inside, member, 0)
        legal = is_legal(mask, mask_row, vocab, member, masked) & inside
        # Not only where it is legal: the two loads need not wait for one another.
        given = tl.load(logits + member).to(tl.float32)
        x = given
        if editing:
            if edit:
                x = tl.load(edited + member, mask=legal, other=NEVER, cache_modifier=".cg")
        x = tl.where(legal, x, NEVER)
        mixed = counted(keys[0], member.to(tl.uint32))
        noise = exponential(mixed, keys[1], one.to(tl.uint32)[:, None])
        drawn = tl.div_rn(x, temperature) - natural_log(noise)
        _, tokens = tl.reduce((drawn, member), 1, better)
        chose = (member == tokens[:, None]) & inside
        if truncating:
            chosen_logits = tl.max(tl.where(chose, x, NEVER), 1)
            tl.store(outputs.candidate_tokens + row * CANDIDATES + one, tokens)
            tl.store(outputs.candidate_logits + row * CANDIDATES + one, chosen_logits)
        own = tl.max(tl.where(chose & (one == 0)[:, None], given, NEVER))
        token = tl.max(tl.where(one == 0, tokens, 0))
    else:
        token = tl.minimum(tl.max(tl.where(one == 0, found.choices, 0)), vocab - 1)
        own = tl.load(logits + token).to(tl.float32)
    highest = tl.max(found.best)
    state = tl.where(highest < float("inf"), tl.where(highest == LOWEST, 2, 0), 1)
    return state, token, own


@triton.jit
def store_sums(
    found: RowPart,
    outputs: Outputs,
    row: tl.tensor,
    state: tl.tensor,
    truncating: tl.constexpr,
    with_logprobs: tl.constexpr,
) -> tl.tensor:
    """Write the row's summed weights; returns the logsumexp of the model's own distribution, a float32 scalar."""
    lse = found.own.peak + tl.log(found.own.total)
    if truncating:
        tl.store(outputs.weights + row * 2, found.drawn.peak)
        tl.store(outputs.weights + row * 2 + 1, tl.where(state == 0, found.drawn.total, 0.0))
    if with_logprobs:
        tl.store(outputs.logsumexp + row, lse)
    return lse


@triton.jit
def gumbel(draw: DrawInputs, row: tl.tensor, token: tl.tensor, number: tl.constexpr) -> tl.tensor:
    """float32 Gumbel noise of tokens in the row's draw of that number."""
    key0 = tl.load(draw.keys + row * 2).to(tl.uint32)
    key1 = tl.load(draw.keys + row * 2 + 1).to(tl.uint32)
    return -natural_log(exponential(counted(key0, token.to(tl.uint32)), key1, number))


@triton.jit
def stays_first(logits: tl.tensor, cut: tl.tensor) -> tl.tensor:
    """The index of the first candidate with a logit [CANDIDATES] at or above the cut; CANDIDATES if there is none."""
    return tl.min(tl.where(logits >= cut, tl.arange(0, CANDIDATES), CANDIDATES))


@triton.jit
def token_of(tokens: tl.tensor, number: tl.tensor) -> tl.tensor:
    """The token of one candidate, of tokens [CANDIDATES]."""
    return tl.min(tl.where(tl.arange(0, CANDIDATES) == number, tokens, 0x7FFFFFFF))


@triton.jit
def store_token(
    logits: tl.tensor,
    outputs: Outputs,
    row: tl.tensor,
    token: tl.tensor,
    with_logprobs: tl.constexpr,
) -> None:
    """Replace the row's token and log-probability, which the pass over the logits has written."""
    tl.store(outputs.tokens + row, token.to(tl.int64))
    if with_logprobs:
        own = tl.load(logits + token).to(tl.float32)
        tl.store(outputs.logprobs + row, own - tl.load(outputs.logsumexp + row))
