"""Expands the states of rules before any text is read, so that refusals precede all output.

Does: follow every arc and every outcome of a call, breadth first, up to a number of states. Does not: keep what it
found, or look for anything: the languages refuse a state when it is expanded.
"""

from collections import deque
from collections.abc import Hashable, Iterator
from typing import Final

from ...automata import Dfa
from ...machine.rule import Call, Goto, Rule
from .value_rule import ValueRule

_MOST_STATES: Final = 2_000
_MOST_QUERIES: Final = 5


def explore(root: ValueRule) -> None:
    """Expand the states reachable from a rule, as many as there is time for.

    Raises:
        UnsupportedConstraint: a part of the schema cannot be enforced.
    """
    todo: deque[tuple[Rule, Hashable]] = deque([(root, root.start)])
    seen: set[tuple[Rule, Hashable]] = {todo[0]}
    while todo and len(seen) < _MOST_STATES:
        rule, key = todo.popleft()
        for state in _following(rule, key):
            if state not in seen and state[0].least(state[1]) is not None:
                seen.add(state)
                todo.append(state)


def _following(rule: Rule, key: Hashable) -> Iterator[tuple[Rule, Hashable]]:
    expansion = rule.expand(key)
    for _, target in expansion.arcs:
        if isinstance(target, Goto):
            yield rule, target.key
    calls = [call for _, call in expansion.calls]
    for call in (*calls, *(() if expansion.call is None else (expansion.call,))):
        if not isinstance(call.callee, Dfa):
            yield call.callee, call.callee.start
        for outcome in _outcomes(call):
            for is_repeat in (False, True)[: 1 + (call.same is not None)]:
                resumed = rule.resume(call.back, outcome, is_repeat)
                if isinstance(resumed, Goto):
                    yield rule, resumed.key


def _outcomes(call: Call) -> range | tuple[int, ...]:
    """The outcomes of a callee as far as they are known; those of a rule tell which of its queries hold."""
    if isinstance(call.callee, Dfa):
        return tuple(call.callee.outcomes if call.live is None else sorted(call.live))
    assert isinstance(call.callee, ValueRule)
    return range(1 << min(len(call.callee.queries), _MOST_QUERIES))
