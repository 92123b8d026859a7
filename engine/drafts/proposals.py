"""The drafts of a step: the best guesses of the sources, cut to what the grammars allow and what pays.

Does: choose the best guess of each sequence, combine chances, costs and grammars; count drafts and learn from the
accepted ones. Does not: change a sequence, or verify drafts (`pipeline`).
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from operator import mul
from typing import Final, NamedTuple, Protocol

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

    def can_draft(self, seq_id: int) -> bool:
        """Whether `draft` may find drafts for a sequence; see `Constraints.can_draft`."""
        ...

    def draft(self, seq_id: int, guess: Sequence[int], most: int) -> LegalDrafts:
        """The legal drafts of a guess; see `Constraints.draft`."""
        ...


class _Best(NamedTuple):
    """The guess of a sequence that is likely to gain most.

    `falling`: for each token, the chance that all tokens up to it are accepted.
    """

    source: DraftSource
    guess: Guess
    most: int
    falling: list[float]


@dataclass(frozen=True, slots=True)
class _Proposed:
    """The last drafts of a sequence: their source, their origins, and the evidence of those from the guess."""

    source: DraftSource
    origins: tuple[DraftOrigin, ...]
    evidence: tuple[Evidence, ...]


class Proposals:
    """A `Drafter` over `sources`, in the order in which equal guesses are preferred.

    Steps of more than `most_sequences` sequences have no drafts. Not thread-safe; `counts` may be read from any thread.
    """

    def __init__(
        self,
        sources: Sequence[DraftSource],
        lengths: DraftLengths,
        legality: Legality,
        most_sequences: int = sys.maxsize,
    ) -> None:
        self._most_sequences = most_sequences
        self._sources = tuple(sources)
        self._lengths = lengths
        self._legality = legality
        self._rates = AcceptanceRates({source.name: source.chances for source in sources})
        self._sequences: dict[int, EngineSequence] = {}
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
        self, sequences: Sequence[EngineSequence], room_left: Callable[[], int]
    ) -> Mapping[int, tuple[int, ...]]:
        """See `Drafter`."""
        self._proposed.clear()
        self._sequences.update((seq.id, seq) for seq in sequences)
        pending = sum([seq.pending for seq in sequences])
        if not self._may_pay(sequences, pending) or _any_unread(sequences):
            return {}
        room = room_left()
        if room <= 0:
            return {}
        best = {seq.id: found for seq in sequences if (found := self._best(seq)) is not None}
        chances = {seq_id: found.falling for seq_id, found in best.items()}
        lengths = self._lengths.chosen(len(sequences), pending, chances, room)
        drafts: dict[int, tuple[int, ...]] = {}
        for seq_id, length in lengths.items():
            found = best[seq_id]
            most = min(found.most, room, length + MOST_FORCED)
            legal = self._legality.draft(seq_id, found.guess.tokens[:length], most)
            if legal.tokens:
                drafts[seq_id] = legal.tokens
                room -= len(legal.tokens)
                evidence = tuple(_evidence(found.source, found.guess))
                self._proposed[seq_id] = _Proposed(found.source, legal.origins, evidence)
        return drafts

    def awaits_tokens(self, sequences: Sequence[EngineSequence]) -> bool:
        """See `Drafter`. The first token of a guess is in flight: the drafts would be those after it."""
        count = len(sequences)
        if not self._may_pay(sequences, count) or not _any_unread(sequences):
            return False
        chances = {
            seq.id: best.falling[1:]
            for seq in sequences
            if self._legality.can_draft(seq.id) and (best := self._best(seq)) is not None
        }
        return bool(self._lengths.chosen(count, count, chances, count * LONGEST))

    def record(self, plan: Plan, accepted: Mapping[int, int]) -> None:
        """Record how many leading drafts of each sequence in `plan` were accepted; a missing sequence has none."""
        for work in plan.works:
            count = len(work.drafts)
            proposed = self._proposed.get(work.seq_id)
            if not count or proposed is None:
                continue
            leading = accepted.get(work.seq_id, 0)
            origins = proposed.origins[:count]
            for at, origin in enumerate(origins):
                source = proposed.source.name if origin is DraftOrigin.GUESS else origin.value
                self._drafted[source] += 1
                self._accepted[source] += at < leading
                self._drafted_at[at] += 1
                self._accepted_at[at] += at < leading
            # Up to the last draft of the guess, drafts and guess are the same tokens.
            guessed = [at for at, origin in enumerate(origins) if origin is DraftOrigin.GUESS]
            accepted_guesses = sum(at < leading for at in guessed)
            evidence = [proposed.evidence[at] for at in guessed]
            self._rates.record(work.seq_id, evidence, accepted_guesses)
            proposed.source.verified(work.seq_id, len(guessed), accepted_guesses)

    def forget(self, changes: Changes) -> None:
        """Drop the records of sequences that ended."""
        for change in changes.items:
            if change.finish is None:
                continue
            seq = self._sequences.pop(change.seq_id, None)
            if seq is not None:
                for source in self._sources:
                    source.forget(seq, change.finish)
                self._rates.forget(seq.id)

    def _may_pay(self, sequences: Sequence[EngineSequence], tokens: int) -> bool:
        count = len(sequences)
        return 0 < count <= self._most_sequences and self._lengths.may_pay(count, tokens)

    def _best(self, seq: EngineSequence) -> _Best | None:
        """The guess that is likely to gain most; None where no source has one."""
        most = seq.most_computed - seq.known
        best, gain = None, 0.0
        for source in self._sources if most > 0 else ():
            guess = source.guess(seq, min(most, LONGEST))
            if guess is None:
                continue
            one_by_one = [self._rates.chance(seq.id, seen) for seen in _evidence(source, guess)]
            falling = list(accumulate(one_by_one, mul))
            if sum(falling) > gain:
                best, gain = _Best(source, guess, most, falling), sum(falling)
        return best


def _any_unread(sequences: Sequence[EngineSequence]) -> bool:
    """Whether the next token of one of them is sampled and not read yet: its last known token is computed."""
    return any(seq.computed >= seq.known for seq in sequences)


def _evidence(source: DraftSource, guess: Guess) -> Iterable[Evidence]:
    """The evidence of each token of a guess."""
    return (Evidence(source.name, level) for level in guess.levels)
