"""The message that asks for a program to be forked. Its open files travel beside it."""

import json
from dataclasses import dataclass
from typing import Final

LONGEST: Final = 100_000
"""Bytes of an order: less than a socket takes at once."""
MOST_FILES: Final = 64


@dataclass(frozen=True)
class Order:
    """The program to run. `files` are the numbers that its open files get, `before` a function to call first."""

    command: list[str]
    environment: dict[str, str]
    folder: str
    files: list[int]
    session: bool
    before: str

    @classmethod
    def read(cls, text: bytes) -> "Order":
        return cls(**json.loads(text))

    def written(self) -> bytes:
        return json.dumps(vars(self)).encode()
