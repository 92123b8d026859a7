"""Divides the running sequences among the steps in flight of an engine in pipeline stages.

Does: leave out sequences with a token in flight, and divide the others among the steps. Does not: run steps
(`staged_pipeline`).
"""

from collections.abc import Iterable

from ..sequence import Sequence, awaits_token
from .batch_sizing import BatchSizer


class StageTurns(BatchSizer):
    """Divides the running sequences among `batches` steps, best first. See `BatchSizer`."""

    def __init__(self, batches: int) -> None:
        super().__init__()
        self._batches = batches

    def held(self, sequences: Iterable[Sequence]) -> frozenset[Sequence]:
        """See `BatchSizer`: those with a token in flight."""
        return frozenset([seq for seq in sequences if awaits_token(seq)])

    def of(self, running: Iterable[Sequence]) -> list[Sequence]:
        """See `BatchSizer`: an equal share, so that no stage waits for a step that is larger than the others."""
        candidates = list(running)
        share = -(-len(candidates) // self._batches)
        return [seq for seq in candidates if not awaits_token(seq)][:share]
