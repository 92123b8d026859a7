"""Grammars in Lark's syntax: rules, terminals, templates, `%ignore`, `%import common`.

Does: text to tree, with what `%ignore` names allowed at the start and behind every terminal. Does not: lex. The grammar
is one over characters: a terminal is any text its pattern matches, not the longest, and no keyword is set apart from
names unless the patterns do it. Priorities and aliases change no language and are read over.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Final

from ..errors import ConstraintTooLarge
from ..regex import tree as rx
from ..regex.pattern import compile_tree
from . import tree
from .order import components
from .patterns import MOST_NODES, has_look, literal, regexp, span
from .scan import DEEPEST, MOST_RULES, Token, counted, invalid, tokens, unsupported
from .tree import Either, Fixed, Grammar, Part, Ref, Repeat, Sequence, Text

_WHAT: Final = "Lark"
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
_SKIP: Final = "%ignore"
_START: Final = "%start"
_MOST_INSTANCES: Final = 1024
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
    return _resolved(_Reader(source).run())


@dataclass(frozen=True, slots=True)
class _Template:
    """A rule with parameters."""

    parameters: tuple[str, ...]
    part: Part


@dataclass(slots=True)
class _Source:
    """What a source says, before names are looked up; `uses`: calls of templates, by the name that stands for them."""

    rules: dict[str, Part] = field(default_factory=dict)
    templates: dict[str, _Template] = field(default_factory=dict)
    uses: dict[str, tuple[str, tuple[Part, ...], int]] = field(default_factory=dict)
    ignored: list[Part] = field(default_factory=list)
    named: list[Token] = field(default_factory=list)


@cache
def _common() -> Mapping[str, Part]:
    return _Reader(_COMMON).run().rules


class _Reader:
    def __init__(self, source: str) -> None:
        self.tokens = tokens(source, _TOKEN, _WHAT)
        self.at = 0
        self.depth = 0
        self.parameters: tuple[str, ...] = ()
        self.found = _Source()

    @property
    def here(self) -> Token:
        return self.tokens[self.at]

    def run(self) -> _Source:
        while self.here.kind != "end":
            token = self.here
            if token.kind == "line":
                self.at += 1
            elif token.kind == "directive":
                self._directive(token)
            elif token.kind in ("rule", "terminal"):
                self._definition(token)
            else:
                invalid(_WHAT, f"{token.text!r} begins no rule", token.at)
            if len(self.found.rules) + len(self.found.templates) > MOST_RULES:
                raise ConstraintTooLarge(f"a grammar may have {MOST_RULES} rules at most")
        return self.found

    def _take(self, text: str) -> None:
        if self.here.text != text:
            invalid(_WHAT, f"expected {text!r}", self.here.at)
        self.at += 1

    def _end_of_line(self) -> None:
        if self.here.kind not in ("line", "end"):
            invalid(_WHAT, f"{self.here.text!r} has no place here", self.here.at)

    def _definition(self, token: Token) -> None:
        self.at += 1
        name = token.text.lstrip("?!")
        if name in self.found.rules or name in self.found.templates:
            invalid(_WHAT, f"{name!r} is defined twice", token.at)
        if self.here.text == "{":
            self.parameters = tuple(t.text for t in self._listed("{", "}"))
        if self.here.text == ".":
            self.at += 2
        self._take(":")
        part = self._alternatives()
        self._end_of_line()
        if self.parameters:
            self.found.templates[name] = _Template(self.parameters, part)
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
                invalid(_WHAT, "expected a name", name.at)
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
                invalid(_WHAT, f"{token.text!r} is not known", token.at)
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
            invalid(_WHAT, f"{token.text!r} has no place here", token.at)
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
        return Repeat(part, *counted(low, high, _WHAT, token.at))

    def _number(self) -> str:
        token = self.here
        if token.kind != "number" or not token.text.isdigit():
            invalid(_WHAT, "expected a number of times", token.at)
        self.at += 1
        return token.text


def _from_common(name: str) -> Part:
    """A common terminal with all it is made of."""
    return _mapped(
        _common()[name], lambda leaf: _from_common(leaf.name) if isinstance(leaf, Ref) else leaf
    )


def _mapped(part: Part, leaf: Callable[[Part], Part]) -> Part:
    """The part with everything below its sequences, branches and repeats replaced."""
    match part:
        case Sequence(parts):
            return Sequence(tuple(_mapped(p, leaf) for p in parts))
        case Either(parts):
            return Either(tuple(_mapped(p, leaf) for p in parts))
        case Repeat(inner, low, high):
            return Repeat(_mapped(inner, leaf), low, high)
        case _:
            return leaf(part)


def _resolved(found: _Source) -> Grammar:
    """The grammar that a source says."""
    rules = _instantiated(found)
    for use in found.named:
        if use.text not in rules:
            invalid(_WHAT, f"{use.text[:80]!r} is not defined", use.at)
    if "start" not in rules:
        invalid(_WHAT, "there is no rule 'start'", 0)
    terminals = {name: part for name, part in rules.items() if name.lstrip("_")[0].isupper()}
    if found.ignored:
        terminals[_SKIP] = Repeat(tree.either(found.ignored), 0, None)
    plain = _terminals(terminals)
    if not found.ignored:
        return Grammar(
            {name: plain.get(name) or _alone(part) for name, part in rules.items()}, "start"
        )

    def followed(leaf: Part) -> Part:
        own = isinstance(leaf, Text | Fixed) or (isinstance(leaf, Ref) and leaf.name in terminals)
        return Sequence((leaf, Ref(_SKIP))) if own else leaf

    all_rules = {
        name: plain.get(name) or _mapped(_alone(part), followed) for name, part in rules.items()
    }
    all_rules |= {_SKIP: plain[_SKIP], _START: Sequence((Ref(_SKIP), Ref("start")))}
    return Grammar(all_rules, _START)


def _instantiated(found: _Source) -> dict[str, Part]:
    """All rules, with one for each list of arguments that a template is called with.

    Raises:
        ConstraintTooLarge: a template that calls itself with ever new arguments.
    """
    made: dict[tuple[str, tuple[Part, ...]], str] = {}
    waiting: list[tuple[str, tuple[Part, ...]]] = []

    def bound(part: Part, arguments: Mapping[str, Part]) -> Part:
        def leaf(part: Part) -> Part:
            if not isinstance(part, Ref):
                return part
            if part.name in arguments:
                return arguments[part.name]
            if part.name not in found.uses:
                return part
            name, given, at = found.uses[part.name]
            template = found.templates.get(name)
            if template is None or len(template.parameters) != len(given):
                invalid(_WHAT, f"there is no template {name!r} with {len(given)} parameters", at)
            key = name, tuple(bound(argument, arguments) for argument in given)
            if key not in made:
                if len(made) >= _MOST_INSTANCES:
                    raise ConstraintTooLarge(
                        f"templates are used in more than {_MOST_INSTANCES} ways"
                    )
                made[key] = f"{name}{{{len(made)}}}"
                waiting.append(key)
            return Ref(made[key])

        return _mapped(part, leaf)

    rules = {name: bound(part, {}) for name, part in found.rules.items()}
    found.ignored = [bound(part, {}) for part in found.ignored]
    while waiting:
        key = waiting.pop()
        template = found.templates[key[0]]
        rules[made[key]] = bound(template.part, dict(zip(template.parameters, key[1], strict=True)))
    return rules


def _alone(part: Part) -> Part:
    """Patterns with look-around as automata."""

    def leaf(part: Part) -> Part:
        looks = isinstance(part, Text) and has_look(part.tree)
        return Fixed(compile_tree(part.tree)) if looks and isinstance(part, Text) else part

    return _mapped(part, leaf)


def _terminals(terminals: Mapping[str, Part]) -> dict[str, Part]:
    """Terminals without look-around: what looks around is made an automaton as a whole, as it looks at all of it."""
    looking: set[str] = set()
    edges = {name: tuple(tree.refs(part)) for name, part in terminals.items()}
    for name, used in edges.items():
        for other in used:
            if other not in terminals:
                invalid(_WHAT, f"the terminal {name!r} uses the rule {other!r}", 0)
    for members in components(edges):
        name = members[0]
        if len(members) > 1 or name in edges[name]:
            invalid(_WHAT, f"the terminal {name!r} uses itself", 0)
        texts = (part.tree for part in tree.walk(terminals[name]) if isinstance(part, Text))
        if any(map(has_look, texts)) or looking.intersection(edges[name]):
            looking.add(name)
    plain = dict(terminals)
    for name in looking:
        budget = [MOST_NODES]
        plain[name] = Fixed(compile_tree(_as_pattern(terminals[name], terminals, budget)))
    return plain


def _as_pattern(part: Part, terminals: Mapping[str, Part], budget: list[int]) -> rx.Node:
    """A terminal with all it uses as one pattern."""
    budget[0] -= 1
    if budget[0] < 0:
        raise ConstraintTooLarge("a terminal with look-around is too large")
    match part:
        case Text(pattern):
            return pattern
        case Ref(name):
            return _as_pattern(terminals[name], terminals, budget)
        case Sequence(parts):
            return rx.Sequence(tuple(_as_pattern(p, terminals, budget) for p in parts))
        case Either(parts):
            return rx.Either(tuple(_as_pattern(p, terminals, budget) for p in parts))
        case Repeat(_, _, 0):
            return rx.EMPTY
        case Repeat(inner, low, high):
            return rx.Repeat(_as_pattern(inner, terminals, budget), low, high)
        case _:
            raise TypeError("automata come last")
