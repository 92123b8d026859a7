"""ECMA-262 patterns, matched in bounded time.

Does: translate an ECMA-262 pattern (Unicode mode) to the syntax of the `regex` package and search with a time limit.
Does not: use `re`, which reads some patterns differently and cannot be interrupted.
"""

import re
from functools import lru_cache

import regex

TIME_LIMIT_S = 1.0

# The meaning of `\d`, `\w` and `\s` in ECMA-262, as contents of a character class.
_BLANKS = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_CLASSES = {"d": "0-9", "w": "A-Za-z0-9_", "s": _BLANKS}
_DOT = r"[^\n\r\u2028\u2029]"
_ANYTHING = "(?s:.)"

_LEADING_MODIFIERS = re.compile(r"\(\?([isu]+)\)")
_MODIFIED_GROUP = re.compile(r"\(\?[a-zA-Z-]+:")


class PatternTooCostly(Exception):
    """A search exceeded its limit."""


class PatternUnreadable(Exception):
    """A pattern is invalid or cannot be translated."""


def matches_whole(pattern: str, text: str) -> bool:
    """Whether `pattern`, which may begin with `(?i)` or `(?s)`, matches the whole of `text`.

    Raises:
        PatternTooCostly: the match took longer than `TIME_LIMIT_S`.
        PatternUnreadable: the pattern is invalid or cannot be translated, such as one that has groups with modifiers.
    """
    head = _LEADING_MODIFIERS.match(pattern)
    modifiers, body = (head[1], pattern[head.end() :]) if head else ("", pattern)
    if _MODIFIED_GROUP.search(body):
        raise PatternUnreadable(f"{pattern!r}: a group with modifiers")
    prefix = "(?i)" if "i" in modifiers else ""
    dot = _ANYTHING if "s" in modifiers else _DOT
    return _search(prefix + translate(f"^(?:{body})$", dot), text)


def search(pattern: str, text: str) -> bool:
    """Whether `pattern` matches anywhere in `text`.

    Raises:
        PatternTooCostly: the search took longer than `TIME_LIMIT_S`.
        PatternUnreadable: the pattern is invalid or cannot be translated.
    """
    return _search(translate(pattern), text)


def _search(translated: str, text: str) -> bool:
    try:
        found = _compiled(translated).search(text, timeout=TIME_LIMIT_S, concurrent=True)
    except TimeoutError:
        raise PatternTooCostly(translated) from None
    return found is not None


@lru_cache(maxsize=256)
def _compiled(translated: str) -> "regex.Pattern[str]":
    try:
        # Cached only here: the package would cache 500 patterns of its own, at up to 200 KiB each.
        return regex.compile(translated, regex.VERSION0, cache_pattern=False)
    except regex.error as error:
        raise PatternUnreadable(f"{translated!r}: {error}") from None


@lru_cache(maxsize=256)
def translate(pattern: str, dot: str = _DOT) -> str:
    """`pattern` in the syntax of the `regex` package, in which `dot` is written for `.`."""
    out: list[str] = []
    at, in_class = 0, False
    while at < len(pattern):
        character = pattern[at]
        if character == "\\":
            text, at = _escape(pattern, at, in_class)
            out.append(text)
            continue
        if in_class:
            in_class = character != "]"
            out.append("\\" + character if character in "[&|~" else character)
        elif character == "[":
            text, at = _open_class(pattern, at)
            in_class = not text.startswith("(?")
            out.append(text)
            continue
        else:
            out.append({"$": r"\Z", ".": dot}.get(character, character))
        at += 1
    return "".join(out)


def _open_class(pattern: str, at: int) -> tuple[str, int]:
    """Translate `[`, `[^`, or one of the two classes that only ECMA-262 has: nothing `[]` and anything `[^]`."""
    if pattern.startswith("[]", at):
        return "(?!)", at + 2
    if pattern.startswith("[^]", at):
        return _ANYTHING, at + 3
    return ("[^", at + 2) if pattern.startswith("[^", at) else ("[", at + 1)


def _escape(pattern: str, at: int, in_class: bool) -> tuple[str, int]:
    """Translate the escape at `at`; also returns its end."""
    name = pattern[at + 1 : at + 2]
    if name.lower() in _CLASSES and name:
        members = _CLASSES[name.lower()]
        if name.islower():
            return (members if in_class else f"[{members}]"), at + 2
        if in_class:
            return _complement(name), at + 2
        return f"[^{members}]", at + 2
    if name == "u":
        return _code_point(pattern, at)
    if name == "c" and pattern[at + 2 : at + 3].isalpha():
        return f"\\x{ord(pattern[at + 2].upper()) - 64:02x}", at + 3
    if name == "b" and in_class:
        return "\\x08", at + 2
    if name in ("b", "B"):
        edge = "(?:(?<=[A-Za-z0-9_])(?![A-Za-z0-9_])|(?<![A-Za-z0-9_])(?=[A-Za-z0-9_]))"
        return (edge if name == "b" else f"(?!{edge})"), at + 2
    if name == "k":
        end = pattern.find(">", at)
        return f"(?P={pattern[at + 3 : end]})", end + 1
    if name == "0":
        return "\\x00", at + 2
    if name.isalpha() and name not in "fnrtvxpP":
        raise PatternUnreadable(f"there is no escape \\{name} in ECMA-262")
    return pattern[at : at + 2], at + 2


def _complement(name: str) -> str:
    """The complement classes `\\D`, `\\W` and `\\S` inside a class, as ranges."""
    if name == "D":
        return r"\x00-/:-\U0010ffff"
    if name == "W":
        return r"\x00-/:-@\[-\^`{-\U0010ffff"
    return (
        r"\x00-\x08\x0e-\x1f!-\u009f\u00a1-\u167f\u1681-\u1fff\u200b-\u2027\u202a-\u202e"
        r"\u2030-\u205e\u2060-\u2fff\u3001-\ufefe\uff00-\U0010ffff"
    )


def _code_point(pattern: str, at: int) -> tuple[str, int]:
    """Translate `\\uHHHH`, a surrogate pair of them, or `\\u{H…}`."""
    if pattern.startswith("{", at + 2):
        end = pattern.find("}", at)
        digits = pattern[at + 3 : end] if end > 0 else ""
        return _literal(digits, pattern), end + 1
    digits = pattern[at + 2 : at + 6]
    code = int(digits, 16) if len(digits) == 4 and _is_hex(digits) else None
    low = pattern[at + 8 : at + 12]
    if code is not None and 0xD800 <= code < 0xDC00 and pattern.startswith("\\u", at + 6):
        joined = 0x10000 + ((code - 0xD800) << 10) + (int(low, 16) - 0xDC00 if _is_hex(low) else 0)
        return f"\\U{joined:08x}", at + 12
    return _literal(digits if len(digits) == 4 else "", pattern), at + 6


def _literal(digits: str, pattern: str) -> str:
    if not _is_hex(digits) or int(digits, 16) > 0x10FFFF:
        raise PatternUnreadable(f"{pattern!r} has a \\u that names no character")
    return f"\\U{int(digits, 16):08x}"


def _is_hex(text: str) -> bool:
    return bool(text) and all(character in "0123456789abcdefABCDEF" for character in text)
