"""The values that go into a quantisation and come out: formats, texts, accuracy.

Does: define them, without torch. Does not: quantise (`quantize`).
"""

from collections.abc import Callable
from dataclasses import dataclass
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
