"""The layers of a model that share a block table, and the layout of their keys and values in blocks.

Does: divide layers into groups by their windows, all with the same number of places for layers. Does not: assign blocks
(`memory`), or allocate them (`run.kv`).
"""

from dataclasses import dataclass, replace
from typing import Final

from .decoder import AttentionVariant, Decoder

MOST_GROUPS: Final = 8
"""More groups would waste fewer places, but each has a block table to fill in every step."""

CONTEXT: Final = 8
"""The number of windows in the context for which the groups take the least memory."""


@dataclass(frozen=True, slots=True)
class LayerGroups:
    """Groups of layers: `windows` by group, None for all tokens; by layer its group, and its place in a block.

    A block holds keys and values for `depth` layers of one group. Some places of a group may be left empty.
    """

    windows: tuple[int | None, ...]
    group_of: tuple[int, ...]
    place_of: tuple[int, ...]
    depth: int

    @classmethod
    def single(cls, layers: int, window: int | None = None) -> "LayerGroups":
        """One group of all layers, with the window that all of them have, if they do."""
        return cls((window,), (0,) * layers, tuple(range(layers)), layers)

    def last(self, count: int) -> "LayerGroups":
        """The groups of the last `count` layers, each with a place of its own."""
        return replace(
            self, group_of=self.group_of[-count:], place_of=tuple(range(count)), depth=count
        )


def layer_groups(windows: list[int | None]) -> LayerGroups:
    """The groups of layers with these windows, those without a window first."""
    kinds = sorted(set(windows), key=lambda window: (window is not None, window))
    counts = [windows.count(kind) for kind in kinds]
    costs = []
    for depth in range(1, max(counts) + 1):
        groups = [-(-count // depth) for count in counts]
        weights = [CONTEXT if kind is None else 1 for kind in kinds]
        cost = depth * sum([a * b for a, b in zip(groups, weights, strict=True)])
        if sum(groups) <= max(MOST_GROUPS, len(kinds)):
            costs.append((cost, sum(groups), depth))
    depth = min(costs)[2]
    by_group: list[int | None] = []
    of_layer: dict[int, tuple[int, int]] = {}
    for kind, count in zip(kinds, counts, strict=True):
        members = [layer for layer, window in enumerate(windows) if window == kind]
        for at, layer in enumerate(members):
            of_layer[layer] = len(by_group) + at // depth, at % depth
        by_group += [kind] * -(-count // depth)
    placed = [of_layer[layer] for layer in range(len(windows))]
    return LayerGroups(
        tuple(by_group),
        tuple([group for group, _ in placed]),
        tuple([place for _, place in placed]),
        depth,
    )


def decoder_groups(decoder: Decoder) -> LayerGroups:
    """The groups of the layers of a decoder, by the windows of their attention."""
    variants = decoder.variants
    return layer_groups([variants[layer.attention.variant].window for layer in decoder.layers])


def grouped_decoder(decoder: Decoder, groups: LayerGroups) -> Decoder:
    """`decoder`, with a pass of attention for each group and each rotation in it."""
    if len(groups.windows) == 1:
        return decoder
    pairs: list[tuple[int, int]] = []
    layers = []
    for layer, group in zip(decoder.layers, groups.group_of, strict=True):
        pair = layer.attention.variant, group
        if pair not in pairs:
            pairs.append(pair)
        attention = replace(layer.attention, variant=pairs.index(pair))
        layers.append(replace(layer, attention=attention))
    variants = [
        AttentionVariant(decoder.variants[at].rope, decoder.variants[at].window, group)
        for at, group in pairs
    ]
    return replace(decoder, layers=tuple(layers), variants=tuple(variants))
