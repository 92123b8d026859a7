"""Drafts copied from earlier answers under the same constraint, as in the rows of a job.

Does: keep the last complete answers of each constraint and tenant within a bound, and find in them what followed the
last tokens of an output. Does not: share answers between tenants (`Request.cache_salt`), or keep them over a restart.
"""

from collections import OrderedDict, deque
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

import numpy as np
from intaglio.grammar.api import Constraint

from ..sequence import Sequence as EngineSequence
from ..types import Finish
from .match import Tokens, chances_by_level, levels, longest_match
from .source import Guess

ANSWERS: Final = 16  # of one constraint
MOST_TOKENS: Final = 1 << 20  # of all answers: 4 MiB
SEPARATOR: Final = -1  # not a token: no match and no guess crosses the end of an answer


class _Kind(NamedTuple):
    """The key under which answers are kept together: the tenant, and the constraint without its document."""

    salt: str
    constraint: Constraint


@dataclass(slots=True)
class _Answers:
    """The last answers of a kind, newest last; `text` is all of them, each with a separator after it."""

    answers: deque[Tokens] = field(default_factory=deque)
    text: Tokens = field(default_factory=lambda: np.zeros(0, np.int32))


class RowsSource:
    """Guesses that an answer repeats parts of earlier ones. Holds `most_tokens` tokens at most."""

    name = "rows"
    chances = chances_by_level(
        divided=(0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.4),
        unanimous=(0.3, 0.35, 0.4, 0.45, 0.5, 0.55, 0.6, 0.65),
    )

    def __init__(self, most_tokens: int = MOST_TOKENS) -> None:
        self._most_tokens = most_tokens
        self._answers: OrderedDict[_Kind, _Answers] = OrderedDict()  # least recently used first
        self._kinds: dict[int, _Kind] = {}
        self._tokens = 0

    @property
    def tokens(self) -> int:
        """The tokens held, separators included."""
        return self._tokens

    def guess(self, seq: EngineSequence, most: int, /) -> Guess | None:
        """See `DraftSource`. Of several continuations the most frequent is taken, of its places the latest."""
        kind = self._kind(seq)
        found = None if kind is None else self._answers.get(kind)
        if kind is None or found is None:
            return None
        self._answers.move_to_end(kind)
        begin = max(len(seq.request.prompt), len(seq.tokens) - 16)
        places, matched = longest_match(np.array(seq.tokens[begin:], np.int32), found.text)
        if not matched:
            return None
        followers, counts = np.unique(found.text[places + 1], return_counts=True)
        best = followers[int(np.argmax(counts))]
        at = int(places[found.text[places + 1] == best][-1]) + 1
        tokens = found.text[at : at + most].tolist()
        if SEPARATOR in tokens:
            del tokens[tokens.index(SEPARATOR) :]
        return Guess(tuple(tokens), levels(matched, len(tokens), unanimous=followers.size == 1))

    def verified(self, seq_id: int, drafted: int, accepted: int, /) -> None:
        """See `DraftSource`."""

    def forget(self, seq: EngineSequence, finish: Finish, /) -> None:
        """See `DraftSource`. A complete answer is kept."""
        kind = self._kind(seq)
        self._kinds.pop(seq.id, None)
        answer = np.array([*seq.tokens[len(seq.request.prompt) :], SEPARATOR], np.int32)
        if kind is None or finish is not Finish.STOP or answer.size > self._most_tokens // ANSWERS:
            return
        found = self._answers.setdefault(kind, _Answers())
        self._answers.move_to_end(kind)
        found.answers.append(answer)
        self._tokens += answer.size
        if len(found.answers) > ANSWERS:
            self._tokens -= found.answers.popleft().size
        found.text = np.concatenate(found.answers)
        while self._tokens > self._most_tokens:
            _, oldest = self._answers.popitem(last=False)
            self._tokens -= oldest.text.size

    def _kind(self, seq: EngineSequence) -> _Kind | None:
        """The kind of a sequence's answer; None without a constraint."""
        constraint = seq.request.constraint
        if constraint is None:
            return None
        kind = self._kinds.get(seq.id)
        if kind is None:
            kind = _Kind(seq.request.cache_salt, replace(constraint, document=None))
            self._kinds[seq.id] = kind
        return kind
