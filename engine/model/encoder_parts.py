"""The steps in which encoders of images differ by family, and the products that all of them make.

Does: define the protocol, multiply by the weights of a checkpoint. Does not: know a family's steps (`windowed_parts`,
`deepstack_parts`), or attention, which is the same in all (`vision_encoder`).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from torch import Tensor
from torch.nn.functional import linear

from .vision_layout import PatchLayout


@dataclass(frozen=True, slots=True)
class EncoderWeights:
    """The tensors of an encoder, by their names in a checkpoint without the prefix of the encoder."""

    tensors: Mapping[str, Tensor]

    def linear(self, name: str, x: Tensor) -> Tensor:
        """`x` [N, inputs] times a matrix, plus its bias: [N, outputs]."""
        return linear(x, self.tensors[name + ".weight"], self.tensors[name + ".bias"])


class EncoderParts(Protocol):
    """The steps of one family's encoder. `at` is the beginning of the names of a layer's tensors."""

    def embed(self, patches: Tensor, layout: PatchLayout) -> Tensor:
        """The states [P, hidden] before the first layer, of the numbers [P, values] of patches."""
        ...

    def norm(self, name: str, x: Tensor) -> Tensor:
        """`x` [P, hidden], normalised with the weights of this name."""
        ...

    def mlp(self, at: str, x: Tensor) -> Tensor:
        """The output [P, hidden] of a layer's MLP."""
        ...

    def merged(self, x: Tensor, level: int) -> Tensor:
        """The states [cells, output] of the language half: level 0 of the last layer, the others of the deep ones."""
        ...


def with_biases(linears: Mapping[str, tuple[int, int]]) -> dict[str, tuple[int, ...]]:
    """The shapes of the tensors of linear layers with these outputs and inputs."""
    shapes: dict[str, tuple[int, ...]] = {}
    for name, shape in linears.items():
        shapes |= {f"{name}.weight": shape, f"{name}.bias": shape[:1]}
    return shapes
