"""Warnings for values of an answer that were ended early, with JSON Pointers.

Does: map the token offsets that the engine reports to pointers, in one pass over the output. Does not: decide which
values end early (`engine.grammars.budgeted_matcher`, `engine.grammars.loop_detection`).
"""

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from intaglio.engine.api import Cut, CutReason
from intaglio.schemas.extraction.results import AnswerWarning
from intaglio.schemas.json_pointer import child_pointer

_HINTS = {
    CutReason.LOOPED: "the document may not state this value: allow null in the schema, or send "
    'not_stated: "null"',
    CutReason.BUDGET: "raise max_tokens, or limit the strings and arrays of the schema",
}
_MESSAGES = {
    CutReason.LOOPED: "the value repeated itself and was ended in the shortest legal way",
    CutReason.BUDGET: "the budget was reached here: this and all later values were ended in the shortest legal way",
}
_WHITESPACE = b" \t\n\r"


def cut_warnings(
    tokens: Sequence[int], texts: Sequence[bytes | None], cuts: Iterable[Cut]
) -> tuple[AnswerWarning, ...]:
    """One warning for each value that was ended early, and reason.

    `texts`: the bytes of each token of the vocabulary, or None.
    """
    walk = _TokenWalk(tokens, texts)
    warnings = []
    for cut in sorted(cuts, key=lambda cut: cut.begin):
        before = list(walk.open_at(cut.begin))
        if cut.reason is CutReason.LOOPED:
            open_after = {value.begin for value in walk.open_at(cut.end)}
            closed = [value for value in before if value.begin not in open_after]
            pointer = closed[0].pointer if closed else before[-1].pointer if before else ""
        else:
            pointer = before[-1].pointer if before else ""
        warnings.append(
            AnswerWarning(
                pointer=pointer,
                kind=cut.reason.value,
                message=_MESSAGES[cut.reason],
                hint=_HINTS[cut.reason],
            )
        )
    # Many names of one object may have been ended.
    return tuple({(warning.pointer, warning.kind): warning for warning in warnings}.values())


@dataclass(slots=True)
class _Value:
    """An open value: its pointer, its begin, and the state of its current member or item."""

    pointer: str
    begin: int
    bracket: int = 0
    index: int = 0
    name: bytearray | None = None
    expects_name: bool = False  # a property name is next, or is being read


class _TokenWalk:
    """Reads the tokens of an output once, up to ascending positions."""

    def __init__(self, tokens: Sequence[int], texts: Sequence[bytes | None]) -> None:
        self._tokens = tokens
        self._texts = texts
        self._read = 0
        self._values = _OpenValues()

    def open_at(self, end: int) -> list[_Value]:
        """The open values after `end` tokens, or after all that were read if these are more; outermost first."""
        for token in self._tokens[self._read : end]:
            self._values.feed(self._texts[token] or b"")
        self._read = max(self._read, min(end, len(self._tokens)))
        return self._values.open


class _OpenValues:
    """The stack of open values while JSON text is read, outermost first, scalars included."""

    def __init__(self) -> None:
        self.open: list[_Value] = []
        self._offset = 0
        self._quoted = False
        self._escaped = False

    def feed(self, text: bytes) -> None:
        """Read the next bytes of a legal text."""
        for byte in text:
            self._step(byte)
            self._offset += 1

    def _step(self, byte: int) -> None:
        top = self.open[-1] if self.open else None
        if self._quoted:
            self._in_quotes(byte, top)
        elif byte in b",]}:":
            self._punctuation(byte)
        elif byte in _WHITESPACE:
            return
        elif byte in b'"' and top is not None and top.bracket == ord("{") and top.expects_name:
            top.name, self._quoted = bytearray(b'"'), True
        elif top is None or top.bracket:
            value = _Value(self._pointer(top), self._offset)
            self.open.append(value)
            if byte in b"{[":
                value.bracket, value.expects_name = byte, byte == ord("{")
            self._quoted = byte == ord('"')

    def _in_quotes(self, byte: int, top: _Value | None) -> None:
        name = None if top is None or not top.bracket else top.name
        if name is not None:
            name.append(byte)
        if self._escaped:
            self._escaped = False
        elif byte == ord("\\"):
            self._escaped = True
        elif byte == ord('"'):
            self._quoted = False
            if name is None:
                self.open.pop()

    def _punctuation(self, byte: int) -> None:
        """Handle a comma, colon or closing bracket, which also ends a number or a literal."""
        if byte != ord(":") and self.open and not self.open[-1].bracket:
            self.open.pop()
        if not self.open:
            return
        top = self.open[-1]
        if byte == ord(":"):
            top.expects_name = False
        elif byte == ord(","):
            top.index += 1
            top.expects_name = top.bracket == ord("{")
        else:
            self.open.pop()

    def _pointer(self, top: _Value | None) -> str:
        if top is None:
            return ""
        in_array = top.bracket == ord("[")
        key = top.index if in_array else json.loads(bytes(top.name or b'""'))
        return child_pointer(top.pointer, key)
