"""The contents of structural tags, compiled: automata that are read in place, and rules that are called.

Does: compile each content, move the places in its errors into the structural tag, and tell which bytes a rule begins
with and could go on with after its end. Does not: combine contents (`tag_rules`).
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final

from ..automata import Dfa, Spelling, encode
from ..cfg import ebnf, enforce, lark
from ..cfg.form import GrammarLeaf, Mask
from ..contract.constraint import Whitespace
from ..contract.errors import GrammarError, Refusal, Unsatisfiable, UnsupportedConstraint
from ..jsonschema.read.values import Json
from ..machine.rule import Rule
from ..regex import whole_extended
from .tag_tree import Content

# With these bytes a number continues; every other JSON value ends with a byte of its own.
_OF_NUMBERS: Final = sum(1 << byte for byte in b"0123456789+-.eE")
_BEGIN_NUMBERS: Final = sum(1 << byte for byte in b"-0123456789")

SchemaRule = Callable[[Json, Whitespace | None], Rule]


@dataclass(frozen=True, slots=True)
class RuleContent:
    """A content that is called: the bytes it begins with, and those that could continue one of its whole texts."""

    rule: Rule
    first: Mask
    tail: Mask = 0
    nullable: bool = False


@dataclass(slots=True)
class Contents:
    """The compiled contents of one structural tag. `schema` makes the rule of a JSON Schema with its white space."""

    schema: SchemaRule
    _known: dict[Content, GrammarLeaf | RuleContent] = field(default_factory=dict)
    _rules: dict[str, RuleContent] = field(default_factory=dict)

    def compiled(self, content: Content) -> GrammarLeaf | RuleContent:
        """The automaton or rule of a content.

        Raises:
            GrammarError: the content cannot be enforced; the places are in the source of the structural tag.
        """
        if content not in self._known:
            try:
                self._known[content] = self._compile(content)
            except GrammarError as error:
                raise _moved(error, content.where) from error
        return self._known[content]

    def rule(self, content: Content) -> RuleContent:
        """The rule of a content that is called."""
        found = self.compiled(content)
        assert isinstance(found, RuleContent)
        return found

    def follow(self, content: Content, following: Mask) -> None:
        """Compile a grammar again, now that the bytes that may follow it are known.

        Raises:
            UnsupportedConstraint: one of these bytes could also continue the content.
        """
        found = self.rule(content)
        if content.kind == "json_schema":
            if found.tail & following:
                raise _refused(content, "a number could continue with the text after it")
        elif following:
            again = self._grammar(content, following)
            assert isinstance(again, RuleContent)
            self._known[content] = again

    def _compile(self, content: Content) -> GrammarLeaf | RuleContent:
        if content.kind == "json_schema":
            key = f"{content.whitespace} {json.dumps(content.value, default=str)}"
            if key not in self._rules:
                rule = self.schema(content.value, content.whitespace)
                first = first_bytes(rule)
                self._rules[key] = RuleContent(
                    rule, first, _OF_NUMBERS if first & _BEGIN_NUMBERS else 0
                )
            return self._rules[key]
        if content.kind == "regex":
            automaton = encode(whole_extended(str(content.value)), Spelling.UTF8)
            if automaton.empty:
                raise Unsatisfiable("no text matches the pattern")
            return GrammarLeaf(automaton)
        return self._grammar(content, 0)

    @staticmethod
    def _grammar(content: Content, following: Mask) -> GrammarLeaf | RuleContent:
        source = str(content.value)
        tree = lark.parse(source) if content.kind == "lark" else ebnf.parse(source)
        found = enforce.enforce(tree, following)
        if isinstance(found, Dfa):
            return GrammarLeaf(found)
        if isinstance(found, enforce.NondeterministicGrammar):
            raise _refused(content, found.reason)
        start = found.expand(found.start)
        return RuleContent(found, first_bytes(found), nullable=start.outcome is not None)


def _refused(content: Content, reason: str) -> UnsupportedConstraint:
    hint = "put a fixed text after the content that it cannot go on with"
    if content.kind != "json_schema":
        hint = "inside a structural tag, one byte must always decide how a grammar goes on"
    refusal = Refusal(content.where, content.kind, reason, hint)
    return UnsupportedConstraint(f"{content.where}: {reason}", (refusal,))


def _moved(error: GrammarError, where: str) -> GrammarError:
    """The error of a content, with places in the structural tag."""
    moved = tuple(
        refusal
        if refusal.where.startswith(where)
        else replace(refusal, where=_joined(where, refusal.where))
        for refusal in error.refusals
    )
    message = error.message if error.message.startswith(where) else f"{where}: {error.message}"
    return type(error)(message, moved)


def _joined(where: str, inner: str) -> str:
    return where + inner if not inner or inner.startswith("/") else f"{where}, {inner}"


def first_bytes(callee: Rule | Dfa) -> Mask:
    """The bytes that a text may begin with."""
    if isinstance(callee, Dfa):
        return GrammarLeaf(callee).first
    moves = callee.expand(callee.start)
    mask = 0
    for taken, _ in (*moves.arcs, *moves.calls):
        for byte in taken:
            mask |= 1 << byte
    if moves.call is not None:
        mask |= first_bytes(moves.call.callee)
    return mask
