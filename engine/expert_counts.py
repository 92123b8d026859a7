"""How many tokens the experts of a model computed.

Does: define the counts, and say how unequal they are. Does not: count (`model.expert_loads`).
"""

from msgspec import Struct


class ExpertCounts(Struct, frozen=True):
    """Tokens by expert, for each of `layers`, the layers that are mixtures of experts.

    `tokens` are counted since the start of the engine, `recent` over its last few hundred steps. Empty where they are
    not counted: for models without experts, on a GPU, and for models that are divided among processes.
    """

    layers: tuple[int, ...] = ()
    tokens: tuple[tuple[int, ...], ...] = ()
    recent: tuple[tuple[int, ...], ...] = ()

    def imbalances(self) -> tuple[float | None, ...]:
        """For each layer, the recent tokens of its busiest expert over the mean of its experts; None without any."""
        return tuple(
            max(layer) * len(layer) / sum(layer) if any(layer) else None for layer in self.recent
        )

    def added(self, other: "ExpertCounts") -> "ExpertCounts":
        """The counts of two engines of the same model together."""
        if self.layers != other.layers:  # one of them has not counted yet
            return self if self.layers else other
        return ExpertCounts(
            self.layers, _sums(self.tokens, other.tokens), _sums(self.recent, other.recent)
        )


Counts = tuple[tuple[int, ...], ...]


def _sums(one: Counts, other: Counts) -> Counts:
    return tuple(
        tuple(a + b for a, b in zip(mine, theirs, strict=True))
        for mine, theirs in zip(one, other, strict=True)
    )


NO_EXPERTS = ExpertCounts()
