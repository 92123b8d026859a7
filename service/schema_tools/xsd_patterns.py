"""Patterns of XML Schema as patterns of JSON Schema.

Does: write the meaning of `\\i`, `\\c` and `\\w` out; take `^` and `$` literally, as XML Schema does; leave `\\d` to
the digits of ASCII. Does not: translate blocks (`\\p{IsGreek}`), subtractions of classes, or negations of `\\i` and
`\\c` in a class.
"""

from typing import Final

# The contents of classes: what a name begins with, what it has, and what is no punctuation, separator or control.
_CLASSES: Final = {
    "i": r"\p{L}_:",
    "c": r"\p{L}\p{N}\p{M}_:.\-",
    "w": r"\p{L}\p{M}\p{N}\p{S}",
}
_LITERALS: Final = "^$/"
_ESCAPED_ONLY_IN_CLASSES: Final = "-"


class UnknownPattern(ValueError):
    """A pattern that has no translation; says what it contains."""


def ecma_pattern(pattern: str) -> str:
    """The body of a pattern, which must match the whole text, in the syntax of ECMA-262.

    Raises:
        UnknownPattern: it has a construct that has no translation.
    """
    written, at, inside = list[str](), 0, False
    while at < len(pattern):
        sign = pattern[at]
        if sign == "\\":
            written.append(_escape(pattern, at, inside=inside))
            at += 2
            continue
        if inside and sign == "[":
            raise UnknownPattern("a subtraction of classes")
        if sign in "[]":
            inside = sign == "["
        elif sign in _LITERALS and not inside:
            sign = "\\" + sign
        written.append(sign)
        at += 1
        if sign == "[" and pattern[at : at + 1] == "^":
            written.append("^")
            at += 1
    return "".join(written)


def _escape(pattern: str, at: int, *, inside: bool) -> str:
    """The translation of the escape at a place, which has two characters."""
    sign = pattern[at + 1 : at + 2]
    if sign in "pP" and pattern.startswith("{Is", at + 2):
        raise UnknownPattern("a block of Unicode")
    if sign.lower() not in _CLASSES or not sign:
        plain = sign in _ESCAPED_ONLY_IN_CLASSES and not inside
        return sign if plain else "\\" + sign
    content = _CLASSES[sign.lower()]
    if sign.islower():
        return content if inside else f"[{content}]"
    if inside:
        raise UnknownPattern(f"\\{sign} in a class")
    return f"[^{content}]"
