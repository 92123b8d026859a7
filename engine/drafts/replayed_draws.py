"""Drafts accepted at given rates, to measure the speed of a model with random weights.

Does: draft tokens of the prompt, and substitute a draft for the token sampled at its position as often as its rate
says. So the outputs are not the model's: this is for measurements only. Does not: save any work that real drafts take.
"""

from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

from intaglio.grammar.api import DeviceTables, MaskRows

from ..executor import Executor
from ..plan import Masks, Plan, SampledBatch, SampledToken, Work
from ..sequence import Sequence as EngineSequence
from ..types import Finish
from .source import Guess


def parse_rates(text: str) -> tuple[float, ...]:
    """Rates from 0 to 1, separated by slashes. Raises `ValueError`."""
    rates = tuple(float(rate) for rate in text.split("/"))
    if not all(0 <= rate <= 1 for rate in rates):
        raise ValueError("a rate is from 0 to 1")
    return rates


class ReplaySource:
    """Guesses as many tokens as there are rates: those of the prompt, over and over. Each position is a level."""

    name = "replay"

    def __init__(self, rates: Sequence[float]) -> None:
        self.chances = tuple(rates)

    def guess(self, seq: EngineSequence, most: int, /) -> Guess | None:
        """See `DraftSource`."""
        prompt, count = seq.request.prompt, min(most, len(self.chances))
        tokens = tuple(prompt[(seq.known + at) % len(prompt)] for at in range(count))
        return Guess(tokens, tuple(range(count)))

    def verified(self, seq_id: int, drafted: int, accepted: int, /) -> None:
        """See `DraftSource`."""

    def forget(self, seq: EngineSequence, finish: Finish, /) -> None:
        """See `DraftSource`."""


class ReplayedDraws:
    """An executor that samples the drafts at these rates by position, each if those before it were accepted."""

    def __init__(self, executor: Executor[Any], rates: Sequence[float]) -> None:
        self._executor = executor
        self._rates = tuple(rates)
        self._works: dict[int, Work] = {}

    @property
    def makes_masks(self) -> bool:
        """See `Executor`."""
        return self._executor.makes_masks

    def hold(self, key: str, tables: DeviceTables) -> bool:
        """See `Executor`."""
        return self._executor.hold(key, tables)

    def drop(self, key: str) -> None:
        """See `Executor`."""
        self._executor.drop(key)

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        """See `Executor`."""
        return self._executor.mask_buffer(count, width)

    def forward(self, plan: Plan) -> Any:
        """See `Executor`."""
        self._works = {work.seq_id: work for work in plan.works if work.logits > 1}
        return self._executor.forward(plan)

    def sample(self, handle: Any, masks: Masks) -> None:
        """See `Executor`."""
        self._executor.sample(handle, masks)

    def sampled(self, handle: Any) -> SampledBatch:
        """See `Executor`."""
        samples = self._executor.sampled(handle).samples
        return SampledBatch(tuple(self._replayed(sample) for sample in samples))

    def _replayed(self, sample: SampledToken) -> SampledToken:
        work = self._works.get(sample.seq_id)
        if work is None:
            return sample
        drafts, tokens = work.drafts, list(sample.tokens)
        for at in range(min(len(drafts), len(tokens) - 1, len(self._rates))):
            place = b"%d %d" % (work.seq_id, work.end - len(drafts) + at)
            number = int.from_bytes(blake2b(place, digest_size=4).digest(), "big")
            if number >= self._rates[at] * 2**32:
                break
            tokens[at] = drafts[at]
        return SampledToken(sample.seq_id, tuple(tokens), sample.logprobs, sample.failure)
