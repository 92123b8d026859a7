"""The difference between a quantised model and its original, on documents that the rounding has not seen.

Does: compare the distributions of the next token. Does not: extract; `intaglio eval` compares answers.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import exp

import torch
from torch import Tensor

from .quantization import Accuracy, CalibrationText
from .sequence_reader import SequenceReader

ROWS = 64
"""Positions that are compared at once: a row of logits may be a megabyte."""

MOST_TOKENS = 2048
"""The tokens that are compared; their distributions are kept in float16, 2 bytes for each token of the vocabulary."""


@dataclass(frozen=True, slots=True)
class Distributions:
    """Log-probabilities [positions, vocab] float16 of the next token, and the given tokens [positions]."""

    logprobs: Tensor
    given: Tensor


def distributions(reader: SequenceReader, texts: Sequence[CalibrationText]) -> Distributions:
    """The distributions at the first `MOST_TOKENS` positions of `texts` that count."""
    rows, given, count = [], [], 0
    for text in texts:
        if count >= MOST_TOKENS:
            break
        logprobs = reader.logits(text.tokens, text.first).log_softmax(-1)
        rows.append(logprobs[: MOST_TOKENS - count].to("cpu", torch.float16))
        given.append(torch.tensor(text.tokens[text.first :])[: MOST_TOKENS - count])
        count += rows[-1].shape[0]
    return Distributions(torch.cat(rows), torch.cat(given))


def compared(before: Distributions, after: Distributions) -> Accuracy:
    """The accuracy of the model with the distributions `after`."""
    count = before.given.shape[0]
    divergence = same = 0.0
    for begin in range(0, count, ROWS):
        rows = slice(begin, begin + ROWS)
        old, new = before.logprobs[rows].float(), after.logprobs[rows].float()
        weight = old.exp()
        divergence += float((weight * (old - new).where(weight > 0, 0)).sum())
        same += float((old.argmax(1) == new.argmax(1)).sum())
    return Accuracy(
        tokens=count,
        divergence=max(divergence / count, 0.0),
        same=same / count,
        perplexity_before=_perplexity(before),
        perplexity_after=_perplexity(after),
    )


def _perplexity(found: Distributions) -> float:
    given = found.logprobs.gather(1, found.given.unsqueeze(1)).float()
    return exp(-float(given.mean()))
