"""Parts of TypeScript that are no types: literals, values of enums, labels of tuples, imports and exports of names.

Does: take them from the words of a source. Does not: read types or declarations (`typescript`).
"""

import re
from typing import Final

from .source_text import SourceError, Words

_ESCAPE: Final = re.compile(
    r"\\(?:u\{([\da-fA-F]{1,5})\}|u([\da-fA-F]{4})|x([\da-fA-F]{2})|(.))", re.DOTALL
)
_CONTROLS: Final = {
    "n": "\n",
    "t": "\t",
    "r": "\r",
    "b": "\b",
    "f": "\f",
    "v": "\v",
    "0": "\0",
    "\n": "",
}
_SHIFTED: Final = "write the number of this member out"


def took_module_names(words: Words) -> bool:
    """Whether an import, or an export of names, stood here; it is taken."""
    text, following = words.here.text, words.ahead.text
    named = text == "export" and words.at(2 if following == "type" else 1).text in ("{", "*")
    if text != "import" and not named:
        return False
    while words.here.kind not in ("end", "quoted") and words.here.text not in (";", "{"):
        words.take()
    if words.here.text == "{":
        words.skip_block("{", "}")
    if words.here.kind == "quoted" or words.here.text == "from":
        words.skip("from")
        words.take()
    words.skip(")")
    words.skip(";")
    return True


def took_label(words: Words) -> bool:
    """Take the name of an item of a tuple, if it has one; returns whether it marks the item as optional."""
    marks = (words.ahead.text, words.at(2).text)
    if words.here.kind != "name" or (marks[0] != ":" and marks != ("?", ":")):
        return False
    words.take()
    optional = words.skip("?")
    words.expect(":")
    return optional


def enum_value(words: Words) -> str | int | float:
    """The value of a member: a text, a number, or a number shifted to the left."""
    word = words.take()
    if word.kind == "quoted":
        return text_of_literal(word.text)
    if word.kind != "number":
        raise SourceError(word.line, f"the value {word.text!r} is not evaluated", _SHIFTED)
    value = number_of_literal(word.text)
    if words.skip("<", "<"):
        distance = words.take()
        if distance.kind != "number" or not distance.text.isdecimal():
            raise SourceError(distance.line, f"{distance.text!r} shifts nothing", _SHIFTED)
        return int(value) << min(int(distance.text), 31)
    return value


def number_of_literal(text: str) -> int | float:
    """The number that a literal denotes."""
    plain = text.replace("_", "")
    if "x" in plain.lower():
        return int(plain, 16)
    return float(plain) if {".", "e", "E"} & set(plain) else int(plain)


def text_of_literal(quoted: str) -> str:
    """The text that a literal denotes."""

    def denoted(found: "re.Match[str]") -> str:
        code = found[1] or found[2] or found[3]
        return chr(int(code, 16)) if code else _CONTROLS.get(found[4], found[4])

    return _ESCAPE.sub(denoted, quoted[1:-1])
