"""Trial outputs: measures the cost of a grammar in the engine's steps before its constraint is accepted.

Does: follow a shortest output and some random ones, mask by mask, with a check of the budget after each token, as a
request would; refuse grammars that cannot end or that take so long per token that other requests would wait. Running
out of memory here is caught by the worker. Does not: check outputs.
"""

import random
import time
from collections.abc import Callable
from typing import Final

import numpy as np

from ..contract.bitmask import MaskRow, empty_rows
from ..contract.errors import ConstraintTooLarge, Refusal
from ..contract.matcher import CompiledGrammar, Matcher

SLOW_S: Final = 0.02  # refused above this processor time per token, on average over a walk
_MOST_SHORTEST: Final = 256  # bound on the tokens of the shortest output that are tried
_LEAST: Final = 24  # tokens of a random output
_MOST: Final = 96  # tokens of a random output that takes more than `_CHEAP_S` per token
_CHEAP_S: Final = 0.002
_MOST_S: Final = 0.6  # processor time for all random outputs
_SEEDS: Final = 2  # number of random outputs
_TURN: Final = 12  # tokens after which a shortest completion is followed for a while
_WALKED: Final = 6  # tokens of that completion
_SPARE: Final = 48  # tokens of budget above the least: so few that `closes_within` has to search
_SMALLER: Final = "make it smaller or simpler: fewer alternatives, lower bounds, shorter patterns"

Clock = Callable[[], float]


def attempt(grammar: CompiledGrammar, width: int, clock: Clock = time.process_time) -> None:
    """Write a few trial outputs of a grammar with a back end that can find shortest completions.

    Raises:
        ConstraintTooLarge: the outputs take too long, or no complete output was found.
    """
    row = empty_rows(1, width)[0]
    matcher = grammar.matcher()
    closing = matcher.closing()
    matcher.fill(row)
    if closing is None:
        raise _refused("no complete output was found", "split the constraint into smaller ones")
    for token in closing[:_MOST_SHORTEST]:
        matcher.accept(token)
        matcher.fill(row)
    # First visits are slow because tables are expanded; a grammar is refused only if it stays slow.
    until = clock() + _MOST_S
    for seed in range(_SEEDS):
        _walk(grammar.matcher(), row, random.Random(seed), clock, until)  # noqa: S311


def _walk(
    matcher: Matcher, row: MaskRow, choose: random.Random, clock: Clock, until: float
) -> None:
    left = (matcher.least_tokens() or 0) + _SPARE
    begun, tokens = clock(), 0
    while not matcher.finished and tokens < _MOST and clock() < until:
        if tokens >= _LEAST and clock() - begun < tokens * _CHEAP_S:
            return
        chosen = _picked(matcher, row, choose)
        if tokens == _TURN:
            chosen = (matcher.closing() or ())[:-1][:_WALKED]
        for token in chosen:
            matcher.accept(token)
            matcher.fill(row)
        tokens += len(chosen)
        if not chosen or matcher.finished or not matcher.closes_within(left - tokens):
            break
    taken = clock() - begun
    if tokens and taken > tokens * SLOW_S and taken > _LEAST * SLOW_S:
        reason = f"its outputs take {1000 * taken / tokens:.0f} ms of processor time per token"
        raise _refused(reason, _SMALLER)


def _picked(matcher: Matcher, row: MaskRow, choose: random.Random) -> tuple[int, ...]:
    """A random legal token; empty if only an end token is legal."""
    matcher.fill(row)
    legal = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
    return (int(legal[choose.randrange(len(legal))]),) if len(legal) else ()


def _refused(reason: str, hint: str) -> ConstraintTooLarge:
    return ConstraintTooLarge(f"{reason}; {hint}", (Refusal("", "", reason, hint),))
