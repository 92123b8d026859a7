"""The number of drafts of each sequence in a step, from their acceptance rates and the cost of a step.

Does: choose the numbers that give the most tokens per second; none where that is hardly more than without drafts. Does
not: measure costs (`step_seconds`) or chances (`acceptance`).
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

GAIN: Final = 1.1
"""The least ratio of expected tokens per second with drafts to those without.

The costs are known to no better precision, and exclude the work of the host for drafts.
"""

_BEST: Final = 0.9  # the acceptance rate assumed by `may_pay`


class DraftLengths:
    """Draft lengths for an engine.

    `seconds`: the cost of a step by its tokens, a line that may change at any time. `plain`: likewise the cost of a
    step without drafts, where the engine computes such steps in another order; by default `seconds`.
    """

    def __init__(
        self, seconds: Callable[[float], float], plain: Callable[[float], float] | None = None
    ) -> None:
        self.seconds = seconds
        self._plain = plain or seconds

    def may_pay(self, sequences: int, tokens: int) -> bool:
        """Whether the best possible drafts would pay in a step with this number of sequences and tokens."""
        falling = [_BEST**at for at in range(1, 9) for _ in range(sequences)]
        return bool(self._count(sequences, tokens, falling))

    def chosen(
        self, sequences: int, tokens: int, chances: Mapping[int, Sequence[float]], room: int
    ) -> dict[int, int]:
        """The number of drafts by sequence, at most `room` in total; empty where drafts do not pay.

        `sequences` get a token in this step and compute `tokens` tokens without drafts. `chances`, by sequence: the
        chance that each draft and all drafts before it are accepted.
        """
        drafts = sorted(
            ((chance, seq_id) for seq_id, falling in chances.items() for chance in falling),
            key=lambda draft: -draft[0],
        )[:room]
        if not drafts or not sequences:
            return {}
        count = self._count(sequences, tokens, [chance for chance, _ in drafts])
        found: dict[int, int] = {}
        for _, seq_id in drafts[:count]:
            found[seq_id] = found.get(seq_id, 0) + 1
        return found

    def _count(self, sequences: int, tokens: int, falling: Sequence[float]) -> int:
        """The number of leading drafts with these chances that gives the most tokens per second.

        Along a line of costs the rate rises while a draft gains more than it costs, and then falls: its maximum is
        found without looking at all drafts.
        """
        plain, rate = sequences / self._plain(tokens), sequences / self.seconds(tokens)
        gained = float(sequences)
        count = 0
        for chance in falling:
            gained += chance
            longer = gained / self.seconds(tokens + count + 1)
            if longer <= rate:
                break
            count, rate = count + 1, longer
        return count if rate >= GAIN * plain else 0
