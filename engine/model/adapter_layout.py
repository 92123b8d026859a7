"""The places of an adapter's matrices in memory: one vector for all matrices of an adapter of any rank up to a limit.

Does: name the linear layers that adapters may change, with their sizes and their places. Does not: hold tensors.

An adapter adds `up @ down @ x` to the product of a linear layer. Layers that the model fuses, such as query, key and
value, have one `down` each, in consecutive rows, and one `up` of all outputs.
"""

from dataclasses import dataclass
from functools import cached_property

from .expected_tensors import linear_parts
from .spec import ModelSpec

GRAIN = 16
"""Places are multiples of this number of elements, so that wide loads are aligned."""

FUSED = {
    "qkv": ("q", "k", "v"),
    "output": ("output",),
    "gate_up": ("gate", "up"),
    "down": ("down",),
}
"""The products of a layer, and the linear layers that each fuses where a checkpoint holds them apart."""


@dataclass(frozen=True, slots=True)
class AdaptedPart:
    """A linear layer [outputs, inputs] with its name in a checkpoint, and its part in `families`."""

    part: str
    module: str
    outputs: int
    inputs: int


@dataclass(frozen=True, slots=True)
class AdaptedProduct:
    """A product of layer `layer`, of fused `parts`. `down` and `up` are the places of its matrices."""

    layer: int
    name: str
    parts: tuple[AdaptedPart, ...]
    down: int
    up: int

    @property
    def inputs(self) -> int:
        """The inputs of every part."""
        return self.parts[0].inputs

    @property
    def outputs(self) -> int:
        """The outputs of all parts."""
        return sum(part.outputs for part in self.parts)

    @property
    def ends(self) -> tuple[int, ...]:
        """The end of each part among the outputs."""
        sizes = [part.outputs for part in self.parts]
        return tuple(sum(sizes[: i + 1]) for i in range(len(sizes)))


class AdapterLayout:
    """The places for adapters of a model, of ranks up to `rank`. `size` is the number of elements of one adapter."""

    def __init__(self, spec: ModelSpec, rank: int) -> None:
        self.spec = spec
        self.rank = rank
        self.products: list[AdaptedProduct] = []
        at = 0
        for i in range(spec.layers):
            linears = linear_parts(spec, i)
            for name, fused in FUSED.items():
                found = [part for part in (name, *fused) if part in linears]
                if not found:  # the layer is a mixture of experts
                    continue
                parts = tuple(AdaptedPart(part, *linears[part]) for part in dict.fromkeys(found))
                product = AdaptedProduct(i, name, parts, at, 0)
                up = _padded(at + len(parts) * rank * product.inputs)
                self.products.append(AdaptedProduct(i, name, parts, at, up))
                at = _padded(up + product.outputs * rank)
        self.size = at

    @cached_property
    def modules(self) -> dict[str, int]:
        """The names of all linear layers that may be adapted, with their layers."""
        return {part.module: each.layer for each in self.products for part in each.parts}


def _padded(elements: int) -> int:
    return -(-elements // GRAIN) * GRAIN
