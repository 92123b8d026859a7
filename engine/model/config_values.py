"""Typed reads of the parsed `config.json` of a checkpoint.

Does: check types and ranges, and refuse other values by the name of their key. Does not: know families.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import ModelError

LARGEST_SIZE = 2**24
"""The largest size that is believed: a larger one is a mistake, and would be allocated before a tensor is compared."""

MOST_PARTS = 4096
"""The largest number of layers, or of experts in a layer."""


@dataclass(frozen=True, slots=True)
class ConfigValues:
    """Typed reads of the parsed file. A key that is null counts as absent. All raise `ModelError`."""

    values: Mapping[str, Any]

    def count(self, key: str, default: int | None = None, most: int = LARGEST_SIZE) -> int:
        """An integer from 1 to `most`."""
        value = self.values.get(key)
        value = default if value is None else value
        if type(value) is not int or value < 1:
            raise ModelError(f"{key} must be a positive integer, not {value!r}", where=key)
        if value > most:
            raise ModelError(f"{key} is {value}, and {most} is the most", where=key)
        return value

    def whole(self, key: str, default: int) -> int:
        """An integer from 0."""
        value = self.values.get(key)
        value = default if value is None else value
        if type(value) is not int or value < 0:
            raise ModelError(f"{key} must be an integer from 0, not {value!r}", where=key)
        return value

    def choice(self, key: str, allowed: Sequence[str]) -> str:
        """One of some names."""
        value = self.values.get(key)
        if not isinstance(value, str) or value not in allowed:
            raise ModelError(
                f"{key} {value!r} is not supported",
                where=key,
                hint="supported: " + ", ".join(allowed),
            )
        return value

    def optional_count(self, key: str | None) -> int | None:
        """A positive integer; None where the key is null, absent, or None."""
        if key is None or self.values.get(key) is None:
            return None
        return self.count(key)

    def number(self, key: str, default: float) -> float:
        """A finite number above zero."""
        value = self.values.get(key)
        value = default if value is None else value
        if type(value) not in (int, float) or not 0 < value < float("inf"):
            raise ModelError(f"{key} must be a positive number, not {value!r}", where=key)
        return float(value)

    def optional_number(self, key: str | None) -> float | None:
        """A finite number above zero; None where the key is null, absent, or None."""
        if key is None or self.values.get(key) is None:
            return None
        return self.number(key, 0.0)

    def flag(self, key: str, *, default: bool) -> bool:
        """A boolean."""
        value = self.values.get(key)
        value = default if value is None else value
        if type(value) is not bool:
            raise ModelError(f"{key} must be true or false, not {value!r}", where=key)
        return value

    def per_layer(self, key: str, layers: int, allowed: tuple[object, ...]) -> list[Any] | None:
        """A list with one of the `allowed` values for each layer; None where the key is null or absent."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or len(value) != layers:
            raise ModelError(f"{key} must be a list of {layers} values, one a layer", where=key)
        wrong = [each for each in value if each not in allowed]
        if wrong:
            listed = ", ".join(map(repr, allowed))
            raise ModelError(f"{key} holds {wrong[0]!r}; supported are {listed}", where=key)
        return value
