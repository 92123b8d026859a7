"""The number of drafts of each sequence of a step, by their chances and by what a step of that size costs.

Does: choose the numbers that give the most tokens per second; none where that is hardly more than without drafts. Does
not: measure costs (`step_costs`) or chances (`acceptance`).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from ..plan import StepCosts

GAIN = 1.1
"""The least ratio of expected tokens per second with drafts to those without. The costs are not known more exactly, and
the work of the host for drafts is not among them."""

_BEST = 0.9  # the chance of the best drafts, for the decision whether to look for any


class DraftLengths:
    """Draft lengths for a device on which steps have these costs."""

    def __init__(self, costs: StepCosts) -> None:
        sizes, seconds = zip(*costs.seconds, strict=True)
        self._sizes = np.array(sizes, float)
        # A larger step that was measured as faster was measured in a quieter moment.
        self._seconds = np.maximum.accumulate(np.array(seconds, float))
        at = len(sizes) // 2
        run = self._sizes[-1] - self._sizes[at]
        self._slope = float((self._seconds[-1] - self._seconds[at]) / run) if run else 0.0
        self._may_pay: dict[tuple[int, int], bool] = {}

    def seconds(self, tokens: int) -> float:
        """The cost of a step of `tokens` tokens: interpolated, or extrapolated by the slope of the larger half."""
        beyond = max(0.0, tokens - self._sizes[-1])
        return float(np.interp(tokens, self._sizes, self._seconds) + beyond * self._slope)

    def may_pay(self, sequences: int, tokens: int) -> bool:
        """Whether the best possible drafts would pay in a step of so many sequences and tokens."""
        key = sequences, tokens
        found = self._may_pay.get(key)
        if found is None:
            if len(self._may_pay) > 4096:
                self._may_pay.clear()
            best = {number: [_BEST**at for at in range(1, 9)] for number in range(sequences)}
            found = self._may_pay[key] = bool(self.chosen(sequences, tokens, best, 8 * sequences))
        return found

    def chosen(
        self, sequences: int, tokens: int, chances: Mapping[int, Sequence[float]], room: int
    ) -> dict[int, int]:
        """The number of drafts by sequence, at most `room` in total; empty where drafts do not pay.

        `sequences` get a token in this step and compute `tokens` tokens without drafts. `chances`, by sequence: the
        chance of each draft that it stands together with all drafts before it.
        """
        drafts = sorted(
            ((chance, seq_id) for seq_id, falling in chances.items() for chance in falling),
            key=lambda draft: -draft[0],
        )[:room]
        if not drafts or not sequences:
            return {}
        gained = sequences + np.cumsum([chance for chance, _ in drafts])
        sizes = tokens + np.arange(1, len(drafts) + 1)
        beyond = np.maximum(0.0, sizes - self._sizes[-1]) * self._slope
        rates = gained / (np.interp(sizes, self._sizes, self._seconds) + beyond)
        best = int(np.argmax(rates))
        if rates[best] < GAIN * sequences / self.seconds(tokens):
            return {}
        found: dict[int, int] = {}
        for _, seq_id in drafts[: best + 1]:
            found[seq_id] = found.get(seq_id, 0) + 1
        return found
