"""The place of a process among the ranks that compute one model together.

Does: divide sizes into the parts of ranks. Does not: communicate (`communicator`), or know models.
"""

from dataclasses import dataclass

from intaglio.kernels.contracts import WORD_BITS

from .communicator import Communicator


@dataclass(frozen=True, slots=True)
class ParallelLayout:
    """Rank `rank` of `tp` ranks, which divide every matrix of a model (Shoeybi et al. 2019)."""

    tp: int
    rank: int

    def part(self, total: int) -> slice:
        """This rank's part of `total` elements, a multiple of `tp`."""
        size = total // self.tp
        return slice(self.rank * size, (self.rank + 1) * size)

    def shared_part(self, total: int) -> slice:
        """This rank's part of `total` elements; where there are fewer than ranks, several ranks share one."""
        if total >= self.tp:
            return self.part(total)
        first = self.rank * total // self.tp
        return slice(first, first + 1)

    def tokens(self, vocab: int) -> slice:
        """This rank's part of a vocabulary of `vocab` tokens: whole words of masks, on the last ranks fewer or none."""
        words = -(-vocab // (self.tp * WORD_BITS))
        first, last = (min(rank * words * WORD_BITS, vocab) for rank in (self.rank, self.rank + 1))
        return slice(first, last)

    def most_tokens(self, vocab: int) -> int:
        """The tokens of the largest part of a vocabulary, which is that of the first rank."""
        return int(ParallelLayout(self.tp, 0).tokens(vocab).stop)


@dataclass(frozen=True, slots=True)
class TensorParallel:
    """A rank's place and its exchange with the other ranks, the only parts of them that layers see."""

    layout: ParallelLayout
    communicator: Communicator
