"""Random choices for one document, split into a training part and a held-out part.

Every list of alternatives in the generator (layouts, phrasings, labels, key names, entity names) is one
string with `|` between the items. An item whose CRC-32 is divisible by `HELD_OUT_EVERY` is held out: a
training document never contains it. A held-out document takes half of its choices from the held-out
items, wherever a list has any.
"""

from __future__ import annotations

import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Literal

Split = Literal["train", "heldout"]
Language = Literal["en", "de", "fr", "es"]

HELD_OUT_EVERY = 8


def is_held_out(item: str) -> bool:
    """Whether `item` is kept from training documents; an empty one, which leaves something out, never is."""
    return item != "" and zlib.crc32(item.encode()) % HELD_OUT_EVERY == 0


@dataclass(frozen=True)
class Pool:
    """Alternatives of one list; `held` is empty where a list is too short to spare one."""

    train: tuple[str, ...]
    held: tuple[str, ...]

    @classmethod
    def of(cls, items: tuple[str, ...]) -> Pool:
        held = tuple(item for item in items if is_held_out(item))
        train = tuple(item for item in items if not is_held_out(item))
        return cls(train, held) if len(items) > 2 and train else cls(items, ())


@cache
def pool(items: str) -> Pool:
    return Pool.of(tuple(items.split("|")))


@dataclass(frozen=True)
class Draw:
    """The source of chance for one document in one language."""

    rng: random.Random
    split: Split
    lang: Language = "en"

    def pick(self, items: str | Pool) -> str:
        """One of the alternatives, from the part this document's split may see."""
        found = pool(items) if isinstance(items, str) else items
        if self.split == "heldout" and found.held and self.rng.random() < 0.5:
            return self.rng.choice(found.held)
        return self.rng.choice(found.train)

    def some(self, items: str | Pool, least: int, most: int) -> list[str]:
        """Between `least` and `most` different alternatives, fewer where the list is short."""
        found: dict[str, None] = {}
        wanted = self.rng.randint(least, most)
        for _ in range(wanted * 3):
            if len(found) < wanted:
                found[self.pick(items)] = None
        return list(found)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def one(self, *makers: Callable[[Draw], str]) -> str:
        return self.rng.choice(makers)(self)
