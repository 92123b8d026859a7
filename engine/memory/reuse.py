"""The reuse rate of evicted KV blocks: the share that later prompts need again.

Does: count evicted blocks and those that are asked for afterwards, also where their contents were dropped. Does not:
hold contents, or decide which are kept (`swap.TransferRule`).
"""

from collections import OrderedDict
from collections.abc import Iterable
from typing import Final

from .page_key import Chain

_PRIOR: Final = 0.25  # of the horizon: so many blocks count as evicted and needed again, so that new tiers are tried


class ReuseRate:
    """A moving share over the last evictions, about `horizon` of them.

    As many chains of dropped contents are remembered as a tier of `horizon` blocks would hold contents: the "ghosts" of
    the ARC cache policy (Megiddo and Modha, FAST 2003).
    """

    def __init__(self, horizon: int) -> None:
        self._horizon = max(1, horizon)
        self._ghosts: OrderedDict[Chain, None] = OrderedDict()
        self._evicted = 0.0
        self._returned = 0.0

    @property
    def share(self) -> float:
        """Between 0 and 1; 1 at first."""
        prior = _PRIOR * self._horizon
        return min(1.0, (self._returned + prior) / (self._evicted + prior))

    def evicted(self, count: int) -> None:
        """Count evicted blocks, kept or not."""
        fading = (1 - 1 / self._horizon) ** count
        self._evicted = self._evicted * fading + count
        self._returned *= fading

    def dropped(self, chains: Iterable[Chain]) -> None:
        """Remember the chains of evicted blocks that were not kept."""
        for chain in chains:
            self._ghosts[chain] = None
            self._ghosts.move_to_end(chain)
        while len(self._ghosts) > self._horizon:
            self._ghosts.popitem(last=False)

    def returned(self, count: int) -> None:
        """Count blocks with contents that were fetched."""
        self._returned += count

    def missed(self, chains: Iterable[Chain]) -> None:
        """Count those `chains` of a prompt as needed again that were dropped, up to the first that was not."""
        for chain in chains:
            if chain not in self._ghosts:
                return
            del self._ghosts[chain]
            self._returned += 1
