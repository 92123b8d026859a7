"""The rotary embedding of a model, read from its `config.json`.

Does: read the type and its parameters from either form of the file, and refuse other types by name. Does not: compute
angles; see `rotary.py`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..errors import ModelError
from .config_values import ConfigValues
from .family import Family

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
    "mrope_interleaved",
)


@dataclass(frozen=True, slots=True)
class RopeSpec:
    """Rotary embedding.

    `type` is one of `ROPE_TYPES`, or `UNROTATED` for layers without rotation. `params` are the parameters of the
    scaling, as in the file. The first `share` of each head is rotated. `short` and `long` are the divisors of the
    frequencies of `longrope`, for contexts up to the original one and for longer ones. `axes` say by which
    position of an image each pair rotates: 0 is time, 1 the row, 2 the column; empty: all rotate by one position.
    """

    type: str
    theta: float
    params: Mapping[str, float]
    share: float = 1.0
    short: tuple[float, ...] = ()
    long: tuple[float, ...] = ()
    axes: tuple[int, ...] = ()

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

    def read(self, theta: object, family: Family) -> RopeSpec:
        """The rotation as this family has it; `theta` is used where `given` has none."""
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
        share = self._share(partial=family.partial_rotation)
        numbers = self._numbers(kind)
        spec = RopeSpec(
            kind,
            ConfigValues({"rope_theta": theta}).number("rope_theta", 10000.0),
            numbers,
            share,
            axes=self._axes(interleaved=family.interleaves),
        )
        if kind != "longrope":
            return spec
        pairs = spec.rotated(self.head_dim) // 2
        short, long = (self._factors(key, pairs) for key in ("short_factor", "long_factor"))
        return RopeSpec(kind, spec.theta, numbers, share, short, long)

    def _axes(self, *, interleaved: bool) -> tuple[int, ...]:
        """The position by which each pair rotates, from `mrope_section`, which only models that read images have.

        Interleaved, every third pair rotates by row and the pair after it by column, up to the counts of the sections.
        """
        sections = self._sections()
        if not sections:
            return ()
        given = self.given.get("mrope_interleaved")
        if given not in (None, interleaved):
            raise ModelError(
                f"mrope_interleaved {given!r} is not supported",
                where=f"{self.where}/mrope_interleaved",
            )
        if not interleaved:
            return tuple(axis for axis, count in enumerate(sections) for _ in range(count))
        axes = [0] * sum(sections)
        for axis in (1, 2):
            last = axis + 3 * (sections[axis] - 1)
            if last >= len(axes):
                raise ModelError(
                    f"{sections[axis]} of {len(axes)} pairs are too many to be every third one",
                    where=f"{self.where}/mrope_section",
                )
            for pair in range(axis, last + 1, 3):
                axes[pair] = axis
        return tuple(axes)

    def _sections(self) -> tuple[int, ...]:
        """The numbers of pairs that rotate by time, by row and by column; empty for a rotation by one position."""
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
            raise ModelError("the rotated part of a head is not a whole number of pairs", where=at)
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
