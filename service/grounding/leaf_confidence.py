"""The confidence of the model in each value of its answer, from the probabilities of the tokens.

Does: assign the tokens of an output to the scalars of its JSON text, and combine their probabilities. Does not: ask the
model.

Probabilities are those among the tokens that the constraint allows. The engine writes one canonical JSON text for a
value, so the probability of a choice is that of its one spelling: the product over its tokens. The probability that a
number ends where it does is not a part of it.
"""

import math
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import accumulate

from intaglio.engine.api import Cut, TokenLogprob
from intaglio.schemas.extraction.grounding import LeafConfidence, TokenAlternative, ValueToken

from .value_ranges import value_ranges

_WHOLE = (b"true", b"false", b"null")


@dataclass(frozen=True, slots=True)
class ScoredOutput:
    """The tokens of an output with their scores, and the bytes of every token of the vocabulary (None: no text).

    `cuts` are the ranges of tokens that the engine wrote in place of the model.
    """

    scores: Sequence[TokenLogprob]
    vocabulary: Sequence[bytes | None]
    cuts: Sequence[Cut] = ()

    def text_of(self, token: int) -> bytes:
        """The bytes of a token."""
        return self.vocabulary[token] or b""


def confidences(
    output: ScoredOutput, closed: Set[str], alternatives: int = 0
) -> Mapping[str, LeafConfidence]:
    """The confidence of each scalar, by JSON Pointer. `closed`: scalars that the schema chooses from a list.

    A value that the engine ended in place of the model has none. With `alternatives`, this many legal tokens are listed
    at each token of a value.
    """
    texts = [output.text_of(score.token) for score in output.scores]
    ends = list(accumulate(map(len, texts)))
    text = b"".join(texts)
    found = dict[str, LeafConfidence]()
    token = 0
    for pointer, (begin, end) in value_ranges(text).items():
        while ends[token] <= begin:
            token += 1
        last = token
        while ends[last] < end:
            last += 1
        scores = output.scores[token : last + 1]
        if any(cut.begin <= last and token < cut.end for cut in output.cuts):
            found[pointer] = LeafConfidence()
            continue
        whole = pointer in closed or text[begin:end] in _WHOLE
        shares = [score.masked for score in scores if score.masked is not None]
        offset = begin - (ends[token] - len(texts[token]))
        found[pointer] = LeafConfidence(
            probability=_product(scores) if whole else _mean(scores),
            masked=max(shares, default=None),
            not_stated=_null(output, scores[0], texts[token][:offset]),
            tokens=tuple(_value_token(output, score, alternatives) for score in scores)
            if alternatives
            else (),
        )
    return found


def _value_token(output: ScoredOutput, score: TokenLogprob, most: int) -> ValueToken:
    likely = sorted(score.top, key=lambda one: -one[1])[:most]
    return ValueToken(
        text=_shown(output, score.token),
        probability=_probability(score.logprob),
        masked=score.masked,
        alternatives=tuple(
            TokenAlternative(text=_shown(output, token), probability=_probability(logprob))
            for token, logprob in likely
        ),
    )


def _shown(output: ScoredOutput, token: int) -> str:
    return output.text_of(token).decode("utf-8", "replace")


def _probability(logprob: float) -> float:
    return math.exp(min(0.0, logprob))


def _product(scores: Sequence[TokenLogprob]) -> float:
    return math.exp(min(0.0, math.fsum(score.logprob for score in scores)))


def _mean(scores: Sequence[TokenLogprob]) -> float:
    """The geometric mean over the tokens that were not forced; 1 if all were."""
    chosen = [score.logprob for score in scores if score.top]
    return math.exp(min(0.0, math.fsum(chosen) / len(chosen))) if chosen else 1.0


def _null(output: ScoredOutput, score: TokenLogprob, before: bytes) -> float | None:
    """The probability that the value is null, where the value begins after the bytes `before` of a token.

    None if no such token is among the reported alternatives.
    """
    found = list(_beginning(output, score, before + b"n"))
    return min(1.0, math.fsum(map(math.exp, found))) if found else None


def _beginning(output: ScoredOutput, score: TokenLogprob, text: bytes) -> Iterator[float]:
    """The log-probabilities of the alternatives that begin with a text."""
    reported = dict(score.top)
    if score.top:
        reported[score.token] = score.logprob
    for token, logprob in reported.items():
        if output.text_of(token).startswith(text):
            yield logprob
