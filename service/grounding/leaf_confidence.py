"""The confidence of the model in each value of its answer, from the probabilities of the tokens.

Does: assign the tokens of an output to the scalars of its JSON text, and combine their probabilities. Does not: ask the
model.

Probabilities are those among the tokens that the constraint allows. The engine writes one canonical JSON text for a
value, so the probability of a choice is that of its one spelling: the product over its tokens. The probability that a
number ends where it does is not a part of it.

How a value begins may be decided before its first byte. Where one token is `":"` (the end of a key, the colon and the
quote of a string) and another `":`, the choice between them is that between a string and null. So the tokens of a value
are those that write it, and before them those where another token would have written the same text up to the value, and
gone on.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from intaglio.engine.api import Cut, TokenLogprob
from intaglio.schemas.extraction.grounding import LeafConfidence, TokenAlternative, ValueToken

from .value_choices import ValueChoices
from .value_ranges import value_ranges

_WHOLE = (b"true", b"false", b"null")
_REACH: Final = 8
"""How many tokens before a value are looked at: no token is expected to write the same as more, and go on."""

_Choice = tuple[TokenLogprob, bytes]
"""A token of the output, and the bytes between its start and the start of a value."""


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
    output: ScoredOutput, choices: ValueChoices, alternatives: int = 0
) -> Mapping[str, LeafConfidence]:
    """The confidence of each scalar, by JSON Pointer. `choices`: what the schema left to choose.

    A value that the engine began or ended in place of the model has none. With `alternatives`, this many legal tokens
    are listed at each token of a value.
    """
    texts = [output.text_of(score.token) for score in output.scores]
    starts = list(accumulate(map(len, texts), initial=0))
    text = b"".join(texts)
    found = dict[str, LeafConfidence]()
    token = 0
    for pointer, (begin, end) in value_ranges(text).items():
        while starts[token + 1] <= begin:
            token += 1
        near = range(max(0, token - _REACH), token + 1)
        opening = _opening(output, [(output.scores[at], text[starts[at] : begin]) for at in near])
        first = token + 1 - len(opening)
        last = token
        while starts[last + 1] < end:
            last += 1
        scores = output.scores[first : last + 1]
        if any(cut.begin <= last and first < cut.end for cut in output.cuts):
            found[pointer] = LeafConfidence()
            continue
        whole = pointer in choices.closed or text[begin:end] in _WHOLE
        shares = [score.masked for score in scores if score.masked is not None]
        found[pointer] = LeafConfidence(
            probability=_product(scores) if whole else _mean(scores),
            masked=max(shares, default=None),
            not_stated=_null(output, opening, pointer in choices.nullable),
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


def _opening(output: ScoredOutput, near: Sequence[_Choice]) -> Sequence[_Choice]:
    """The tokens that decide how a value begins; the last of them and of `near` writes its first byte."""
    deciding = (
        at
        for at, (score, before) in enumerate(near)
        if any(_runs_on(output.text_of(token), before) for token, _ in score.top)
    )
    return near[next(deciding, len(near) - 1) :]


def _runs_on(text: bytes, before: bytes) -> bool:
    return len(text) > len(before) and text.startswith(before)


def _null(output: ScoredOutput, opening: Sequence[_Choice], is_allowed: bool) -> float | None:
    """The greatest probability of null by the reported tokens; None if none of them can lead to null.

    What follows a token that ends before the value is known only if the model took it. Otherwise its whole probability
    counts, if null `is_allowed` or one of the other tokens begins it.
    """
    null = left_open = 0.0
    reached = 1.0
    for score, before in opening:
        for token, logprob in _reported(score).items():
            text = output.text_of(token)
            if text.startswith(before + b"n"):
                null += reached * math.exp(logprob)
            elif token != score.token and text and before.startswith(text):
                left_open += reached * math.exp(logprob)
        reached *= math.exp(score.logprob)
    possible = null + left_open if null or is_allowed else 0.0
    return min(1.0, possible) or None


def _reported(score: TokenLogprob) -> Mapping[int, float]:
    """The log-probabilities of the reported tokens, the chosen one included."""
    return {**dict(score.top), score.token: score.logprob}
