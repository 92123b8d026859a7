"""Removal of useless rules and branches from a grammar, and the fewest bytes of each rule.

Does: compute shortest lengths; remove rules and branches that can never end or are never reached. Does not: build
automata (`flat`).
"""

from collections.abc import Mapping
from typing import Final

from ..contract.errors import Refusal, Unsatisfiable
from ..regex import charset as cs
from ..regex import regex_tree as rx
from . import grammar_tree as tree
from .grammar_tree import EMPTY, Either, Fixed, Grammar, Part, Ref, Repeat, Sequence, Text
from .order import reachable

ENDLESS: Final = 1 << 40  # length of a rule without a finite text


def trim(grammar: Grammar) -> tuple[Grammar, dict[str, int]]:
    """(the grammar without useless rules and branches, for each rule its fewest bytes).

    Raises:
        Unsatisfiable: no text can be derived from the start rule.
    """
    least = fewest_bytes(grammar)
    if least[grammar.start] >= ENDLESS:
        reason = "no text can be derived from this rule"
        refusal = Refusal(grammar.start, "rule", reason, "give it a branch that ends")
        raise Unsatisfiable(f"no text can be derived from the rule {grammar.start!r}", (refusal,))
    kept = {
        name: _pruned(part, least) for name, part in grammar.rules.items() if least[name] < ENDLESS
    }
    used = reachable(grammar.start, {name: tuple(tree.refs(part)) for name, part in kept.items()})
    rules = {name: part for name, part in kept.items() if name in used}
    return Grammar(rules, grammar.start, grammar.kept & used), {n: least[n] for n in rules}


def fewest_bytes(grammar: Grammar) -> dict[str, int]:
    """For each rule, the length of its shortest text in bytes; `ENDLESS` if it has none."""
    users: dict[str, list[str]] = {name: [] for name in grammar.rules}
    for name, part in grammar.rules.items():
        for used in set(tree.refs(part)):
            users[used].append(name)
    least = dict.fromkeys(grammar.rules, ENDLESS)
    waiting = list(grammar.rules)
    queued = set(waiting)
    while waiting:
        name = waiting.pop()
        queued.discard(name)
        found = cost(grammar.rules[name], least)
        if found < least[name]:
            least[name] = found
            fresh = [user for user in users[name] if user not in queued]
            waiting.extend(fresh)
            queued.update(fresh)
    return least


def cost(part: Part, least: Mapping[str, int]) -> int:
    """The fewest bytes of a part, given the fewest bytes of rules."""
    match part:
        case Text(pattern):
            return _text_cost(pattern)
        case Fixed(dfa):
            # Counted in code points: enough to detect empty languages and empty texts.
            return ENDLESS if dfa.empty else int(dfa.distance[0])
        case Ref(name):
            return least[name]
        case Sequence(parts):
            return min(ENDLESS, sum(cost(p, least) for p in parts))
        case Either(parts):
            return min((cost(p, least) for p in parts), default=ENDLESS)
        case Repeat(inner, low, _):
            return min(ENDLESS, low * cost(inner, least)) if low else 0


def _text_cost(node: rx.Node) -> int:
    match node:
        case rx.Chars(charset):
            return min((_bytes(low, high) for low, high in charset), default=ENDLESS)
        case rx.Concat(parts):
            return min(ENDLESS, sum(map(_text_cost, parts)))
        case rx.Alternation(parts):
            return min(map(_text_cost, parts), default=ENDLESS)
        case rx.Repetition(part, low, _):
            return min(ENDLESS, low * _text_cost(part)) if low else 0
        case _:
            raise TypeError("look-around must be compiled before")


def _bytes(low: int, high: int) -> int:
    """The fewest bytes of a character in a closed range; surrogates have none."""
    first, last = cs.SURROGATES[0]
    if first <= low and high <= last:
        return ENDLESS
    return 1 if low < 0x80 else 2 if low < 0x800 else 3 if low < 0x10000 else 4


def _pruned(part: Part, least: Mapping[str, int]) -> Part:
    """The part without branches that can never end; at least one branch can."""
    match part:
        case Sequence(parts):
            return Sequence(tuple(_pruned(p, least) for p in parts))
        case Either(parts):
            return tree.either([_pruned(p, least) for p in parts if cost(p, least) < ENDLESS])
        case Repeat(inner, low, high):
            if high == 0 or cost(inner, least) >= ENDLESS:
                return EMPTY
            return Repeat(_pruned(inner, least), low, high)
        case _:
            return part
