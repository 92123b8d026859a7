"""Reference implementation of sampling in plain torch: from logits and masks to one token per row.

Does, in this order: mask; refuse rows that are not finite; log-probabilities; bias; penalties; temperature; top-k,
top-p, min-p; draw. Does not: know requests, or keep state: a draw is a function of its row's two key words alone.

Definitions
    bias        added to the logit
    repetition  every token of prompt or output: a positive logit is divided by the penalty, another one multiplied
                (Keskar et al. 2019)
    frequency   subtracted once for each occurrence of the token in the output
    presence    subtracted once if the token occurs in the output
    top-k       tokens with a logit at least as large as the k-th largest; ties at the edge all stay
    top-p       of those, the smallest set of most likely tokens that holds at least p of their mass; ties at the edge
                all stay (Holtzman et al. 2019)
    min-p       of those, tokens at least `min_p` times as likely as the most likely one (Nguyen et al. 2024)
    draw        two draws by Gumbel's maximum (Gumbel 1954; Yellott 1977): a *group* of tokens, the one with the largest
                `logsumexp(logits / temperature) + gumbel(key, GROUPS + group)`, then in it the token with the largest
                `logit / temperature + gumbel(key, token)`. Both together choose a token with exactly its probability,
                as one draw among all tokens would, at one noise for many tokens. Temperature 0 takes the largest
                logit. Of equals the lowest number wins
    truncation  of CANDIDATES draws from the whole row, each with its own noise, the first token that stays; if none
                does, the token that stays with the largest `logit / temperature + gumbel(key, token)`. That is a draw
                from what stays (von Neumann's rejection, and then a draw from the same distribution), and with most of
                the mass kept the cut need not be computed
    group       of token t, `(t + offset) // TILE * (LANES / SPAN) + t % LANES / SPAN`: SPAN tokens side by side, and
                those that lie multiples of LANES further in the same tile. `offset` and the sizes: `layout`
"""

import torch
from torch import Tensor

from ..contracts import WORD_BITS
from ..sampling_contracts import (
    NOT_FINITE,
    NOTHING_LEGAL,
    OK,
    Bias,
    Draw,
    Penalties,
    SampleArgs,
    Sampled,
    Truncation,
)
from .layout import CANDIDATES, DRAWS, GROUPS, LANES, SPAN, TILE, first_tile_offset

NEVER = float("-inf")
_WORD = 0xFFFFFFFF


def sample(logits: Tensor, args: SampleArgs) -> Sampled:
    """Draw one token for each row of `logits` [R, V], V at least `args.vocab`; float32 ones may be overwritten."""
    vocab = min(args.vocab, logits.shape[1])
    rows = logits[:, :vocab].float()
    # A sum that is neither NaN nor above all numbers has no term that is, short of astronomically large ones: one read.
    sound = rows
    if args.masks is not None:
        legal = allowed(args.masks, args.mask_rows, vocab)
        sound = rows.masked_fill(~legal, 0.0)
        rows = rows.masked_fill(~legal, NEVER)
    best, tokens = rows.max(-1)
    finite = sound.sum(-1) < float("inf")
    status = torch.where(finite, torch.where(best == NEVER, NOTHING_LEGAL, OK), NOT_FINITE)
    bad = status != OK
    if bool(bad.any()):
        rows = rows.masked_fill(bad[:, None], 0.0)
    belief = torch.log_softmax(rows, -1) if args.top is not None else None
    masked = masked_share(logits[:, :vocab], rows.logsumexp(-1)) if args.masked_share else None
    changed = args.bias is not None or args.penalties is not None
    if changed:
        rows = penalised(biased(rows, args.bias), args.penalties)
    if args.draw is not None:
        tokens = drawn(rows, args.draw, args.truncation)
    elif changed:
        tokens = rows.argmax(-1)
    if belief is None or args.top is None:
        return Sampled(tokens, status)
    chosen = belief.gather(1, tokens[:, None])[:, 0]
    top_logprobs, top_tokens = belief.topk(min(args.top, vocab), -1)
    return Sampled(tokens, status, chosen, top_tokens, top_logprobs, masked)


