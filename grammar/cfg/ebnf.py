"""Parser of EBNF grammars in GBNF syntax: `root ::= "a" (b | [0-9]{2,3})* # ...`.

Does: turn text into a tree. Extensions to common GBNF: empty alternatives, `.` for any character, several quantifiers
on one part. Does not: analyse the grammar (`trim`).
"""

import re
from typing import Final

from ..regex import charset as cs
from ..regex import regex_tree as rx
from .bnf_parser import BnfParser
from .grammar_tree import Grammar, Part, Ref, Repeat, Text
from .scan import (
    QUANTIFIERS,
    Token,
    counted,
    escapes,
    invalid,
    unsupported,
)

_DIALECT: Final = "EBNF"
_TOKEN: Final = re.compile(
    r"""(?P<skip>[ \t\r\n]+|\#[^\n]*)
    |(?P<name>[A-Za-z_][A-Za-z0-9_.\-]*)
    |(?P<string>"(?:\\.|[^"\\\r\n])*")
    |(?P<set>\[(?:\\.|[^\]\\\r\n])*\])
    |(?P<count>\{\s*[0-9]+\s*(?:,\s*[0-9]*\s*)?\})
    |(?P<is>::=)|(?P<look>\(\s*=)
    |(?P<mark>[|()*+?.])
    |(?P<other>.)""",
    re.VERBOSE,
)
_NAMES: Final = "ntrabfv0e"
_STRING: Final = escapes(_DIALECT, "\"'\\?/", _NAMES)
_SET: Final = escapes(_DIALECT, "\"'\\?/]-[^.()*+|{}$", _NAMES)
_TOKEN_LEVEL: Final = (
    "Token",
    "ExcludeToken",
    "AnyTokens",
    "TagDispatch",
    "TokenTagDispatch",
    "Capture",
)


def parse(source: str) -> Grammar:
    """The grammar of a source; its start rule is `root`.

    Raises:
        InvalidConstraint: not a grammar, with the offset.
        UnsupportedConstraint: a construct over tokens, or a look-ahead.
        ConstraintTooLarge: too many rules, or nested too deep.
    """
    return _Parser(source, _TOKEN, _DIALECT).run()


class _Parser(BnfParser):
    def run(self) -> Grammar:
        rules = self.rules()
        if "root" not in rules:
            invalid(_DIALECT, "there is no rule 'root'", 0)
        return Grammar(rules, "root")

    def term(self) -> Part:
        return self._repeated(self._atom())

    def _atom(self) -> Part:
        token = self.scan.take()
        match token.kind:
            case "name":
                if token.text in _TOKEN_LEVEL and self.scan.here.text == "(":
                    reason = "a grammar is over characters, not over tokens"
                    unsupported(token.text, reason, "write out the characters", token.at)
                self.named.append(token)
                return Ref(token.text)
            case "string":
                return _string(token)
            case "set":
                return Text(rx.Chars(_set(token)))
            case "look":
                reason = "a grammar has no look-ahead"
                unsupported(
                    "(=", reason, "leave it out, or write the following text after it", token.at
                )
        if token.text == ".":
            return Text(rx.Chars(cs.ANY))
        if token.text != "(":
            invalid(_DIALECT, f"{token.text!r} has no place here", token.at)
        return self.scan.group(token, ")", self.alternatives)

    def _repeated(self, part: Part) -> Part:
        while True:
            token = self.scan.here
            if token.kind == "mark" and token.text in QUANTIFIERS:
                part = Repeat(part, *QUANTIFIERS[token.text])
            elif token.kind == "count":
                low, comma, high = token.text[1:-1].replace(" ", "").partition(",")
                if comma and not high:
                    part = Repeat(part, counted(low, None, _DIALECT, token.at)[0], None)
                else:
                    part = Repeat(part, *counted(low, high or None, _DIALECT, token.at))
            else:
                return part
            self.scan.take()


def _string(token: Token) -> Part:
    chars, at, end = [], 1, len(token.text) - 1
    while at < end:
        point, at = _STRING.read(token.text, at, token.at)
        chars.append(rx.Chars(((point, point),)))
    return Text(rx.Concat(tuple(chars)))


def _set(token: Token) -> cs.Charset:
    text, at = token.text[:-1], 1
    negative = text[1:2] == "^"
    at += negative
    ranges = []
    while at < len(text):
        low, at = _SET.read(text, at, token.at)
        high = low
        if text[at : at + 1] == "-" and at + 1 < len(text):
            high, at = _SET.read(text, at + 1, token.at)
            if high < low:
                invalid(_DIALECT, "a range whose ends are in the wrong order", token.at)
        ranges.append((low, high))
    charset = cs.of(ranges)
    return cs.complement(charset) if negative else charset
