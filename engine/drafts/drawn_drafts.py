"""Drafts that are drawn one after the other from logits of their own: of a draft model, or of a draft head.

Does: draw until another draft would not pay, under the mask of each position; judge whether drafts pay at all. Does
not: compute logits, or verify drafts.

The same noise makes two models draw the same token more often than independent draws would. A request without a seed is
drafted greedily, since the noise of its draws belongs to the other model's executor.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import exp
from typing import Final

from intaglio.grammar.api import MaskRows, empty_rows

from ..plan import SampledToken
from ..types import SamplingParams
from .source import Guess, Lookahead

LEVELS: Final = 8  # intervals of the probability of a draft among those that it was drawn from
FORCED: Final = LEVELS - 1  # the level of a token that the grammar forces
CHANCES: Final = tuple((level + 0.5) / LEVELS for level in range(LEVELS))

PROBE: Final = 32  # where drafts do not pay, one guess in this many is made nevertheless
_SHARE: Final = 0.05  # the weight of a new measurement in the seconds of a draft
# Drafts before it is judged whether they pay; after twice as many, the counts are halved.
_MEMORY: Final = 128.0

DrawStep = Callable[[Sequence[int], MaskRows | None], SampledToken]
"""Computes tokens after those computed before, and draws one after them under a mask; None for no mask."""


class DrawnDrafts:
    """Draws the guesses of one source.

    `seconds`: the cost of a step of the target model by its tokens, by the same `clock` as the costs of drafts.
    """

    def __init__(
        self,
        end_tokens: frozenset[int],
        width: int,
        seconds: Callable[[float], float],
        clock: Callable[[], float],
    ) -> None:
        self._end_tokens = end_tokens
        self._width = width
        self._seconds = seconds
        self._clock = clock
        self._skipped = 0
        self._drafted = self._accepted = 0.0
        self._draft_s = 0.0  # seconds of a draft, without the tokens before it
        self._read_s = 0.0  # seconds of all tokens before drafts

    def pays(self) -> bool:
        """Whether accepted drafts saved more time than all drafts took.

        True at intervals in any case, to measure again.
        """
        cost = self._drafted * self._draft_s + self._read_s
        if (
            self._drafted < _MEMORY
            or self._skipped >= PROBE
            or self._accepted * self._seconds(1) > cost
        ):
            self._skipped = 0
            return True
        self._skipped += 1
        return False

    def verified(self, accepted: int) -> None:
        """Count the accepted drafts of a guess."""
        self._accepted += accepted
        if self._drafted > 2 * _MEMORY:
            self._drafted, self._accepted = self._drafted / 2, self._accepted / 2
            self._read_s /= 2

    def guess(
        self, pending: Sequence[int], most: int, cursor: Lookahead | None, step: DrawStep
    ) -> Guess:
        """Draw at most `most` tokens after `pending`, the tokens that are known and not computed."""
        least = self._draft_s / self._seconds(1)
        drafts: list[int] = []
        levels: list[int] = []
        chance = 1.0
        rows = empty_rows(1, self._width)
        while len(drafts) < most and chance > least:
            if cursor is not None and not cursor.fill(rows[0]):
                break
            began = self._clock()
            sample = step(pending, None if cursor is None else rows)
            taken = self._clock() - began
            if drafts:
                self._draft_s += (_SHARE if self._draft_s else 1.0) * (taken - self._draft_s)
            else:
                self._read_s += max(0.0, taken - self._draft_s)
            if sample.failure is not None or sample.tokens[0] in self._end_tokens:
                break
            token, share = sample.tokens[0], exp(sample.logprobs[0].logprob)
            forced = () if cursor is None else cursor.advance(token)
            if forced is None:
                break
            drafts += (token, *forced)
            levels += (min(LEVELS - 1, int(LEVELS * share)), *(FORCED for _ in forced))
            chance *= share
            pending = [token, *forced]
        self._drafted += min(len(drafts), most)
        return Guess(tuple(drafts[:most]), tuple(levels[:most]))


def draft_options(sampling: SamplingParams) -> SamplingParams:
    """The options of drafts: those of the request, with the log-probability of each draft."""
    greedy = sampling.seed is None
    temperature = 0.0 if greedy else sampling.temperature
    return replace(sampling, temperature=temperature, logprobs=0, masked_share=False)
