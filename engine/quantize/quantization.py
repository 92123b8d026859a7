"""`quantize_checkpoint`, and the values that go in and come out. Loads torch on call only.

Does: define the interface of this package. Does not: compute (`quantize`).
"""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

QUANTIZED_FORMATS: Final = ("fp8", "int8", "w4")
CALIBRATED_FORMATS: Final = ("w4",)
"""The formats for which rounding needs texts."""

Progress = Callable[[str, float], None]
"""Called with the part of the work and its finished share."""


@dataclass(frozen=True, slots=True)
class CalibrationText:
    """A sequence of tokens. Those from `first` (at least 1) on count in comparisons: the answer to a prompt, or all."""

    tokens: tuple[int, ...]
    first: int = 1


@dataclass(frozen=True, slots=True)
class CalibrationTexts:
    """Texts to calibrate with, and others to compare on."""

    calibration: tuple[CalibrationText, ...] = ()
    comparison: tuple[CalibrationText, ...] = ()

    @property
    def longest(self) -> int:
        """The most tokens of a text; 1 without texts."""
        texts = (*self.calibration, *self.comparison)
        return max((len(text.tokens) for text in texts), default=1)


@dataclass(frozen=True, slots=True)
class Accuracy:
    """`divergence` is the mean Kullback-Leibler divergence in nats; `same` the share of positions at which both models
    hold the same token for the likeliest. `perplexity_before` and `perplexity_after` are those of the given tokens.
    """

    tokens: int
    divergence: float
    same: float
    perplexity_before: float
    perplexity_after: float


@dataclass(frozen=True, slots=True)
class Quantized:
    """A written checkpoint. `accuracy` is None if there was no text to compare on."""

    matrices: int
    bytes_before: int
    bytes_after: int
    accuracy: Accuracy | None


def quantize_checkpoint(
    source: Path,
    out: Path,
    form: str,
    texts: CalibrationTexts,
    progress: Progress,
    device: str = "cpu",
) -> Quantized:
    """Write the checkpoint `source` in the format `form` to the new folder `out`.

    The embedding, the head, norms, biases and routers stay as they are.

    Raises:
        ModelError: `source` cannot be used or is quantised already, or `out` cannot be written.
        ConfigError: torch finds no such device.
        ValueError: the format needs texts, and there are none.
    """
    from .quantize import quantize
    from .targets import TARGETS

    return quantize(source, out, TARGETS[form], texts, progress, device)
