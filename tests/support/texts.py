"""What a screened constraint makes of texts, byte by byte, without any tokenizer."""

import random
from enum import Enum

import numpy as np
from intaglio.grammar.compiler.frontend import Screened
from intaglio.grammar.machine.cursor import Cursor
from intaglio.grammar.machine.machine import Machine

from tests.support.earley_texts import ChartText


class Fate(Enum):
    """The outcome of reading a text."""

    WHOLE = "it may end here"
    OPEN = "it is a beginning only"
    REFUSED = "nothing goes on from it"


class Reader:
    """One text being read by the machine, or where there is none by the chart."""

    def __init__(self, screened: Screened) -> None:
        self.cursor = None if screened.root is None else Cursor(Machine(screened.root))
        self.chart = None if screened.parsed is None else ChartText(screened.parsed.form)

    def read(self, text: bytes) -> bool:
        """Read on; false, and nothing read, if it is refused."""
        if self.chart is not None:
            return self.chart.read(text)
        assert self.cursor is not None
        array = np.frombuffer(text, np.uint8).copy()
        if len(array) and not self.cursor.read(array):
            return False
        if len(array):
            self.cursor.commit(array, 0)
        return True

    @property
    def over(self) -> bool:
        """Whether the text may end here."""
        if self.chart is not None:
            return self.chart.over
        assert self.cursor is not None
        return self.cursor.can_end()

    def following(self) -> list[int]:
        """The bytes that may come next."""
        if self.chart is not None:
            return self.chart.following()
        assert self.cursor is not None
        return [b for b in range(256) if self.cursor.read(np.array([b], np.uint8))]


def fate(screened: Screened, text: str | bytes) -> Fate:
    """The outcome of reading a text."""
    reader = Reader(screened)
    if not reader.read(text.encode() if isinstance(text, str) else text):
        return Fate.REFUSED
    return Fate.WHOLE if reader.over else Fate.OPEN


def random_text(screened: Screened, draw: random.Random, most: int) -> bytes | None:
    """A random whole text of about `most` bytes; None if it did not end by itself.

    Raises AssertionError where nothing goes on and the text may not end.
    """
    reader, text = Reader(screened), bytearray()
    for _ in range(most):
        following = reader.following()
        if reader.over and (not following or draw.random() < 0.3):
            return bytes(text)
        assert following, f"a dead end after {bytes(text)!r}"
        byte = draw.choice(following)
        assert reader.read(bytes([byte]))
        text.append(byte)
    return None
