"""The sizes of a model that decide on how many ranks it can run.

Does: read the sizes of a checkpoint, and say into how many parts it can be divided. Does not: choose a layout.
"""

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ..errors import ConfigError
from ..parallel.parallel_config import MOST_RANKS
from .parallel_gain import EXCHANGES_A_LAYER, GPUS, OTHER_EXCHANGES

if TYPE_CHECKING:
    from ..model.spec import ModelSpec


@dataclass(frozen=True, slots=True, kw_only=True)
class ParallelShape:
    """The layers and the hidden size of a model, and the numbers of ranks among which it can be divided, 1 included.

    `stages`: the most stages into which its layers can be divided.
    """

    layers: int
    hidden: int
    divisors: tuple[int, ...]
    stages: int = 1

    def exchange_s(self, tokens: float, tp: int, element_bytes: int = 2) -> float:
        """Seconds that `tp` GPUs of one host need for the exchanges of a step of `tokens` tokens; 0 for one."""
        if tp == 1:
            return 0.0
        count = EXCHANGES_A_LAYER * self.layers + OTHER_EXCHANGES
        return count * GPUS.exchange(tokens * self.hidden * element_bytes)


def parallel_shape(folder: Path, most: int) -> ParallelShape:
    """The shape of the model in a folder, for up to `most` ranks; its weights are not read.

    Raises:
        ModelError: the folder has no checkpoint of a supported model.
    """
    # Not above: they import torch, and a process that serves an API does without.
    from ..model.sharded_weights import refuse_indivisible
    from ..model.spec import read_spec
    from ..model.staged_layers import refuse_unstageable

    spec = read_spec(folder)

    def fitting(refuse: Callable[["ModelSpec", int], None], most: int) -> tuple[int, ...]:
        found = [1]
        for count in range(2, most + 1):
            with suppress(ConfigError):
                refuse(spec, count)
                found.append(count)
        return tuple(found)

    divisors = fitting(refuse_indivisible, most)
    stages = fitting(refuse_unstageable, MOST_RANKS)[-1]
    return ParallelShape(layers=spec.layers, hidden=spec.hidden, divisors=divisors, stages=stages)
