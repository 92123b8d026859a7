"""The nesting at a position in a JSON text: the open containers, and the open string.

Does: follow the bytes of a text that a grammar keeps legal. Does not: check the text, or know values and names.
"""

from typing import Final

_QUOTE: Final = ord('"')
_ESCAPE: Final = ord("\\")
_OPENING: Final = b"{["
_CLOSING: Final = b"}]"
_OBJECT: Final = ord("{")


class Nesting:
    """A position in a JSON text, initially its start.

    `open` has the bracket of every open container, outermost first. `string` is the offset of the opening quote of the
    open string, None outside strings.
    """

    __slots__ = ("_escaped", "_offset", "open", "string")

    def __init__(self) -> None:
        self.open = bytearray()
        self.string: int | None = None
        self._escaped = False
        self._offset = 0

    @property
    def height(self) -> int:
        """The number of open containers."""
        return len(self.open)

    def feed(self, byte: int) -> None:
        """Advance by one byte."""
        if self.string is not None:
            if self._escaped:
                self._escaped = False
            elif byte == _ESCAPE:
                self._escaped = True
            elif byte == _QUOTE:
                self.string = None
        elif byte == _QUOTE:
            self.string = self._offset
        elif byte in _OPENING:
            self.open.append(byte)
        elif byte in _CLOSING:
            self.open.pop()
        self._offset += 1

    def is_name(self, text: bytes) -> bool:
        """Whether the open string of `text`, the bytes so far, is a property name."""
        if self.string is None or not self.open or self.open[-1] != _OBJECT:
            return False
        return not text[: self.string].rstrip().endswith(b":")

    def copy(self) -> "Nesting":
        """An independent copy."""
        twin = Nesting()
        twin.open, twin.string = bytearray(self.open), self.string
        twin._escaped, twin._offset = self._escaped, self._offset
        return twin
