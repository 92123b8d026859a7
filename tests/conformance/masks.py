"""Our masks equal those of the oracle, bit for bit, and no masked path leads to a dead end.

Does: follow random outputs of one grammar and compare at each place. Does not: choose grammars (`samples`).
"""

import random
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
from intaglio.grammar.api import CompiledGrammar, GrammarError, Matcher, allowed_tokens, empty_rows
from intaglio.grammar.backends.native import NativeGrammar

from tests.conformance.oracle import Configuration, Interpreter, Tokens
from tests.conformance.tokens import Spelling

_REPEATS = 8


@dataclass
class Compared:
    """What came out for one grammar. `states`: places a mask leads to, each once, whose way to the end was followed."""

    pairs: int = 0
    states: int = 0
    wrong: list[str] = field(default_factory=list)


@dataclass
class Comparison:
    """One grammar of ours with the plain reading of its rules."""

    grammar: NativeGrammar
    spelling: Spelling
    tokens: Tokens
    found: Compared = field(default_factory=Compared)
    ended: set[Configuration] = field(default_factory=set)

    def walk(self, seed: str, steps: int) -> None:
        """Compare along one random output."""
        choose, oracle = random.Random(seed), self.oracle
        matcher, at, text = self.grammar.matcher(), oracle.start, b""
        for _ in range(steps):
            legal = self._compare(matcher, at, text)
            if legal is None:
                return
            inner = legal[legal < self.spelling.vocabulary.end_ids[0]]
            if not len(inner):
                return
            # Short tokens more often: they reach the places between words.
            few = [int(inner[choose.randrange(len(inner))]) for _ in range(3)]
            again = self._again(at, text, inner) if choose.random() < 0.2 else []
            token = min(again or few, key=lambda t: len(self.tokens.texts[t] or b""))
            matcher.accept(token)
            read = self.tokens.texts[token] or b""
            taken, at = oracle.read(at, text, read)
            assert taken
            text += read

    def _again(self, at: Configuration, text: bytes, legal: npt.NDArray[np.int64]) -> list[int]:
        """Tokens that write on what an earlier text has."""
        if at is None or not at.texts:
            return []
        piece, before = text[at.begun :], text[: at.begun]
        return [t for t in legal[:2000].tolist() if piece + (self.tokens.texts[t] or b"") in before]

    def __post_init__(self) -> None:
        self.oracle = Interpreter(self.grammar.machine.root)

    def _compare(
        self, matcher: Matcher, at: Configuration, text: bytes
    ) -> npt.NDArray[np.int64] | None:
        """The legal tokens; None where they differ."""
        width = self.spelling.vocabulary.width
        row = empty_rows(1, width)[0]
        row[:] = -1
        matcher.fill(row)
        ours = allowed_tokens(row, 32 * len(row))
        found = self.oracle.masks(at, text, self.tokens)
        theirs = np.sort(np.concatenate([*found.legal, np.zeros(0, np.int64)]))
        if self.oracle.can_end(at, text):
            theirs = np.append(theirs, self.spelling.vocabulary.end_ids)
        self.found.pairs += 1
        if not np.array_equal(ours, theirs):
            more, less = np.setdiff1d(ours, theirs), np.setdiff1d(theirs, ours)
            texts = [[self.tokens.texts[t] for t in part[:3]] for part in (more, less)]
            self.found.wrong.append(f"after {text!r}: too many {texts[0]}, missing {texts[1]}")
            return None
        if not len(ours):
            self.found.wrong.append(f"after {text!r}: nothing is legal")
            return None
        self._end_all(matcher, found.leads, text)
        if at is not None and at.texts:
            self._end_repeats(matcher, at, text, ours)
        return theirs

    def _end_repeats(
        self, matcher: Matcher, at: Configuration, text: bytes, legal: npt.NDArray[np.int64]
    ) -> None:
        """Where texts are compared, equal configurations are not equal places: try what repeats an earlier text."""
        assert at is not None
        piece, before = text[at.begun :], text[: at.begun]
        tries = 0
        for token in legal.tolist():
            more = self.tokens.texts[token] if token < len(self.tokens.texts) else None
            if more is None or piece + more not in before:
                continue
            fork = matcher.fork()
            fork.accept(token)
            wrong = end(fork, self.spelling)
            self.found.states += 1
            if wrong:
                self.found.wrong.append(f"after {text!r} + {more!r}, a repeat: {wrong}")
            tries += 1
            if tries == _REPEATS:
                return

    def _end_all(self, matcher: Matcher, leads: dict[Configuration, int], text: bytes) -> None:
        """From every place the mask leads to, go the way to the end."""
        for place, token in leads.items():
            if place in self.ended:
                continue
            if place is None or not place.texts:
                self.ended.add(place)
            fork = matcher.fork()
            fork.accept(token)
            wrong = end(fork, self.spelling)
            self.found.states += 1
            if wrong:
                self.found.wrong.append(f"after {text!r} + {self.tokens.texts[token]!r}: {wrong}")


def end(matcher: Matcher, spelling: Spelling) -> str:
    """What is wrong with the way to the end; empty if nothing is."""
    try:
        way = matcher.closing()
        if way is None:
            return "no way to the end"
        for token in way:
            matcher.accept(token)
    except GrammarError as error:
        return f"the way to the end: {error}"
    return "" if matcher.finished else "the way to the end does not end"


def compare(
    grammar: CompiledGrammar, spelling: Spelling, tokens: Tokens, name: str, walks: int, steps: int
) -> Compared:
    """Random outputs of one grammar of ours."""
    assert isinstance(grammar, NativeGrammar)
    comparison = Comparison(grammar, spelling, tokens)
    for number in range(walks):
        if not comparison.found.wrong:
            comparison.walk(f"{name} {number}", steps)
    return comparison.found
