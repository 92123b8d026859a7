"""Trial outputs: measures the work of a grammar in the engine's steps before its constraint is accepted.

Does: follow a shortest output and some random ones, mask by mask, with a check of the budget after each token, as a
request would; refuse grammars that cannot end or that take so much work per token that other requests would wait. Work
is counted (`contract.work`), not timed, so verdicts are the same on every machine. Running out of memory here is caught
by the worker. Does not: check outputs.
"""

import random
from typing import Final

import numpy as np

from ..contract.bitmask import MaskRow, empty_rows
from ..contract.errors import ConstraintTooLarge, Refusal
from ..contract.matcher import CompiledGrammar, Matcher
from ..contract.work import SMALLER, Meter, metered

SLOW: Final = 12_000  # refused above this work per token, on average over a walk
MOST_WORK: Final = 1_000_000  # of one examination
_MOST_SHORTEST: Final = 256  # bound on the tokens of the shortest output that are tried
_LEAST: Final = 24  # tokens of a random output
_MOST: Final = 96  # tokens of a random output that takes more than `_CHEAP` per token
_CHEAP: Final = 600
_MOST_TRIED: Final = 400_000  # work of all random outputs
_SEEDS: Final = 2  # number of random outputs
_TURN: Final = 12  # tokens after which a shortest completion is followed for a while
_WALKED: Final = 6  # tokens of that completion
_SPARE: Final = 48  # tokens of budget above the least: so few that `closes_within` has to search


def attempt(grammar: CompiledGrammar, width: int, slow: int = SLOW) -> None:
    """Write a few trial outputs of a grammar with a back end that can find shortest completions.

    `slow`: the most work per token.

    Raises:
        ConstraintTooLarge: the outputs take too much work, or no complete output was found.
    """
    with metered(MOST_WORK) as meter:
        _attempt(grammar, width, meter, slow)


def _attempt(grammar: CompiledGrammar, width: int, meter: Meter, slow: int) -> None:
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
    until = meter.total + _MOST_TRIED
    for seed in range(_SEEDS):
        _walk(grammar.matcher(), row, random.Random(seed), meter, until, slow)  # noqa: S311


def _walk(
    matcher: Matcher, row: MaskRow, choose: random.Random, meter: Meter, until: int, slow: int
) -> None:
    left = (matcher.least_tokens() or 0) + _SPARE
    begun, tokens = meter.total, 0
    while not matcher.finished and tokens < _MOST and meter.total < until:
        if tokens >= _LEAST and meter.total - begun < tokens * _CHEAP:
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
    taken = meter.total - begun
    if tokens and taken > tokens * slow and taken > _LEAST * slow:
        reason = f"its outputs take {taken // tokens} units of work per token, more than {slow}"
        raise _refused(reason, SMALLER)


def _picked(matcher: Matcher, row: MaskRow, choose: random.Random) -> tuple[int, ...]:
    """A random legal token; empty if only an end token is legal."""
    matcher.fill(row)
    legal = np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little"))
    return (int(legal[choose.randrange(len(legal))]),) if len(legal) else ()


def _refused(reason: str, hint: str) -> ConstraintTooLarge:
    return ConstraintTooLarge(f"{reason}; {hint}", (Refusal("", "", reason, hint),))
