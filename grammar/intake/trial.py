"""What an output would ask of an engine's steps, found out on trial before a constraint is admitted.

Does: go along a shortest output and along random ones, mask by mask, with the question whether a budget suffices, as a
request would; refuse what cannot be ended, what runs out of memory on the way, and what takes so long a token that
others would wait for it. Does not: judge outputs.
"""

import random
import time
from collections.abc import Callable
from typing import Final

import numpy as np

from ..contract.bitmask import MaskRow, empty_rows
from ..contract.errors import ConstraintTooLarge, Refusal
from ..contract.matcher import CompiledGrammar, Matcher

SLOW_S: Final = 0.02  # of processor time a token, on average over a walk
_MOST_SHORTEST: Final = 256  # tokens along a shortest output
_LEAST: Final = 24  # tokens of a random output
_MOST: Final = 96  # ... that takes more than `_CHEAP_S` a token
_CHEAP_S: Final = 0.002
_MOST_S: Final = 0.6  # of processor time for random outputs
_SEEDS: Final = 2
_TURN: Final = 12  # the tokens after which a way to the end is followed for a while
_WALKED: Final = 6  # tokens of it
_SPARE: Final = 48  # tokens of a budget above the least: too few to be sure without looking
_SMALLER: Final = "make it smaller or simpler: fewer alternatives, lower bounds, shorter patterns"

Clock = Callable[[], float]


def attempt(grammar: CompiledGrammar, width: int, clock: Clock = time.process_time) -> None:
    """Write a few outputs of a grammar whose shortest way to the end can be told.

    Raises:
        ConstraintTooLarge: they take too much, or none could be ended.
    """
    row = empty_rows(1, width)[0]
    matcher = grammar.matcher()
    closing = matcher.closing()
    matcher.fill(row)
    if closing is None:
        raise _refused("no output was found that ends", "ask for less at once")
    for token in closing[:_MOST_SHORTEST]:
        matcher.accept(token)
        matcher.fill(row)
    # What is met for the first time is learned: only what goes on being slow is refused.
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
        way = _picked(matcher, row, choose)
        if tokens == _TURN:
            way = (matcher.closing() or ())[:-1][:_WALKED]
        for token in way:
            matcher.accept(token)
            matcher.fill(row)
        tokens += len(way)
        if not way or matcher.finished or not matcher.closes_within(left - tokens):
            break
    taken = clock() - begun
    if tokens and taken > tokens * SLOW_S and taken > _LEAST * SLOW_S:
        reason = f"its outputs take {1000 * taken / tokens:.0f} ms of processor time a token"
        raise _refused(reason, _SMALLER)


def _picked(matcher: Matcher, row: MaskRow, choose: random.Random) -> tuple[int, ...]:
    """A random legal token; none where only the end is legal."""
    matcher.fill(row)
    legal = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
    return (int(legal[choose.randrange(len(legal))]),) if len(legal) else ()


def _refused(reason: str, hint: str) -> ConstraintTooLarge:
    return ConstraintTooLarge(f"{reason}; {hint}", (Refusal("", "", reason, hint),))
