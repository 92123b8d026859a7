"""The base of schemes that store matrices in codes with scales.

Does: make weights and dense matrices of what a format decodes. Does not: decode (`gptq`, `awq`, `compressed_tensors`,
`fp8`).
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from intaglio.kernels.codes import Codes
from intaglio.kernels.contracts import Kernels, Weight
from torch import Tensor

from .quantization_settings import is_named
from .scheme import Dense, Part, Scheme, Stored
from .stored_codes import codes_weight


class Coded(ABC):
    """A scheme of a quantised checkpoint. See `Scheme`."""

    @abstractmethod
    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`."""

    @abstractmethod
    def codes(self, part: Part) -> Codes:
        """The matrix of a part of the checkpoint.

        Raises:
            ModelError: a tensor holds values that the format does not allow.
        """

    def weight(self, parts: Sequence[Part], bias: Tensor | None, kernels: Kernels) -> Weight:
        """See `Scheme`."""
        return codes_weight([self.codes(part) for part in parts], bias, kernels, parts[0].dtype)

    def dense(self, part: Part) -> Tensor:
        """See `Scheme`."""
        return self.codes(part).dense(part.dtype)


@dataclass(frozen=True, slots=True)
class Sparing:
    """A scheme for all matrices but those in a list of modules, which are unquantised. See `Schemes`."""

    scheme: Scheme
    spared: tuple[str, ...] = ()

    def of(self, name: str) -> Scheme:
        """See `Schemes`."""
        return Dense() if is_named(name, self.spared) else self.scheme


def groups_of(inputs: int, group_size: int) -> int:
    """The number of groups of `group_size` inputs; the last may be shorter."""
    return -(-inputs // group_size)
