"""The drafts of a step: guesses of a source, as many as pay, as far as the grammars allow them.

Does: combine source, chances, costs and grammars; count drafts and learn from those that stood. Does not: change a
sequence, or verify drafts (`pipeline`).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Final, Protocol

from ..grammars.draft_walk import DraftOrigin, LegalDrafts
from ..plan import Changes, Plan
from ..schedule.drafting import DraftCounts
from ..sequence import Sequence as EngineSequence
from .acceptance import AcceptanceRates, Evidence
from .lengths import DraftLengths
from .source import DraftSource, Guess

LONGEST: Final = 16  # tokens of a guess
MOST_FORCED: Final = 16  # forced tokens after them


class Legality(Protocol):
    """The part of `Constraints` that proposals need."""

    def draft(self, seq_id: int, guess: Sequence[int], most: int) -> LegalDrafts:
        """The legal drafts of a guess; see `Constraints.draft`."""
        ...


@dataclass(frozen=True, slots=True)
class _Proposed:
    """The last drafts of a sequence: their origins, and the evidence of those from the guess."""

    origins: tuple[DraftOrigin, ...]
    evidence: tuple[Evidence, ...]


class Proposals:
    """A `Drafter` with one source. Not thread-safe; `counts` may be read from any thread."""

    def __init__(self, source: DraftSource, lengths: DraftLengths, legality: Legality) -> None:
        self._source = source
        self._lengths = lengths
        self._legality = legality
        self._rates = AcceptanceRates()
        self._proposed: dict[int, _Proposed] = {}
        self._drafted: Counter[str] = Counter()
        self._accepted: Counter[str] = Counter()
        self._drafted_at = [0] * (LONGEST + MOST_FORCED)
        self._accepted_at = [0] * (LONGEST + MOST_FORCED)

    @property
    def counts(self) -> DraftCounts:
        """See `Drafter`."""
        return DraftCounts(
            dict(self._drafted),
            dict(self._accepted),
            tuple(self._drafted_at),
            tuple(self._accepted_at),
        )

    def propose(
        self, sequences: Sequence[EngineSequence], room: int
    ) -> Mapping[int, tuple[int, ...]]:
        """See `Drafter`."""
        self._proposed.clear()
        pending = sum([seq.pending for seq in sequences])
        if room <= 0 or not sequences or not self._lengths.may_pay(len(sequences), pending):
            return {}
        guesses: dict[int, Guess] = {}
        chances: dict[int, list[float]] = {}
        most_of: dict[int, int] = {}
        for seq in sequences:
            most = seq.most_computed - seq.known
            guess = self._source.guess(seq.id, seq.tokens, min(most, LONGEST)) if most > 0 else None
            if guess is not None and guess.tokens:
                guesses[seq.id], most_of[seq.id] = guess, most
                one_by_one = [self._rates.chance(seq.id, seen) for seen in _evidence(guess)]
                chances[seq.id] = list(accumulate(one_by_one, mul))
        lengths = self._lengths.chosen(len(sequences), pending, chances, room)
        drafts: dict[int, tuple[int, ...]] = {}
        for seq_id, length in lengths.items():
            most = min(most_of[seq_id], room, length + MOST_FORCED)
            legal = self._legality.draft(seq_id, guesses[seq_id].tokens[:length], most)
            if legal.tokens:
                drafts[seq_id] = legal.tokens
                room -= len(legal.tokens)
                self._proposed[seq_id] = _Proposed(legal.origins, _evidence(guesses[seq_id]))
        return drafts

    def record(self, plan: Plan, stood: Mapping[int, int]) -> None:
        """Record that of the drafts of `plan` the first `stood` ones of each sequence stood; none where missing."""
        for work in plan.works:
            count = len(work.drafts)
            proposed = self._proposed.get(work.seq_id)
            if not count or proposed is None:
                continue
            accepted = stood.get(work.seq_id, 0)
            origins = proposed.origins[:count]
            for at, origin in enumerate(origins):
                source = self._source.name if origin is DraftOrigin.GUESS else origin.value
                self._drafted[source] += 1
                self._accepted[source] += at < accepted
                self._drafted_at[at] += 1
                self._accepted_at[at] += at < accepted
            guessed = origins.count(DraftOrigin.GUESS)
            stood_of_guess = origins[:accepted].count(DraftOrigin.GUESS)
            self._rates.record(work.seq_id, proposed.evidence[:guessed], stood_of_guess)

    def forget(self, changes: Changes) -> None:
        """Drop what is kept about sequences that ended."""
        for change in changes.items:
            if change.finish is not None:
                self._source.forget(change.seq_id)
                self._rates.forget(change.seq_id)


def _evidence(guess: Guess) -> tuple[Evidence, ...]:
    """The evidence of each token of a guess. After the first one, only places with that token are left."""
    return tuple(
        Evidence(guess.matched + at, guess.unanimous or at > 0) for at in range(len(guess.tokens))
    )
