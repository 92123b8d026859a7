"""Random outputs along the masks: any sequence of legal tokens must end as a valid document.

Does: draw one document of a grammar, token by token, so that it ends; judge the documents of a schema by an independent
validator. Does not: choose schemas (`run`).

A walk draws any legal token at first; now and then, and at last for good, it goes the shortest way to the end, so that
it sees more of a schema than the inside of its first string. What it takes is legal by the mask each time.
"""

import random
from dataclasses import dataclass, field
from functools import cache

import numpy as np
import numpy.typing as npt
from intaglio.grammar.api import (
    CompiledGrammar,
    ConstraintTooLarge,
    GrammarError,
    Matcher,
    empty_rows,
)

from tests.conformance.tokens import Spelling, shared
from tests.conformance.validator import Doubtful, exact, validator

LONG = 4096  # tokens of the least output, from which on one walk has to do
_BLOCKS = b'"{}[]:,0123456789-truefalsn\\'


class DeadEnd(Exception):
    """The masks led to a place where nothing is legal, or what is legal is refused."""


@dataclass
class Walked:
    """What became of the walks of one schema. `stopped`: ended by the bound on a grammar's memory."""

    walks: int = 0
    tokens: int = 0
    unended: int = 0
    stopped: int = 0
    faults: list[str] = field(default_factory=list)
    doubts: list[str] = field(default_factory=list)


@cache
def blocks(spelling: Spelling) -> npt.NDArray[np.bool_]:
    """Tokens of the signs that JSON is built with."""
    texts = spelling.vocabulary.tokens
    return np.array([t is not None and len(t) <= 5 and not set(t) - set(_BLOCKS) for t in texts])


def draw(grammar: CompiledGrammar, spelling: Spelling, seed: str) -> tuple[bytes, int, bool]:
    """(a random output, its tokens, whether it is complete).

    Raises:
        DeadEnd: see there.
    """
    vocabulary, choose = spelling.vocabulary, random.Random(seed)
    row = empty_rows(1, vocabulary.width)[0]
    matcher, text, count = grammar.matcher(), bytearray(), 0
    for _ in range(choose.randrange(2, 6)):
        for _ in range(choose.randrange(1, 25)):
            token = _any(matcher, row, spelling, choose)
            if token is None:
                return bytes(text), count, True
            text += vocabulary.tokens[token] or b""
            count += 1
        for token in (matcher.closing() or ())[: choose.randrange(12)]:
            _take(matcher, row, token)
            text += vocabulary.tokens[token] or b""
            count += 1
        if matcher.finished:
            return bytes(text), count, True
    for token in matcher.closing() or ():
        _take(matcher, row, token)
        text += vocabulary.tokens[token] or b""
        count += 1
    return bytes(text), count, matcher.finished


def _any(
    matcher: Matcher, row: npt.NDArray[np.int32], spelling: Spelling, choose: random.Random
) -> int | None:
    """A legal token, taken; None: it ended the output."""
    matcher.fill(row)
    width = spelling.vocabulary.width
    legal = np.unpackbits(row.view(np.uint8), bitorder="little")[:width].view(np.bool_)
    narrow = np.flatnonzero(legal & blocks(spelling)) if choose.random() < 0.5 else ()
    options = narrow if len(narrow) else np.flatnonzero(legal)
    if not len(options):
        raise DeadEnd("nothing is legal")
    token = int(options[choose.randrange(len(options))])
    matcher.accept(token)
    return None if matcher.finished else token


def _take(matcher: Matcher, row: npt.NDArray[np.int32], token: int) -> None:
    matcher.fill(row)
    if not row.view(np.uint32)[token // 32] >> np.uint32(token % 32) & np.uint32(1):
        raise DeadEnd(f"token {token} of the way to the end is not legal")
    matcher.accept(token)


def walk(grammar: CompiledGrammar, source: str, walks: int, seed: str) -> Walked:
    """Draw documents of a schema and judge them."""
    found, spelling, fault = Walked(), shared(), validator(exact(source))
    for number in range(walks):
        try:
            text, tokens, ended = draw(grammar, spelling, f"{seed} {number}")
        except ConstraintTooLarge:
            found.stopped += 1
            continue
        except (DeadEnd, GrammarError) as error:
            found.faults.append(f"{number}: {type(error).__name__}: {error}")
            continue
        found.walks += 1
        found.tokens += tokens
        if not ended:
            found.unended += 1
            continue
        try:
            broken = fault(exact(text.decode()))
        except ValueError as error:
            broken = f"not JSON: {error}"
        except Doubtful as error:
            found.doubts.append(f"{number}: {error}")
            continue
        if broken:
            found.faults.append(f"{number}: {broken}: {text.decode(errors='replace')[:300]}")
    return found
