"""Experts in MXFP4, as gpt-oss stores them: names, shapes and checks.

Does: name the tensors of a matrix, and make its weight, which stays in codes. Does not: decode or multiply
(`kernels/mxfp4_weight`), or know where a checkpoint holds them (`stacked_experts`).
"""

from collections.abc import Mapping
from dataclasses import dataclass

import torch
from intaglio.kernels.contracts import Kernels, Weight
from intaglio.kernels.mxfp4_weight import GROUP, Mxfp4Weight
from torch import Tensor

from ...errors import ModelError
from .quantization_settings import Settings
from .scheme import Dense, Part, Scheme, Stored

BLOCKS, SCALES = "_blocks", "_scales"

NOT_A_NUMBER = 255
"""The code of a scale that is not a number."""


@dataclass(frozen=True, slots=True)
class Mxfp4:
    """A matrix in MXFP4. See `Scheme`."""

    def tensors(self, outputs: int, inputs: int) -> Mapping[str, Stored]:
        """See `Scheme`."""
        if inputs % GROUP:
            raise ModelError(
                f"matrices of {inputs} inputs have no whole groups of {GROUP} for MXFP4",
                where="quantization_config",
            )
        groups = inputs // GROUP
        return {
            BLOCKS: Stored((outputs, groups, GROUP // 2), torch.uint8),
            SCALES: Stored((outputs, groups), torch.uint8),
        }

    def codes_weight(self, part: Part, bias: Tensor | None, kernels: Kernels) -> Weight:
        """The weight of one matrix, in its codes.

        Raises:
            ModelError: a scale is not a number.
        """
        scales = part(SCALES)
        if bool((scales == NOT_A_NUMBER).any()):
            raise ModelError("a scale of MXFP4 is not a number", where=part.name + SCALES)
        return kernels.settled(Mxfp4Weight(part(BLOCKS), scales, bias, kernels))


@dataclass(frozen=True, slots=True)
class Mxfp4Experts:
    """Experts in MXFP4, everything else unquantised. See `Schemes`."""

    def of(self, name: str) -> Scheme:  # noqa: ARG002 - experts are stacked, and read apart
        """See `Schemes`."""
        return Dense()


def mxfp4_schemes(settings: Settings) -> Mxfp4Experts:
    """The schemes of a checkpoint with `quant_method` "mxfp4"."""
    spared = [name for name in settings.names("modules_to_not_convert") if "experts" in name]
    if spared:
        raise ModelError(
            f"experts that are not in MXFP4 ({spared[0]}) are not supported",
            where=f"{settings.where}/modules_to_not_convert",
        )
    return Mxfp4Experts()
