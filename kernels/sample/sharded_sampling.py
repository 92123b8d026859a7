"""Sampling where each of several processes has the logits of a part of the vocabulary.

Does: sample the token that `reference_logits.sample` would sample from the whole row, from a few numbers of each part
instead of its logits. Does not: communicate by itself, or truncate: top-k, top-p and min-p need the whole row.

A part contributes in two exchanges:

    1. its largest logit, its sum, its `logsumexp`, and the weights of the draw's groups, one for each 128 tokens
    2. its best token of the group that was drawn

Every process combines the same numbers in the same order, so all of them sample the same token. A group that lies in
one part has exactly the weight that a whole row gives it; one that two parts share is rounded once more.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import torch
from torch import Tensor

from ..contracts import WORD_BITS
from ..sampling_contracts import (
    NOT_FINITE,
    NOTHING_LEGAL,
    OK,
    Bias,
    Draw,
    Legal,
    SampleArgs,
    Sampled,
)
from .layout import DEPTH, GROUPS, LANES, SPAN, TILE, first_tile_offset
from .reference_logits import NEVER, allowed, biased, gumbel, penalised

Gather = Callable[[Tensor], Tensor]
"""Gathers a tensor of equal shape from each process: [processes, *shape]."""

_TILE_GROUPS = LANES // SPAN


@dataclass(frozen=True, slots=True)
class VocabularyPart:
    """The tokens from `first` on, a multiple of `WORD_BITS`, `width` of them."""

    first: int
    width: int

    def legal(self, legal: Legal | None) -> Legal | None:
        """The masks of this part of the vocabulary."""
        if legal is None:
            return None
        return Legal(self.words(legal.masks), legal.rows)

    def words(self, masks: Tensor) -> Tensor:
        """The words [A, any] of this part."""
        begin = self.first // WORD_BITS
        return masks[:, begin : begin + -(-self.width // WORD_BITS)]


def sample_part(logits: Tensor, args: SampleArgs, part: VocabularyPart, gather: Gather) -> Sampled:
    """See `Kernels.sample`; `logits` [R, width] are those of `part`, and `args`, without truncation, those of the whole
    vocabulary.
    """
    values = logits.float()
    legal = _existing(args.vocab, part).expand(values.shape)
    if args.masks is not None:
        words = part.words(args.masks)
        if words.shape[1] == 0:
            words = words.new_zeros((words.shape[0], 1))
        legal = legal & allowed(words, args.mask_rows, part.width)
    total = values.masked_fill(~legal, 0.0).sum(-1)
    rows = values.masked_fill(~legal, NEVER)
    edited = _edited(rows, args, part)
    peak, at = edited.max(-1)
    columns = [rows.amax(-1), total, peak, (at + part.first).double()]
    if args.top is not None:
        columns += [rows.logsumexp(-1), _existing_only(values, args.vocab, part).logsumexp(-1)]
    groups = None
    if args.draw is not None:
        temperature = args.draw.temperature.clamp(min=1e-30)[:, None]
        edited = torch.where(args.draw.temperature[:, None] > 0, edited / temperature, edited)
        groups = _group_weights(edited, args.vocab, part)
        columns += list(groups.unbind(1))
    found = gather(torch.stack([column.double() for column in columns], 1))
    best, totals, peaks, tokens = (found[:, :, i] for i in range(4))
    finite = (totals < float("inf")).all(0)
    status = torch.where(finite, torch.where(best.amax(0) == NEVER, NOTHING_LEGAL, OK), NOT_FINITE)
    chosen = _pick(peaks, tokens)
    if args.draw is not None and groups is not None:
        weights = found[:, :, -groups.shape[1] :].float().logsumexp(0)
        hot = args.draw.temperature > 0
        drawn = _drawn(edited, weights, args.draw, args.vocab, part, gather)
        chosen = torch.where(hot, drawn, chosen)
    chosen = torch.where(status == OK, chosen, 0)
    if args.top is None:
        return Sampled(chosen, status)
    whole, everything = (found[:, :, i].float().logsumexp(0) for i in (4, 5))
    return _with_logprobs(Sampled(chosen, status), rows, whole, everything, args, part, gather)


def _existing(vocab: int, part: VocabularyPart) -> Tensor:
    """Which tokens of a part exist: bool [width]."""
    return torch.arange(part.first, part.first + part.width) < vocab


def _existing_only(values: Tensor, vocab: int, part: VocabularyPart) -> Tensor:
    return values.masked_fill(~_existing(vocab, part), NEVER)


def _edited(rows: Tensor, args: SampleArgs, part: VocabularyPart) -> Tensor:
    """`rows` with the bias and the penalties of the tokens of this part; a new tensor if there are any."""
    if args.bias is None and args.penalties is None:
        return rows
    bias, penalties = args.bias, args.penalties
    if bias is not None:
        inside = _inside(bias.tokens, part)
        tokens = bias.tokens[inside] - part.first
        bias = Bias(bias.rows[inside], tokens, bias.values[inside])
    if penalties is not None:
        inside = _inside(penalties.tokens, part)
        penalties = replace(
            penalties,
            rows=penalties.rows[inside],
            tokens=penalties.tokens[inside] - part.first,
            counts=penalties.counts[inside],
        )
    return penalised(biased(rows, bias), penalties)


def _inside(tokens: Tensor, part: VocabularyPart) -> Tensor:
    return (tokens >= part.first) & (tokens < part.first + part.width)


def _group_weights(rows: Tensor, vocab: int, part: VocabularyPart) -> Tensor:
    """Logarithms of the weights of all groups [R, groups] in this part; see `reference_logits.group_weights`."""
    offset = first_tile_offset(vocab)
    tiles = -(-(vocab + offset) // TILE)
    before = part.first + offset
    lead = before % TILE
    own = torch.nn.functional.pad(rows, (lead, -(lead + part.width) % TILE), value=NEVER)
    weights = own.view(len(rows), -1, DEPTH, _TILE_GROUPS, SPAN).logsumexp((2, 4)).flatten(1)
    out = rows.new_full((len(rows), tiles * _TILE_GROUPS), NEVER)
    begin = before // TILE * _TILE_GROUPS
    weights = weights[:, : max(0, out.shape[1] - begin)]  # none exists past the vocabulary
    out[:, begin : begin + weights.shape[1]] = weights
    return out


def _drawn(
    rows: Tensor, weights: Tensor, draw: Draw, vocab: int, part: VocabularyPart, gather: Gather
) -> Tensor:
    """One token a row [R]: the group drawn by `weights` [R, groups], then the best token in it of all parts."""
    counters = torch.arange(weights.shape[1]) + GROUPS
    group = (weights + gumbel(draw.keys, counters)).argmax(-1)
    token = group // _TILE_GROUPS * TILE - first_tile_offset(vocab) + group % _TILE_GROUPS * SPAN
    inner = (torch.arange(0, TILE, LANES)[:, None] + torch.arange(SPAN)).flatten()
    members = token[:, None] + inner
    inside = _inside(members, part)
    places = (members - part.first).clamp(0, part.width - 1)
    values = rows.gather(1, places).masked_fill(~inside, NEVER)
    values += gumbel(draw.keys, members.clamp(min=0))
    best, at = values.max(-1)
    mine = members.gather(1, at[:, None])[:, 0].clamp(0, vocab - 1)
    found = gather(torch.stack((best.double(), mine.double()), 1))
    return _pick(found[:, :, 0], found[:, :, 1])


def _pick(values: Tensor, tokens: Tensor) -> Tensor:
    """The tokens [R] int64 with the largest of `values` [parts, R]; of equals that of the first part."""
    first = values.max(0).indices
    return tokens.gather(0, first[None])[0].long()


def _with_logprobs(
    sampled: Sampled,
    rows: Tensor,
    whole: Tensor,
    everything: Tensor,
    args: SampleArgs,
    part: VocabularyPart,
    gather: Gather,
) -> Sampled:
    """`sampled` with what `args` asks to report; `whole` and `everything` [R] are the logarithms of the sums over all
    legal, and over all tokens.
    """
    assert args.top is not None
    count = min(args.top, part.width)
    values, places = rows.topk(count, -1)
    own = (sampled.tokens - part.first).clamp(0, part.width - 1)
    mine = rows.gather(1, own[:, None])[:, 0]
    mine = mine.masked_fill(~_inside(sampled.tokens, part), NEVER)
    block = torch.cat((mine[:, None], values, (places + part.first).double()), 1)
    found = gather(block.double())
    chosen = found[:, :, 0].amax(0).float() - whole
    values = found[:, :, 1 : 1 + count].permute(1, 0, 2).flatten(1)
    tokens = found[:, :, 1 + count :].permute(1, 0, 2).flatten(1).long()
    best, at = values.topk(min(args.top, args.vocab, values.shape[1]), -1)
    masked = None
    if args.masked_share:
        masked = (1 - torch.exp(whole - everything)).nan_to_num(nan=1.0).clamp_(0, 1)
    return Sampled(
        sampled.tokens,
        sampled.status,
        chosen,
        tokens.gather(1, at),
        best.float() - whole[:, None],
        masked,
    )
