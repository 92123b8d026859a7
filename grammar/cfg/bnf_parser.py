"""Base parser of grammars written `name ::= a b | c`: rules, alternatives and sequences.

Does: parse what GBNF (`ebnf`) and the notation of W3C (`w3c_ebnf`) have in common. Does not: parse parts.
"""

import re
from abc import ABC, abstractmethod

from ..contract.errors import ConstraintTooLarge
from . import grammar_tree as tree
from .grammar_tree import Part
from .scan import MOST_RULES, Token, TokenStream, invalid


class BnfParser(ABC):
    """Parses one source. `named` are the names of rules that its parts refer to."""

    def __init__(self, source: str, pattern: re.Pattern[str], dialect: str) -> None:
        self.scan = TokenStream(source, pattern, dialect)
        self.named: list[Token] = []
        self._dialect = dialect

    @abstractmethod
    def term(self) -> Part:
        """Take one part of a sequence, with its quantifiers."""

    def rules(self) -> dict[str, Part]:
        """All rules by name, in order.

        Raises:
            InvalidConstraint: not a grammar, with the offset.
            ConstraintTooLarge: too many rules, or nested too deep.
        """
        rules: dict[str, Part] = {}
        while self.scan.here.kind != "end":
            name = self.scan.here
            if not self._begins_rule():
                invalid(self._dialect, "expected the name of a rule and '::='", name.at)
            if name.text in rules:
                invalid(self._dialect, f"the rule {name.text!r} is defined twice", name.at)
            self.scan.take()
            self.scan.take()
            rules[name.text] = self.alternatives()
            if len(rules) > MOST_RULES:
                raise ConstraintTooLarge(f"a grammar may have {MOST_RULES} rules at most")
        for use in self.named:
            if use.text not in rules:
                invalid(self._dialect, f"the rule {use.text[:80]!r} is not defined", use.at)
        return rules

    def alternatives(self) -> Part:
        """Take sequences separated by `|`."""
        branches = [self._sequence()]
        while self.scan.skip("|"):
            branches.append(self._sequence())
        return tree.either(branches)

    def _begins_rule(self) -> bool:
        return self.scan.here.kind == "name" and self.scan.ahead.kind == "is"

    def _sequence(self) -> Part:
        parts: list[Part] = []
        while self.scan.here.kind != "end" and self.scan.here.text not in ("|", ")"):
            if self._begins_rule():
                break
            parts.append(self.term())
        return tree.sequence(parts)
