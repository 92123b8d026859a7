"""Cursor over the source of a pattern, with escapes and refusals.

Does: read escapes of ECMA-262 with the `u` flag; refuse with the offset. Does not: read the structure of a pattern
(`parse`).
"""

from typing import Final, NoReturn

from ..contract.errors import InvalidConstraint, Refusal, UnsupportedConstraint
from . import charset as cs
from .charset import Charset
from .letter_case import in_any_case
from .modifiers import Modifiers

_CONTROLS: Final = {"t": 9, "n": 10, "v": 11, "f": 12, "r": 13}
_CLASSES: Final = {
    "d": cs.DIGIT, "D": cs.complement(cs.DIGIT), "w": cs.WORD, "W": cs.complement(cs.WORD),
    "s": cs.SPACE, "S": cs.complement(cs.SPACE),
}  # fmt: skip
_NEGATED: Final = frozenset("DWSP")


class Scanner:
    """The source of a pattern, read up to `at` under `modifiers`.

    Methods raise InvalidConstraint and UnsupportedConstraint.
    """

    def __init__(self, source: str, modifiers: Modifiers) -> None:
        self.source = source
        self.at = 0
        self.modifiers = modifiers

    def cased(self, charset: Charset, *, negated: bool = False) -> Charset:
        """The set in all cases if case is ignored. If `negated`, it is the complement that ignores case."""
        if not self.modifiers.ignore_case:
            return charset
        return (
            cs.complement(in_any_case(cs.complement(charset))) if negated else in_any_case(charset)
        )

    def escape(self, in_class: bool) -> Charset:
        """The characters that the escape at the current offset stands for."""
        negated = self.source[self.at + 1 : self.at + 2] in _NEGATED
        return self.cased(self._escape(in_class), negated=negated)

    def _escape(self, in_class: bool) -> Charset:
        offset = self.at
        c = self.source[offset + 1 : offset + 2]
        self.at += 2
        if c in _CLASSES:
            return _CLASSES[c]
        if c in ("p", "P"):
            return self._property(offset, negative=c == "P")
        if c and c in "123456789k":
            self.refuse(offset, "back-reference", "spell out what the group may be")
        point = self._code_point(offset, c, in_class)
        return ((point, point),)

    def _code_point(self, offset: int, c: str, in_class: bool) -> int:
        if c in _CONTROLS:
            return _CONTROLS[c]
        if c == "b" and in_class:
            return 8
        if c == "0" and not digits(self.source[self.at : self.at + 1]):
            return 0
        if (
            c == "c"
            and (letter := self.source[self.at : self.at + 1]).isascii()
            and letter.isalpha()
        ):
            self.at += 1
            return ord(letter) & 31
        if c == "x":
            return self._hex(2, offset)
        if c == "u":
            return self._unicode(offset)
        if not c or c.isalnum():
            self.fail(f"an escape '\\{c}' that ECMA-262 does not have", offset)
        return ord(c)

    def _unicode(self, offset: int) -> int:
        if self.source.startswith("{", self.at):
            end = self.source.find("}", self.at)
            text = self.source[self.at + 1 : max(end, 0)]
            if not _hexadecimal(text) or int(text, 16) > 0x10FFFF:
                self.fail("an escape '\\u{' without a code point", offset)
            self.at = end + 1
            return int(text, 16)
        point = self._hex(4, offset)
        if 0xD800 <= point <= 0xDBFF and self.source.startswith("\\u", self.at):
            low = self.source[self.at + 2 : self.at + 6]
            if len(low) == 4 and _hexadecimal(low) and 0xDC00 <= int(low, 16) <= 0xDFFF:
                self.at += 6
                return 0x10000 + ((point - 0xD800) << 10) + int(low, 16) - 0xDC00
        return point

    def _hex(self, count: int, offset: int) -> int:
        text = self.source[self.at : self.at + count]
        if len(text) < count or not _hexadecimal(text):
            self.fail(f"an escape that lacks its {count} hexadecimal digits", offset)
        self.at += count
        return int(text, 16)

    def _property(self, offset: int, negative: bool) -> Charset:
        end = self.source.find("}", self.at)
        if not self.source.startswith("{", self.at) or end < 0:
            self.fail("'\\p' without '{name}'", offset)
        name = self.source[self.at + 1 : end]
        self.at = end + 1
        charset = cs.prop(name)
        if charset is None:
            self.refuse(
                offset,
                f"\\p{{{name}}}",
                "use general categories such as \\p{L}, or list the characters",
            )
        return cs.complement(charset) if negative else charset

    def fail(self, what: str, offset: int | None = None) -> NoReturn:
        """Refuse an invalid pattern."""
        where = f"char {self.at if offset is None else offset}"
        refusal = Refusal(
            where, "pattern", what, "write the pattern in the syntax of ECMA-262 with the u flag"
        )
        raise InvalidConstraint(f"not a pattern: {what} at {where}", (refusal,))

    def refuse(self, offset: int, construct: str, hint: str) -> NoReturn:
        """Refuse a construct that cannot be enforced."""
        refusal = Refusal(f"char {offset}", construct, f"{construct} cannot be enforced", hint)
        raise UnsupportedConstraint(
            f"{construct} at char {offset} cannot be enforced; {hint}", (refusal,)
        )


def digits(text: str) -> bool:
    """Whether a text consists of ASCII digits."""
    return text.isascii() and text.isdigit()


def _hexadecimal(text: str) -> bool:
    return bool(text) and all(c in "0123456789abcdefABCDEF" for c in text)
