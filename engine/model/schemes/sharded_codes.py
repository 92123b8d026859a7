"""The part of a quantised matrix that one rank keeps: codes are decoded whole, then cut.

Does: cut codes with their scales by outputs or by whole groups of inputs. Does not: know which part a rank keeps, or
the formats of files.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import torch
from intaglio.kernels.codes import Codes
from torch import Tensor

from ...errors import ModelError
from .coded import Coded
from .scheme import Part, Stored


@dataclass(frozen=True, slots=True)
class CodesCut:
    """The outputs or the inputs of a matrix that a rank keeps; None for all. Outputs may be several slices."""

    outputs: Sequence[slice] | None
    inputs: slice | None


@dataclass(frozen=True, slots=True)
class ShardedCodes(Coded):
    """The codes of `whole`, cut to one rank's part. See `Scheme`.

    `cut` gives the part of a matrix by its name, outputs and inputs.
    """

    whole: Coded
    cut: Callable[[str, int, int], CodesCut]

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`: a checkpoint holds whole matrices."""
        return self.whole.tensors(outputs, inputs)

    def codes(self, part: Part) -> Codes:
        """See `Coded`.

        Raises:
            ModelError: the inputs that are kept begin or end within a group, or the checkpoint orders its inputs.
        """
        codes = self.whole.codes(part)
        cut = self.cut(part.name, *codes.values.shape)
        if cut.outputs is not None:
            return _of_outputs(codes, cut.outputs)
        return codes if cut.inputs is None else _of_inputs(codes, cut.inputs, part.name)


def _of_outputs(codes: Codes, kept: Sequence[slice]) -> Codes:
    def rows(tensor: Tensor) -> Tensor:
        return torch.cat([tensor[piece] for piece in kept])

    zeros = None if codes.zeros is None else rows(codes.zeros)
    return replace(codes, values=rows(codes.values), scales=rows(codes.scales), zeros=zeros)


def _of_inputs(codes: Codes, kept: slice, name: str) -> Codes:
    if codes.order is not None:
        raise ModelError(
            f"the inputs of {name} are ordered by activation, which cannot be divided among ranks",
            where="tp",
            hint="set tp to 1, or use a checkpoint without desc_act",
        )
    size = codes.group_size
    inputs = codes.values.shape[1]
    values = codes.values[:, kept].contiguous()
    if codes.scales.shape[1] == 1:
        return replace(codes, values=values, group_size=min(size, values.shape[1]))
    if kept.start % size or (kept.stop % size and kept.stop != inputs):
        raise ModelError(
            f"{kept.stop - kept.start} inputs of {name} are not whole groups of {size}",
            where="tp",
            hint="lower tp, or use a checkpoint with smaller groups",
        )
    groups = slice(kept.start // size, -(-kept.stop // size))
    zeros = None if codes.zeros is None else codes.zeros[:, groups].contiguous()
    return replace(codes, values=values, scales=codes.scales[:, groups].contiguous(), zeros=zeros)
