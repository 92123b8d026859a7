"""The formats that `intaglio quantize` writes, as compressed-tensors defines them.

Does: round a matrix, name its tensors, and describe the format for `config.json`. Does not: choose matrices or files.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

import torch
from torch import Tensor
from torch.nn.functional import pad

from ..model.schemes.int8 import LARGEST
from .error_feedback import rounded_4bit

GROUP_SIZE: Final = 128
FP8: Final = torch.float8_e4m3fn
FP8_LARGEST: Final = 448.0
NIBBLES: Final = 8
"""Integers of 4 bits in a word of 32."""

Tensors = Mapping[str, Tensor]


class WrittenFormat(Protocol):
    """A format of quantised matrices."""

    @property
    def needs_inputs(self) -> bool:
        """Whether rounding depends on the inputs of a matrix."""
        ...

    def tensors(self, matrix: Tensor, moments: Tensor | None) -> Tensors:
        """The tensors of `matrix` [outputs, inputs] by the suffixes of their names.

        `moments`: see `rounded_4bit`; not None if the format needs inputs.
        """
        ...

    def settings(self) -> tuple[str, dict[str, Any], dict[str, Any] | None]:
        """`format`, `weights` and `input_activations` of `quantization_config`."""
        ...


@dataclass(frozen=True, slots=True)
class WrittenInt8:
    """8-bit integers with a scale for each output."""

    needs_inputs: bool = False

    def tensors(self, matrix: Tensor, moments: Tensor | None) -> Tensors:  # noqa: ARG002 - it rounds to nearest
        """See `WrittenFormat`."""
        scales = _scales(matrix, LARGEST)
        codes = (matrix.float() / scales).round_().clamp_(-LARGEST, LARGEST)
        return {".weight": codes.to(torch.int8), ".weight_scale": scales}

    def settings(self) -> tuple[str, dict[str, Any], dict[str, Any] | None]:
        """See `WrittenFormat`."""
        return "int-quantized", _numbers("int", 8, "channel"), _by_token("int")


@dataclass(frozen=True, slots=True)
class WrittenFp8:
    """8-bit floats (E4M3) with a scale for each output."""

    needs_inputs: bool = False

    def tensors(self, matrix: Tensor, moments: Tensor | None) -> Tensors:  # noqa: ARG002 - it rounds to nearest
        """See `WrittenFormat`."""
        scales = _scales(matrix, FP8_LARGEST)
        return {".weight": (matrix.float() / scales).to(FP8), ".weight_scale": scales}

    def settings(self) -> tuple[str, dict[str, Any], dict[str, Any] | None]:
        """See `WrittenFormat`."""
        return "float-quantized", _numbers("float", 8, "channel"), _by_token("float")


@dataclass(frozen=True, slots=True)
class WrittenW4:
    """4-bit integers with a scale for each output and each 128 inputs, rounded with error feedback."""

    needs_inputs: bool = True

    def tensors(self, matrix: Tensor, moments: Tensor | None) -> Tensors:
        """See `WrittenFormat`."""
        if moments is None:
            raise ValueError("rounding to 4 bits needs the moments of inputs")
        codes, scales = rounded_4bit(matrix, moments, GROUP_SIZE)
        return {
            ".weight_packed": packed(codes),
            ".weight_scale": scales.to(torch.bfloat16),
            ".weight_shape": torch.tensor(matrix.shape),
        }

    def settings(self) -> tuple[str, dict[str, Any], dict[str, Any] | None]:
        """See `WrittenFormat`."""
        return "pack-quantized", {**_numbers("int", 4, "group"), "group_size": GROUP_SIZE}, None


FORMATS: Final[Mapping[str, WrittenFormat]] = {
    "fp8": WrittenFp8(),
    "int8": WrittenInt8(),
    "w4": WrittenW4(),
}


def packed(codes: Tensor) -> Tensor:
    """Codes [outputs, inputs] from -8 to 7 as words [outputs, inputs / 8] int32, plus 8, lowest bits first."""
    raised = pad(codes.to(torch.int64) + NIBBLES, (0, -codes.shape[1] % NIBBLES))
    nibbles = raised.view(codes.shape[0], -1, NIBBLES)
    words = (nibbles << torch.arange(0, 32, 4, device=codes.device)).sum(2)
    return torch.where(words >= 1 << 31, words - (1 << 32), words).to(torch.int32)


def _scales(matrix: Tensor, largest: float) -> Tensor:
    """The scale [outputs, 1] float32 at which the largest element of each row is `largest`."""
    most = matrix.float().abs().amax(1, keepdim=True)
    return torch.where(most > 0, most / largest, torch.ones_like(most))


def _numbers(kind: str, bits: int, strategy: str) -> dict[str, Any]:
    return {
        "num_bits": bits,
        "type": kind,
        "symmetric": True,
        "strategy": strategy,
        "group_size": None,
        "block_structure": None,
        "dynamic": False,
        "actorder": None,
        "observer": "minmax",
        "observer_kwargs": {},
    }


def _by_token(kind: str) -> dict[str, Any]:
    """Activations that an engine may round, a scale for each token. This engine does not."""
    return {**_numbers(kind, 8, "token"), "dynamic": True, "observer": None}