def masked_share(logits: Tensor, legal: Tensor) -> Tensor:
    """The probability of illegal tokens [R] float32, from the logits [R, V] of all tokens and the logarithm of the sum
    of the exponentials of the legal ones [R]. 1 where it is not a number.
    """
    share = 1 - torch.exp(legal - logits.float().logsumexp(-1))
    return share.nan_to_num(nan=1.0).clamp_(0, 1)


def allowed(masks: Tensor, mask_rows: Tensor | None, vocab: int) -> Tensor:
    """bool [R, vocab] from packed words int32 [A, words]; rows of -1 in `mask_rows` [R] allow all.

    Tokens past the words' width are not allowed.
    """
    if mask_rows is not None:
        given = masks[mask_rows.clamp(min=0).long()]
        return (mask_bias(given, vocab) == 0) | (mask_rows < 0)[:, None]
    return mask_bias(masks, vocab) == 0


def mask_bias(masks: Tensor, vocab: int) -> Tensor:
    """0 for allowed tokens and -inf for others: [R, vocab] float32 from packed words int32 [R, words].

    Tokens past the words' width are not allowed.
    """
    bits = torch.arange(8)
    table = torch.where((torch.arange(256)[:, None] >> bits) & 1 == 1, 0.0, NEVER)
    codes = masks.contiguous().view(torch.uint8)
    bias = table.index_select(0, codes.reshape(-1).int()).view(masks.shape[0], -1)
    missing = vocab - masks.shape[1] * WORD_BITS
    if missing > 0:
        bias = torch.nn.functional.pad(bias, (0, missing), value=NEVER)
    return bias[:, :vocab]


def biased(logits: Tensor, bias: Bias | None) -> Tensor:
    """`logits` plus the sparse bias; a new tensor. Tokens past the last column are ignored."""
    if bias is None:
        return logits.clone()
    inside = bias.tokens < logits.shape[1]
    return logits.index_put(
        (bias.rows[inside], bias.tokens[inside]), bias.values[inside], accumulate=True
    )


def penalised(logits: Tensor, penalties: Penalties | None) -> Tensor:
    """`logits` with repetition, frequency and presence penalties applied, in place."""
    if penalties is None:
        return logits
    inside = penalties.tokens < logits.shape[1]
    rows, tokens, counts = (
        penalties.rows[inside],
        penalties.tokens[inside],
        penalties.counts[inside],
    )
    values = logits[rows, tokens]
    factor = penalties.repetition[rows]
    values = torch.where(values > 0, values / factor, values * factor)
    values -= penalties.frequency[rows] * counts
    values -= penalties.presence[rows] * (counts > 0)
    logits[rows, tokens] = values
    return logits


def drawn(logits: Tensor, draw: Draw, truncation: Truncation | None) -> Tensor:
    """One token a row [R] int64; the largest logit where the temperature is 0."""
    greedy = logits.argmax(-1)
    hot = torch.nonzero(draw.temperature > 0)[:, 0]
    if not hot.numel():
        return greedy
    rows = logits[hot] / draw.temperature[hot, None]
    groups, keys = group_weights(rows), draw.keys[hot]
    tokens = grouped_draw(rows, groups, keys)
    if truncation is not None:
        options = (truncation.top_k[hot], truncation.top_p[hot], truncation.min_p[hot])
        kept = truncated(rows, Truncation(*options))
        for number in range(1, CANDIDATES):
            left = torch.nonzero(kept.gather(1, tokens[:, None])[:, 0] == NEVER)[:, 0]
            if left.numel():
                tokens[left] = grouped_draw(rows[left], groups[left], keys[left], number)
        left = torch.nonzero(kept.gather(1, tokens[:, None])[:, 0] == NEVER)[:, 0]
        counters = torch.arange(rows.shape[1], device=rows.device)
        tokens[left] = (kept[left] + gumbel(keys[left], counters, CANDIDATES)).argmax(-1)
    return greedy.index_copy(0, hot, tokens)


