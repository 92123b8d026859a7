"""The rotary embedding of a model, read from its `config.json`.

Does: read the type and its parameters from either form of the file, and refuse other types by name. Does not: compute
angles; see `rotary.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ModelError
from .config_values import ConfigValues

ROPE_TYPES = ("default", "linear", "dynamic", "llama3", "yarn", "longrope")
UNROTATED = "none"

NEEDED: Mapping[str, tuple[str, ...]] = {
    "linear": ("factor",),
    "dynamic": ("factor",),
    "yarn": ("factor",),
    "llama3": (
        "factor",
        "low_freq_factor",
        "high_freq_factor",
        "original_max_position_embeddings",
    ),
    "longrope": ("original_max_position_embeddings",),
}
"""Parameters without a default, by type."""

_OTHER_KEYS = (
    "rope_type",
    "type",
    "rope_theta",
    "partial_rotary_factor",
    "short_factor",
    "long_factor",
    "mrope_section",
)


@dataclass(frozen=True, slots=True)
class RopeSpec:
    """Rotary embedding.

    `type` is one of `ROPE_TYPES`, or `UNROTATED` for layers without rotation. `params` are the parameters of the
    scaling, as in the file. The first `share` of each head is rotated. `short` and `long` are the divisors of the
    frequencies of `longrope`, for contexts up to the original one and for longer ones. `sections` are the numbers of
    pairs that turn by time, by row and by column of an image; empty: all turn by one position.
    """

    type: str
    theta: float
    params: Mapping[str, float]
    share: float = 1.0
    short: tuple[float, ...] = ()
    long: tuple[float, ...] = ()
    sections: tuple[int, ...] = ()

    def rotated(self, head_dim: int) -> int:
        """The number of rotated elements of a head: the first ones."""
        return int(head_dim * self.share)


@dataclass(frozen=True, slots=True)
class RopeReader:
    """Reads the rotation of one kind of layers. `where` is the key of `given` in the file, for errors."""

    config: ConfigValues
    given: Mapping[str, Any]
    where: str
    head_dim: int
    positions: int

    def read(self, theta: object, *, partial: bool) -> RopeSpec:
        """The rotation; `theta` is used where `given` has none, `partial` allows to rotate a part of each head."""
        kind = self.given.get("rope_type", self.given.get("type", "default"))
        if kind == "su":
            kind = "longrope"
        elif kind == "mrope" and self.given.get("mrope_section") is not None:
            kind = "default"
        if kind not in ROPE_TYPES:
            raise ModelError(
                f"rope type {kind!r} is not supported",
                where=self.where,
                hint="supported are " + ", ".join(ROPE_TYPES),
            )
        theta = self.given.get("rope_theta", theta)
        share = self._share(partial=partial)
        numbers = self._numbers(kind)
        spec = RopeSpec(
            kind,
            ConfigValues({"rope_theta": theta}).number("rope_theta", 10000.0),
            numbers,
            share,
            sections=self._sections(),
        )
        if kind != "longrope":
            return spec
        pairs = spec.rotated(self.head_dim) // 2
        short, long = (self._factors(key, pairs) for key in ("short_factor", "long_factor"))
        return RopeSpec(kind, spec.theta, numbers, share, short, long)

    def _sections(self) -> tuple[int, ...]:
        """The pairs that turn by each of three positions, `mrope_section`; it comes in families that read images."""
        key = "mrope_section"
        found = self.given.get(key)
        if found is None:
            return ()
        counts = found if isinstance(found, list) else []
        right = [each for each in counts if type(each) is int and each > 0]
        if len(counts) != 3 or len(right) != 3 or sum(right) != self.head_dim // 2:
            raise ModelError(
                f"{key} must be three numbers of pairs that are {self.head_dim // 2} together",
                where=f"{self.where}/{key}",
            )
        return tuple(right)

    def _share(self, *, partial: bool) -> float:
        key = "partial_rotary_factor"
        at = f"{self.where}/{key}" if self.given.get(key) is not None else key
        share = self.given.get(key)
        share = self.config.values.get(key) if share is None else share
        share = 1.0 if share is None else share
        if type(share) not in (int, float) or not 0 < share <= 1 or (share != 1 and not partial):
            raise ModelError(f"rotation of {share!r} of each head is not supported", where=at)
        if int(self.head_dim * share) % 2 or int(self.head_dim * share) < 1:
            raise ModelError("the rotated part of a head is no number of pairs", where=at)
        return float(share)

    def _numbers(self, kind: str) -> dict[str, float]:
        numbers = {
            key: value
            for key, value in self.given.items()
            if key not in _OTHER_KEYS and value is not None
        }
        for key, value in numbers.items():
            finite = type(value) in (int, float) and abs(value) < float("inf")
            if not finite and type(value) is not bool:
                raise ModelError(
                    f"{key} must be a number, not {value!r}", where=f"{self.where}/{key}"
                )
        original = self.config.optional_count("original_max_position_embeddings")
        if original is not None:
            numbers.setdefault("original_max_position_embeddings", original)
        for key in NEEDED.get(kind, ()):
            if key not in numbers:
                raise ModelError(f"rope type {kind!r} needs {key}", where=f"{self.where}/{key}")
        for key in ("factor", "original_max_position_embeddings"):
            if key in numbers and not numbers[key] > 0:
                raise ModelError(f"{key} must be above zero", where=f"{self.where}/{key}")
        numbers.setdefault("original_max_position_embeddings", self.positions)
        if kind == "longrope":
            numbers.setdefault(
                "factor", self.positions / numbers["original_max_position_embeddings"]
            )
        return numbers

    def _factors(self, key: str, pairs: int) -> tuple[float, ...]:
        found = self.given.get(key)
        numbers = found if isinstance(found, list) else []
        right = [each for each in numbers if type(each) in (int, float) and each > 0]
        if len(right) != pairs or len(numbers) != pairs:
            raise ModelError(
                f"{key} must be a list of {pairs} positive numbers", where=f"{self.where}/{key}"
            )
        return tuple(float(each) for each in right)
