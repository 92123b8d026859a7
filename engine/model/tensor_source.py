"""The interface to the tensors of a checkpoint, from files, drawn at random, or cut to the part of one rank.

Does: state the protocol, and cut pieces of tensors that are in memory. Does not: hold an implementation (`weights`,
`sharded_weights`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import torch
from torch import Tensor


@dataclass(frozen=True, slots=True)
class TensorCut:
    """The part of the tensor of this name with these rows, of the first dimension, and columns; None for all."""

    name: str
    rows: slice | None = None
    columns: slice | None = None

    def of(self, tensor: Tensor) -> Tensor:
        """This part of the whole `tensor`, in its memory."""
        found = tensor if self.rows is None else tensor[self.rows]
        return found if self.columns is None else found[:, self.columns]


class TensorSource(Protocol):
    """Tensors by their names in a checkpoint, on the device, in the dtype of `Stored`; that of the model is `dtype`."""

    @property
    def dtype(self) -> torch.dtype: ...

    def has(self, name: str) -> bool:
        """Whether there is a tensor of this name."""
        ...

    def tensor(self, name: str) -> Tensor:
        """The tensor of this name, owned by the caller."""
        ...

    def joined(self, pieces: Sequence[TensorCut]) -> Tensor:
        """The pieces, in the dtype of the first, concatenated along the rows, contiguous and owned by the caller.

        Its values may come later, until `settle` returns.
        """
        ...

    def settle(self) -> None:
        """Return when the values of all `joined` pieces are there. Raises `ModelError` if they cannot be read."""
        ...


class WholeTensors(TensorSource, Protocol):
    """The tensors of a checkpoint as it holds them."""

    def shape(self, name: str) -> tuple[int, ...]:
        """The shape of the tensor of this name."""
        ...

    def expect(self, names: Sequence[str]) -> None:
        """Begin to read tensors that `tensor` will be asked for, as many as memory is set apart for."""
        ...


def joined_tensors(source: TensorSource, pieces: Sequence[TensorCut]) -> Tensor:
    """What `TensorSource.joined` gives, of tensors that are read whole."""
    if len(pieces) == 1 and pieces[0] == TensorCut(pieces[0].name):
        return source.tensor(pieces[0].name)
    return torch.cat([piece.of(source.tensor(piece.name)) for piece in pieces])
