"""Serialisation of a grammar as EBNF in xgrammar's syntax, for tests that compare masks with xgrammar's.

Does: write rules under generated names, characters as escapes, automata as rules of their own. Does not: change the
language.
"""

from intaglio.grammar.automata import Dfa
from intaglio.grammar.cfg.grammar_tree import (
    Either,
    Fixed,
    Grammar,
    Part,
    Ref,
    Repeat,
    Sequence,
    Text,
)
from intaglio.grammar.cfg.regular import class_sets
from intaglio.grammar.regex import regex_tree as rx
from intaglio.grammar.regex.charset import SURROGATES, Charset


def to_ebnf(grammar: Grammar) -> str:
    """The grammar as EBNF text with the start rule `root`."""
    return _Writer(grammar).text()


class _Writer:
    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.names = {name: f"r{i}" for i, name in enumerate(grammar.rules)}
        self.names[grammar.start] = "root"
        self.lines: list[str] = []
        self.automata: dict[bytes, str] = {}

    def text(self) -> str:
        for name, part in self.grammar.rules.items():
            self.lines.append(f"{self.names[name]} ::= {self._part(part)}")
        return "\n".join(self.lines) + "\n"

    def _part(self, part: Part) -> str:
        match part:
            case Text(pattern):
                return _pattern(pattern)
            case Fixed(dfa):
                return self._automaton(dfa)
            case Ref(name):
                return self.names[name]
            case Sequence(()):
                return '""'
            case Sequence(parts):
                return f"({' '.join(map(self._part, parts))})"
            case Either(parts):
                return f"({' | '.join(map(self._part, parts))})"
            case Repeat(inner, low, high):
                return f"({self._part(inner)}){_times(low, high)}"

    def _automaton(self, dfa: Dfa) -> str:
        """The start rule of an automaton, which is written as one right-recursive rule per state."""
        known = self.automata.get(dfa.fingerprint)
        if known is not None:
            return known
        prefix = f"a{len(self.automata)}_"
        self.automata[dfa.fingerprint] = prefix + "0"
        sets = class_sets(dfa)
        for state, row in enumerate(dfa.table.tolist()):
            branches = ['""'] if dfa.outcome[state] >= 0 else []
            branches += [
                f"{_chars(sets[c])} {prefix}{target}"
                for c, target in enumerate(row)
                if target >= 0 and _encodable(sets[c])
            ]
            self.lines.append(f"{prefix}{state} ::= {' | '.join(branches) or _chars(())}")
        return prefix + "0"


def _times(low: int, high: int | None) -> str:
    if (low, high) in ((0, None), (1, None), (0, 1)):
        return {(0, None): "*", (1, None): "+", (0, 1): "?"}[low, high]
    return f"{{{low},{'' if high is None else high}}}"


def _pattern(node: rx.Node) -> str:
    match node:
        case rx.Chars(charset):
            return _chars(charset)
        case rx.Concat(()):
            return '""'
        case rx.Concat(parts):
            return f"({' '.join(map(_pattern, parts))})"
        case rx.Alternation(parts):
            return f"({' | '.join(map(_pattern, parts))})"
        case rx.Repetition(part, low, high):
            return f"({_pattern(part)}){_times(low, high)}"
        case _:
            raise TypeError("look-around must be compiled before")


def _chars(charset: Charset) -> str:
    return f"[{''.join(_escaped(a) + '-' + _escaped(b) for a, b in _encodable(charset))}]"


def _escaped(point: int) -> str:
    return f"\\U{point:08x}"


def _encodable(charset: Charset) -> Charset:
    """The set without surrogates, which no text encoding can represent."""
    (low, high), *_ = SURROGATES
    pieces = (piece for a, b in charset for piece in ((a, min(b, low - 1)), (max(a, high + 1), b)))
    return tuple((a, b) for a, b in pieces if a <= b)
