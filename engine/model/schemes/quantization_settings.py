"""Typed reads of `quantization_config` in a checkpoint's config.json.

Does: check types and values, and name the key that is wrong. Does not: know formats.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ...errors import ModelError

ROOT = "quantization_config"


@dataclass(frozen=True, slots=True)
class Settings:
    """An object of settings; `where` is its place in config.json. A key that is null counts as absent."""

    values: Mapping[str, Any]
    where: str = ROOT

    def inner(self, key: str) -> "Settings | None":
        """The object under `key`; None if there is none."""
        value = self.values.get(key)
        if value is not None and not isinstance(value, dict):
            raise self.wrong(key, "an object")
        return None if value is None else Settings(value, f"{self.where}/{key}")

    def count(self, key: str, allowed: Sequence[int] | None = None) -> int:
        """A positive integer, one of `allowed` if given."""
        value = self.values.get(key)
        if type(value) is not int or value < 1 or (allowed and value not in allowed):
            shown = f"one of {', '.join(map(str, allowed))}" if allowed else "a positive integer"
            raise self.wrong(key, shown)
        return value

    def group_size(self, key: str = "group_size") -> int | None:
        """A positive integer; None for -1 and where it is absent: one group."""
        return None if self.values.get(key) in (None, -1) else self.count(key)

    def pair(self, key: str) -> tuple[int, int] | None:
        """Two positive integers; None where they are absent."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, list) or [type(size) for size in value] != [int, int]:
            raise self.wrong(key, "two integers")
        if min(value) < 1:
            raise self.wrong(key, "two positive integers")
        return value[0], value[1]

    def flag(self, key: str, *, default: bool) -> bool:
        """A boolean."""
        value = self.values.get(key)
        value = default if value is None else value
        if type(value) is not bool:
            raise self.wrong(key, "true or false")
        return value

    def choice(self, key: str, allowed: Sequence[str], default: str | None = None) -> str:
        """One of some names, in lower case."""
        value = self.values.get(key)
        value = default if value is None else value
        if not isinstance(value, str) or value.lower() not in allowed:
            raise self.wrong(key, "one of " + ", ".join(allowed))
        return value.lower()

    def names(self, key: str) -> tuple[str, ...]:
        """A list of names; empty where it is absent."""
        value = self.values.get(key)
        value = [] if value is None else value
        if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
            raise self.wrong(key, "a list of names")
        return tuple(value)

    def absent(self, *keys: str) -> None:
        """Raise `ModelError` if one of these keys asks for something that is not supported."""
        for key in keys:
            if self.values.get(key):
                raise ModelError(
                    f"{key} {self.values[key]!r} is not supported", where=f"{self.where}/{key}"
                )

    def wrong(self, key: str, expected: str) -> ModelError:
        """The error for a value that is not what it must be."""
        found = self.values.get(key)
        return ModelError(f"{key} must be {expected}, not {found!r}", where=f"{self.where}/{key}")


def is_named(name: str, patterns: Sequence[str]) -> bool:
    """Whether a list of modules has the matrix `name`: by its name, a prefix or suffix of whole parts, or `re:`."""
    dotted = f".{name}."
    for pattern in patterns:
        if pattern.startswith("re:"):
            if re.match(pattern[3:], name):
                return True
        elif f".{pattern}." in dotted:
            return True
    return False
