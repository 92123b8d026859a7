"""Parser of grammars in Lark's syntax: rules, terminals, templates, `%ignore`, `%import` of `common` and `ready`.

Does: turn text into a tree, with `%ignore` allowed at the start and after every terminal. Does not: lex. The grammar is
over characters: a terminal is any text that its pattern matches, not only the longest, and keywords are not reserved
unless the patterns exclude them. Priorities and aliases do not change the language and are ignored.
"""

import re
from collections.abc import Mapping
from functools import cache
from typing import Final

from ..contract.errors import ConstraintTooLarge
from . import grammar_tree as tree
from .definitions import LarkSource, Template, TemplateCall, mapped, resolved
from .grammar_tree import Grammar, Part, Ref, Repeat
from .ready_grammars import READY, ready_source
from .scan import MOST_RULES, QUANTIFIERS, Token, TokenStream, counted, invalid, unsupported
from .terminals import DIALECT, literal, regexp, span

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
_NAMES: Final = ("rule", "terminal")
_CLOSING: Final = {"(": ")", "[": "]"}
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
        UnsupportedConstraint: a construct that cannot be enforced.
        ConstraintTooLarge: too many rules or template instances, or nested too deep.
    """
    return resolved(_Reader(source).run())


@cache
def _common() -> Mapping[str, Part]:
    return _Reader(_COMMON).run().rules


class _Reader:
    """Parser of rules, terminals and directives."""

    def __init__(self, source: str) -> None:
        self.scan = TokenStream(source, _TOKEN, DIALECT)
        self.found = LarkSource()

    def run(self) -> LarkSource:
        while self.scan.here.kind != "end":
            token = self.scan.take()
            if token.kind == "directive":
                self._directive(token)
            elif token.kind in _NAMES:
                self._definition(token)
            elif token.kind != "line":
                invalid(DIALECT, f"{token.text!r} begins no rule", token.at)
            if len(self.found.rules) + len(self.found.templates) > MOST_RULES:
                raise ConstraintTooLarge(f"a grammar may have {MOST_RULES} rules at most")
        return self.found

    def _definition(self, token: Token) -> None:
        name = token.text.lstrip("?!")
        if name in self.found.rules or name in self.found.templates:
            invalid(DIALECT, f"{name!r} is defined twice", token.at)
        parameters: tuple[str, ...] = ()
        if self.scan.skip("{"):
            parameters = tuple(t.text for t in self._names("}"))
        if self.scan.skip("."):
            self._take("number", "a priority")
        self.scan.expect(":")
        part = self._side(parameters)
        if parameters:
            self.found.templates[name] = Template(parameters, part)
        else:
            self.found.rules[name] = part

    def _side(self, parameters: tuple[str, ...] = ()) -> Part:
        """The right-hand side of a definition, up to the end of the line."""
        part = _Side(self.scan, self.found, parameters).alternatives()
        self._end_of_line()
        return part

    def _end_of_line(self) -> None:
        if self.scan.here.kind not in ("line", "end"):
            invalid(DIALECT, f"{self.scan.here.text!r} has no place here", self.scan.here.at)

    def _take(self, kind: str, expected: str) -> Token:
        if self.scan.here.kind != kind:
            invalid(DIALECT, f"expected {expected}", self.scan.here.at)
        return self.scan.take()

    def _name(self) -> Token:
        if self.scan.here.kind not in _NAMES:
            invalid(DIALECT, "expected a name", self.scan.here.at)
        return self.scan.take()

    def _names(self, closing: str) -> list[Token]:
        """A comma-separated list of names."""
        names = [self._name()]
        while self.scan.skip(","):
            names.append(self._name())
        self.scan.expect(closing)
        return names

    def _directive(self, token: Token) -> None:
        match token.text:
            case "%ignore":
                self.found.ignored.append(self._side())
            case "%import":
                self._import(token)
            case "%declare" | "%override" | "%extend":
                reason = "the definition it refers to is not part of the source"
                unsupported(token.text, reason, "write the rule out", token.at)
            case _:
                invalid(DIALECT, f"{token.text!r} is not known", token.at)

    def _import(self, token: Token) -> None:
        if self.scan.here.text not in ("common", "ready"):
            hint = "import from `common` or `ready`, or copy the rule"
            unsupported("%import", "files are never read", hint, token.at)
        library = self.scan.take().text
        if self.scan.skip("."):
            names = [self._name()]
            aliases = [self._name() if self.scan.skip("->") else names[0]]
        else:
            self.scan.expect("(")
            aliases = names = self._names(")")
        self._end_of_line()
        for name, alias in zip(names, aliases, strict=True):
            known = _common() if library == "common" else READY
            if name.text not in known:
                hint = f"it has {', '.join(sorted(known))}"
                unsupported("%import", f"`{library}` has no {name.text[:40]!r}", hint, name.at)
            if library == "common":
                self.found.rules[alias.text] = _from_common(name.text)
            elif alias.kind == "terminal":
                reason = (
                    f"a ready grammar is a rule: write {alias.text.lower()[:40]!r} in lower case"
                )
                invalid(DIALECT, reason, alias.at)
            else:
                self.found.rules |= _from_ready(name.text)
                self.found.rules[alias.text] = Ref(f"start.{name.text}")


class _Side:
    """Parser of a right-hand side. `parameters`: the names of template parameters."""

    def __init__(self, scan: TokenStream, found: LarkSource, parameters: tuple[str, ...]) -> None:
        self.scan = scan
        self.found = found
        self.parameters = parameters

    def alternatives(self) -> Part:
        branches = [self._sequence()]
        while self._at_bar():
            self.scan.take()
            branches.append(self._sequence())
        return tree.either(branches)

    def _at_bar(self) -> bool:
        """Whether `|` is next, on this line or the following one."""
        if self.scan.here.kind == "line" and (self.scan.depth or self.scan.ahead.text == "|"):
            self.scan.take()
        return self.scan.here.text == "|"

    def _sequence(self) -> Part:
        parts: list[Part] = []
        while True:
            token = self.scan.here
            if self.scan.depth and token.kind == "line":
                self.scan.take()
            elif token.kind in ("line", "end") or token.text in ("|", ")", "]"):
                return tree.sequence(parts)
            elif self.scan.skip("->"):
                self.scan.take()
                return tree.sequence(parts)
            else:
                parts.append(self._repeated(self._atom()))

    def _atom(self) -> Part:
        token = self.scan.take()
        match token.kind:
            case "rule" | "terminal":
                return self._name(token)
            case "string" if self.scan.here.text == ".." and self.scan.ahead.kind == "string":
                self.scan.take()
                return span(token, self.scan.take())
            case "string":
                return literal(token)
            case "regexp":
                return regexp(token)
        if token.text not in _CLOSING:
            invalid(DIALECT, f"{token.text!r} has no place here", token.at)
        inner = self.scan.group(token, _CLOSING[token.text], self.alternatives)
        return inner if token.text == "(" else Repeat(inner, 0, 1)

    def _name(self, token: Token) -> Part:
        if self.scan.here.text != "{":
            if token.text not in self.parameters:
                self.found.named.append(token)
            return Ref(token.text)
        arguments = []
        while self.scan.here.text in ("{", ","):
            self.scan.take()
            arguments.append(self._atom())
        self.scan.expect("}")
        alias = f"{token.text}{{{len(self.found.uses)}"
        self.found.uses[alias] = TemplateCall(token.text, tuple(arguments), token.at)
        return Ref(alias)

    def _repeated(self, part: Part) -> Part:
        token = self.scan.here
        if token.text in QUANTIFIERS:
            self.scan.take()
            return Repeat(part, *QUANTIFIERS[token.text])
        if not self.scan.skip("~"):
            return part
        low = self._number()
        high = self._number() if self.scan.skip("..") else None
        return Repeat(part, *counted(low, high, DIALECT, token.at))

    def _number(self) -> str:
        token = self.scan.take()
        if token.kind != "number" or not token.text.isdigit():
            invalid(DIALECT, "expected a number of times", token.at)
        return token.text


def _from_common(name: str) -> Part:
    """A common terminal with its references expanded."""
    return mapped(
        _common()[name], lambda leaf: _from_common(leaf.name) if isinstance(leaf, Ref) else leaf
    )


@cache
def _from_ready(name: str) -> Mapping[str, Part]:
    """The rules of a ready grammar. `.name` follows the name of each: a source cannot write such names."""
    rules = _Reader(ready_source(name) or "").run().rules

    def renamed(leaf: Part) -> Part:
        # The names of a grammar that this one imports are qualified already.
        if isinstance(leaf, Ref) and "." not in leaf.name:
            return Ref(f"{leaf.name}.{name}")
        return leaf

    return {
        rule if "." in rule else f"{rule}.{name}": mapped(part, renamed)
        for rule, part in rules.items()
    }