def group_weights(logits: Tensor) -> Tensor:
    """Logarithms of the weights `exp(logits)` [R, V] of groups: [R, groups]."""
    before = first_tile_offset(logits.shape[1])
    padding = before, -logits.shape[1] % LANES
    padded = torch.nn.functional.pad(logits, padding, value=NEVER)
    lanes = padded.view(len(logits), -1, LANES // SPAN, SPAN)
    tiles = torch.split(lanes, TILE // LANES, 1)
    return torch.cat([tile.logsumexp((1, 3)) for tile in tiles], 1)


def grouped_draw(logits: Tensor, groups: Tensor, keys: Tensor, number: int = 0) -> Tensor:
    """One token a row [R] int64 in proportion to the weights `exp(logits)` [R, V]; see `draw` and `group` above.

    `groups` as `group_weights` finds them; `number` says which of the row's draws it is.
    """
    vocab = logits.shape[1]
    counters = torch.arange(groups.shape[1], device=logits.device) + GROUPS
    group = (groups + gumbel(keys, counters, number)).argmax(-1)
    token = (
        group // (LANES // SPAN) * TILE - first_tile_offset(vocab) + group % (LANES // SPAN) * SPAN
    )
    depth = torch.arange(0, TILE, LANES, device=logits.device)
    inner = (depth[:, None] + torch.arange(SPAN, device=logits.device)).flatten()
    members = token[:, None] + inner
    inside = (members >= 0) & (members < vocab)
    members = members.clamp(0, vocab - 1)
    values = logits.gather(1, members).masked_fill(~inside, NEVER)
    values += gumbel(keys, members, number)
    return members.gather(1, values.argmax(-1, keepdim=True))[:, 0]


def truncated(logits: Tensor, truncation: Truncation) -> Tensor:
    """`logits` [R, V] with -inf for the tokens that top-k, top-p and min-p remove."""
    top_k, top_p, min_p = truncation.top_k, truncation.top_p, truncation.min_p
    limited = torch.where(top_k > 0, top_k, logits.shape[1]).clamp_(max=logits.shape[1])
    if bool((top_p < 1).any() | (limited < logits.shape[1]).any()):
        ordered = logits.sort(dim=-1, descending=True).values
        kth = ordered.gather(1, limited[:, None] - 1)
        ordered.masked_fill_(ordered < kth, NEVER)
        mass = torch.softmax(ordered, -1)
        before = mass.cumsum(-1) - mass
        # The most likely token is always kept: no mass precedes it.
        kept = (before < top_p[:, None]) | (top_p[:, None] >= 1)
        kept[:, 0] = True
        edge = ordered.masked_fill(~kept, float("inf")).amin(-1, keepdim=True)
        logits = logits.masked_fill(logits < torch.maximum(edge, kth), NEVER)
    floor = logits.amax(-1, keepdim=True) + min_p[:, None].log()
    return logits.masked_fill(logits < floor, NEVER)


def gumbel(keys: Tensor, counters: Tensor, number: int = 0) -> Tensor:
    """Standard Gumbel noise [R, n] float32, a pure function of the row's key words `keys` [R, 2], the counter and the
    number of the draw.

    `counters` [n] or [R, n] int64, below 2**32: tokens, or GROUPS and up.

    A 32-bit counter hash: the finaliser of MurmurHash3 over `counter * 0x9E3779B9 + key0`, then again after xor with
    `key1` and `number * DRAWS`. The hash gives u in (0, 1); `-log1p(-u)` is exponential and keeps full precision where
    it is small, which is where the largest noise, and so the draw, comes from.
    """
    mixed = _finalise((counters * 0x9E3779B9 + keys[:, :1]) & _WORD)
    mixed = _finalise(mixed ^ keys[:, 1:] ^ (number * DRAWS & _WORD))
    unit = (mixed.float() + 0.5).mul_(2.0**-32).clamp_(max=1 - 2.0**-24)
    return unit.neg_().log1p_().neg_().log_().neg_()


def _finalise(x: Tensor) -> Tensor:
    """MurmurHash3's 32-bit finaliser on values below 2**32 held in int64."""
    x = x ^ (x >> 16)
    x = (x * 0x85EBCA6B) & _WORD
    x = x ^ (x >> 13)
    x = (x * 0xC2B2AE35) & _WORD
    return x ^ (x >> 16)
