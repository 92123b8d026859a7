"""The place of a process among the ranks that compute one model together: a part of every matrix, some layers, or both.

Does: divide sizes and layers into the parts of ranks. Does not: communicate (`communicator`), or know models.
"""

import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import Final

from intaglio.kernels.contracts import WORD_BITS
from torch import Tensor

from .communicator import Communicator

ENDING_S: Final = 10.0

_POWER: Final = 8


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
    """A rank's place and its exchange with the other ranks, the only parts of them that layers see.

    `divided_from`: ranks divide the tokens of steps of at least so many tokens, not the matrices; None: of no step.
    """

    layout: ParallelLayout
    communicator: Communicator
    divided_from: int | None = None


@dataclass(frozen=True, slots=True)
class StageLayout:
    """Place `rank` of `pp` places, the stages, which divide the layers of a model (Huang et al. 2018).

    Place 0, where tokens are sampled, is the last stage; the others follow in order, place 1 with the first layers.
    """

    pp: int
    rank: int

    @property
    def stage(self) -> int:
        """The number of this stage, from 0."""
        return (self.rank - 1) % self.pp

    @property
    def is_first(self) -> bool:
        """Whether this stage looks up the embeddings."""
        return self.stage == 0

    @property
    def is_last(self) -> bool:
        """Whether this stage has the head, and samples."""
        return self.rank == 0

    def layers(self, costs: Sequence[int], head: int = 0) -> range:
        """This stage's layers, at least one, of layers with these costs; `head` is what the last stage has besides."""
        return divided_layers(costs, self.pp, head)[self.stage]


def divided_layers(costs: Sequence[int], pp: int, head: int) -> list[range]:
    """Layers with these `costs`, divided in order among `pp` stages, the last of which costs `head` more.

    The least sum of high powers: no stage costs much more than it must, for a step takes as long as the dearest, and
    the others are even. Of equals, the one with more layers in earlier stages.
    """
    before = [0, *accumulate(costs)]
    total = len(costs)
    # By the first layer of the stages from some stage on: the sum, and where the next stage begins.
    rest = [((before[total] - before[i] + head) ** _POWER, total) for i in range(total)]
    plans = [rest]
    for later in range(1, pp):
        found = []
        for i in range(total - later):
            ends = range(total - later, i, -1)
            found.append(min(((before[j] - before[i]) ** _POWER + rest[j][0], -j) for j in ends))
        rest = [(worth, -j) for worth, j in found]
        plans.append(rest)
    stages, first = [], 0
    for plan in reversed(plans):
        stages.append(range(first, plan[first][1]))
        first = plan[first][1]
    return stages


@dataclass(frozen=True, slots=True)
class PipelineStage:
    """A stage and its exchange with the stages before and after it."""

    layout: StageLayout
    communicator: Communicator

    def receive(self, states: Tensor) -> Tensor:
        """Overwrite `states` [rows, hidden] by the hidden states of the stage before; `states`."""
        return self.communicator.receive(states, (self.layout.rank - 1) % self.layout.pp)

    def send(self, states: Tensor) -> None:
        """Give hidden states to the next stage; see `Communicator.send`. Does not wait for it."""
        self.communicator.send(states, (self.layout.rank + 1) % self.layout.pp)


@dataclass(frozen=True, slots=True)
class Parallel:
    """The place of a process in an engine of several processes.

    `matrices` is None if the matrices are not divided, `stage` if the layers are not.

    With both, each stage is a group of ranks with parts of its matrices. After a layer all of them have the same hidden
    states, so each sends its own to the rank of the next stage with the same part.
    """

    matrices: TensorParallel | None = None
    stage: PipelineStage | None = None

    @property
    def samples(self) -> bool:
        """Whether this process samples tokens: it has the last layers."""
        return self.stage is None or self.stage.layout.is_last

    def least(self, own: Tensor) -> Tensor:
        """The least of `own` [1] of all ranks of the engine: every rank calls this at the same time."""
        for communicator in self._communicators:  # the least of each stage, then that of all stages
            own = communicator.all_gather(own).amin(0)
        return own

    def abort(self, most_s: float = ENDING_S) -> None:
        """End the exchange with all other ranks; see `Communicator`.

        All at once: the work that keeps one of them from ending may itself wait for another one. This waits for
        `most_s` seconds at most: after a start that failed, nothing may release the graphs of an exchange.
        """
        ending = [threading.Thread(target=each.abort, daemon=True) for each in self._communicators]
        for thread in ending:
            thread.start()
        until = time.monotonic() + most_s
        for thread in ending:
            thread.join(max(0.0, until - time.monotonic()))

    @property
    def _communicators(self) -> list[Communicator]:
        return [each.communicator for each in (self.matrices, self.stage) if each is not None]
