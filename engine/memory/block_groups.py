"""The block groups of a model: the blocks of a sequence that the layers of each group need.

Does: compute which blocks may still be read behind a sliding window, and how many blocks a sequence needs. Does not:
own blocks (`pool`), or know layers (`model.layer_groups`).
"""

from bisect import bisect_right
from dataclasses import dataclass
from typing import Final

UNBOUNDED: Final = 2**31 - 1
"""The tokens that fit where every layer has a window."""


@dataclass(frozen=True, slots=True)
class BlockGroups:
    """Groups of layers, each with a block table of its own. A block holds `block_size` tokens for one group.

    `windows`: the keys that a token sees in the layers of each group, its own included; None for all before it. A
    sequence computes at most `most_step` tokens in a step.
    """

    block_size: int
    windows: tuple[int | None, ...] = (None,)
    most_step: int = 1

    @property
    def count(self) -> int:
        """The number of groups."""
        return len(self.windows)

    def begin(self, group: int, computed: int) -> int:
        """The first block of a sequence that steps after `computed` tokens may read.

        The last computed token may be computed once more (`Sequence.sample_again`), so its keys count as well.
        """
        window = self.windows[group]
        return 0 if window is None else max(0, computed - window) // self.block_size

    def end(self, group: int, tokens: int, begin: int = 0) -> int:
        """The block after the last one that is reserved for `tokens` tokens, if blocks before `begin` are free.

        Behind a window, only the blocks of a window and a step are reserved; each that is freed makes room for another.
        """
        end, window = self._blocks(tokens), self.windows[group]
        return end if window is None else min(end, begin + self._span(window))

    def needed(self, tokens: int) -> int:
        """The most blocks, in all groups, that a sequence of `tokens` tokens has at any time."""
        return sum([self.end(group, tokens) for group in range(self.count)])

    def capacity(self, blocks: int) -> int:
        """The most tokens of a sequence that `blocks` blocks are enough for."""
        if self.needed(UNBOUNDED) <= blocks:
            return UNBOUNDED
        size = self.block_size
        return size * (
            bisect_right(range(blocks + 1), blocks, key=lambda n: self.needed(n * size)) - 1
        )

    def growth_room(self, blocks: int, tokens: int) -> int:
        """About how many tokens running sequences may grow by in `blocks` blocks, once a sequence of `tokens` started.

        It is negative where that sequence does not fit. Groups with a window that is full grow no more.
        """
        left, growing = blocks * self.block_size, 0
        for window in self.windows:
            span = tokens if window is None else self._span(window) * self.block_size
            left -= min(tokens, span)
            growing += window is None or window > tokens
        return left // max(1, growing)

    def _span(self, window: int) -> int:
        """The most blocks from the first key that a step sees to the last one that it computes."""
        return self._blocks(window + self.most_step) + 1

    def _blocks(self, tokens: int) -> int:
        return -(-tokens // self.block_size)
