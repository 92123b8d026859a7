"""Grammars in Lark's syntax: rules, terminals, templates, `%ignore`, `%import common`.

Does: text to tree, with what `%ignore` names allowed at the start and behind every terminal. Does not: lex. The grammar
is one over characters: a terminal is any text its pattern matches, not the longest, and no keyword is set apart from
names unless the patterns do it. Priorities and aliases change no language and are read over.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from ..errors import ConstraintTooLarge
from . import tree
from .definitions import WHAT, Source, Template, mapped, resolved
from .patterns import literal, regexp, span
from .scan import DEEPEST, MOST_RULES, Token, counted, invalid, tokens, unsupported
from .tree import Grammar, Part, Ref, Repeat

_TOKEN: Final = re.compile(
    r"""(?P<skip>[ \t\f]+|//[^\n]*|\#[^\n]*)
    |(?P<line>(?:\r?\n\s*)+)
    |(?P<terminal>_?[A-Z][_A-Z0-9]*)
    |(?P<rule>[!?]{0,2}_?[a-z][_a-z0-9]*)
    |(?P<string>"(?:\\.|[^"\\\n])*"i?)
    |(?P<regexp>/(?!/)(?:\\.|[^/\\\n])*/[a-z]*)
    |(?P<number>[+-]?[0-9]+)
    |(?P<directive>%[a-z]+)
    |(?P<mark>->|\.\.|[|()\[\]{},:~.*+?])""",
    re.VERBOSE,
)
_REPEATS: Final[dict[str, tuple[int, int | None]]] = {"*": (0, None), "+": (1, None), "?": (0, 1)}
# Lark's common terminals; strings and comments end at their first closing mark here.
_COMMON: Final = r"""
DIGIT: "0".."9"
HEXDIGIT: "a".."f" | "A".."F" | DIGIT
INT: DIGIT+
SIGNED_INT: ["+" | "-"] INT
DECIMAL: INT "." INT? | "." INT
_EXP: ("e" | "E") SIGNED_INT
FLOAT: INT _EXP | DECIMAL _EXP?
SIGNED_FLOAT: ["+" | "-"] FLOAT
NUMBER: FLOAT | INT
SIGNED_NUMBER: ["+" | "-"] NUMBER
ESCAPED_STRING: /"(?:[^"\\\n]|\\[^\n])*"/
LCASE_LETTER: "a".."z"
UCASE_LETTER: "A".."Z"
LETTER: UCASE_LETTER | LCASE_LETTER
WORD: LETTER+
CNAME: ("_" | LETTER) ("_" | LETTER | DIGIT)*
WS_INLINE: /[ \t]+/
WS: /[ \t\f\r\n]+/
CR: /\r/
LF: /\n/
NEWLINE: (CR? LF)+
SH_COMMENT: /#[^\n]*/
CPP_COMMENT: /\/\/[^\n]*/
C_COMMENT: /\/\*([^*]|\*+[^*\/])*\*+\//
SQL_COMMENT: /--[^\n]*/
"""


def parse(source: str) -> Grammar:
    """The grammar of a source; its start rule is `start`.

    Raises:
        InvalidConstraint: not a grammar, with the offset.
        UnsupportedConstraint: something in it cannot be enforced.
        ConstraintTooLarge: too many rules or instances of templates, or nested too deep.
    """
    return resolved(_Reader(source).run())


@cache
def _common() -> Mapping[str, Part]:
    return _Reader(_COMMON).run().rules


class _Reader:
    def __init__(self, source: str) -> None:
        self.tokens = tokens(source, _TOKEN, WHAT)
        self.at = 0
        self.depth = 0
        self.parameters: tuple[str, ...] = ()
        self.found = Source()

    @property
    def here(self) -> Token:
        return self.tokens[self.at]

    def run(self) -> Source:
        while self.here.kind != "end":
            token = self.here
            if token.kind == "line":
                self.at += 1
            elif token.kind == "directive":
                self._directive(token)
            elif token.kind in ("rule", "terminal"):
                self._definition(token)
            else:
                invalid(WHAT, f"{token.text!r} begins no rule", token.at)
            if len(self.found.rules) + len(self.found.templates) > MOST_RULES:
                raise ConstraintTooLarge(f"a grammar may have {MOST_RULES} rules at most")
        return self.found

    def _take(self, text: str) -> None:
        if self.here.text != text:
            invalid(WHAT, f"expected {text!r}", self.here.at)
        self.at += 1

    def _end_of_line(self) -> None:
        if self.here.kind not in ("line", "end"):
            invalid(WHAT, f"{self.here.text!r} has no place here", self.here.at)

    def _definition(self, token: Token) -> None:
        self.at += 1
        name = token.text.lstrip("?!")
        if name in self.found.rules or name in self.found.templates:
            invalid(WHAT, f"{name!r} is defined twice", token.at)
        if self.here.text == "{":
            self.parameters = tuple(t.text for t in self._listed("{", "}"))
        if self.here.text == ".":
            self.at += 2
        self._take(":")
        part = self._alternatives()
        self._end_of_line()
        if self.parameters:
            self.found.templates[name] = Template(self.parameters, part)
        else:
            self.found.rules[name] = part
        self.parameters = ()

    def _listed(self, opening: str, closing: str) -> list[Token]:
        """Names with commas between them."""
        self._take(opening)
        names = [self.here]
        self.at += 1
        while self.here.text == ",":
            names.append(self.tokens[self.at + 1])
            self.at += 2
        self._take(closing)
        for name in names:
            if name.kind not in ("rule", "terminal"):
                invalid(WHAT, "expected a name", name.at)
        return names

    def _directive(self, token: Token) -> None:
        self.at += 1
        match token.text:
            case "%ignore":
                self.found.ignored.append(self._alternatives())
            case "%import":
                self._import(token)
            case "%declare" | "%override" | "%extend":
                reason = "nothing here says what it stands for, or what it changes"
                unsupported(token.text, reason, "write the rule out", token.at)
            case _:
                invalid(WHAT, f"{token.text!r} is not known", token.at)
        self._end_of_line()

    def _import(self, token: Token) -> None:
        hint = "import from `common`, or copy the rule"
        if self.here.text != "common":
            unsupported("%import", "files are never read", hint, token.at)
        self.at += 1
        if self.here.text == ".":
            self.at += 1
            names, self.at = [self.here], self.at + 1
        else:
            names = self._listed("(", ")")
        alias = names[0].text
        if self.here.text == "->" and len(names) == 1:
            alias = self.tokens[self.at + 1].text
            self.at += 2
        for name in names:
            if name.text not in _common():
                unsupported("%import", f"`common` has no {name.text[:40]!r}", hint, name.at)
            if len(names) == 1:
                self.found.rules[alias] = _from_common(name.text)
            else:
                self.found.rules[name.text] = _from_common(name.text)

    def _alternatives(self) -> Part:
        branches = [self._sequence()]
        while self._at_bar():
            self.at += 1
            branches.append(self._sequence())
        return tree.either(branches)

    def _at_bar(self) -> bool:
        """Whether `|` comes, on this line or the next."""
        at = self.at
        while self.tokens[at].kind == "line":
            at += 1
        if self.tokens[at].text == "|" or self.depth:
            self.at = at
        return self.tokens[at].text == "|"

    def _sequence(self) -> Part:
        parts: list[Part] = []
        while True:
            token = self.here
            if self.depth and token.kind == "line":
                self.at += 1
            elif token.kind in ("line", "end") or token.text in ("|", ")", "]"):
                return tree.sequence(parts)
            elif token.text == "->":
                self.at += 2
                return tree.sequence(parts)
            else:
                parts.append(self._repeated(self._atom(token)))

    def _atom(self, token: Token) -> Part:
        self.at += 1
        match token.kind:
            case "rule" | "terminal":
                return self._name(token)
            case "string":
                if self.here.text == ".." and self.tokens[self.at + 1].kind == "string":
                    self.at += 2
                    return span(token, self.tokens[self.at - 1])
                return literal(token)
            case "regexp":
                return regexp(token)
        if token.text not in ("(", "["):
            invalid(WHAT, f"{token.text!r} has no place here", token.at)
        self.depth += 1
        if self.depth > DEEPEST:
            raise ConstraintTooLarge(f"groups are nested deeper than {DEEPEST}")
        inner = self._alternatives()
        self._take(")" if token.text == "(" else "]")
        self.depth -= 1
        return inner if token.text == "(" else Repeat(inner, 0, 1)

    def _name(self, token: Token) -> Part:
        if self.here.text != "{":
            if token.text not in self.parameters:
                self.found.named.append(token)
            return Ref(token.text)
        arguments = []
        while self.here.text in ("{", ","):
            self.at += 1
            arguments.append(self._atom(self.here))
        self._take("}")
        alias = f"{token.text}{{{len(self.found.uses)}"
        self.found.uses[alias] = token.text, tuple(arguments), token.at
        return Ref(alias)

    def _repeated(self, part: Part) -> Part:
        token = self.here
        if token.text in _REPEATS:
            self.at += 1
            return Repeat(part, *_REPEATS[token.text])
        if token.text != "~":
            return part
        self.at += 1
        low, high = self._number(), None
        if self.here.text == "..":
            self.at += 1
            high = self._number()
        return Repeat(part, *counted(low, high, WHAT, token.at))

    def _number(self) -> str:
        token = self.here
        if token.kind != "number" or not token.text.isdigit():
            invalid(WHAT, "expected a number of times", token.at)
        self.at += 1
        return token.text


def _from_common(name: str) -> Part:
    """A common terminal with all it is made of."""
    return mapped(
        _common()[name], lambda leaf: _from_common(leaf.name) if isinstance(leaf, Ref) else leaf
    )
