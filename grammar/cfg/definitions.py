"""The definitions of a Lark source, with names resolved.

Does: instantiate templates, compile patterns with look-around to automata, append the `%ignore` part to every terminal.
Does not: parse text (`lark`).
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from ..contract.errors import ConstraintTooLarge
from ..regex import regex_tree as rx
from . import grammar_tree as tree
from .grammar_tree import Either, Fixed, Grammar, Part, Ref, Repeat, Sequence, Text
from .order import components
from .scan import Token, invalid
from .terminals import DIALECT, MOST_NODES, compiled, has_look

_SKIP: Final = "%ignore"
_START: Final = "%start"
_MOST_INSTANCES: Final = 1024


@dataclass(frozen=True, slots=True)
class Template:
    """A rule with parameters."""

    parameters: tuple[str, ...]
    part: Part


class TemplateCall(NamedTuple):
    """A call of a template at an offset of the source."""

    template: str
    arguments: tuple[Part, ...]
    at: int


@dataclass(slots=True)
class LarkSource:
    """The content of a source before names are resolved.

    `uses`: calls of templates, by placeholder name; `ignored`: the parts of `%ignore` directives; `named`: the
    references to rules and terminals.
    """

    rules: dict[str, Part] = field(default_factory=dict)
    templates: dict[str, Template] = field(default_factory=dict)
    uses: dict[str, TemplateCall] = field(default_factory=dict)
    ignored: list[Part] = field(default_factory=list)
    named: list[Token] = field(default_factory=list)


def mapped(part: Part, leaf: Callable[[Part], Part]) -> Part:
    """The part with `leaf` applied to everything below its sequences, branches and repeats."""
    match part:
        case Sequence(parts):
            return Sequence(tuple(mapped(p, leaf) for p in parts))
        case Either(parts):
            return Either(tuple(mapped(p, leaf) for p in parts))
        case Repeat(inner, low, high):
            return Repeat(mapped(inner, leaf), low, high)
        case _:
            return leaf(part)


def resolved(found: LarkSource) -> Grammar:
    """The grammar of a parsed source.

    Raises:
        InvalidConstraint: a name is undefined; a terminal uses a rule or itself.
        ConstraintTooLarge: too many template instances; a terminal with look-around is too large.
    """
    rules, ignored = _with_template_instances(found)
    for use in found.named:
        if use.text not in rules:
            invalid(DIALECT, f"{use.text[:80]!r} is not defined", use.at)
    if "start" not in rules:
        invalid(DIALECT, "there is no rule 'start'", 0)
    terminals = {name: part for name, part in rules.items() if name.lstrip("_")[0].isupper()}
    if ignored:
        terminals[_SKIP] = Repeat(tree.either(ignored), 0, None)
    plain = _terminals(terminals)
    compiled_rules = {
        name: plain.get(name) or _looks_compiled(part) for name, part in rules.items()
    }
    if not ignored:
        return Grammar(compiled_rules, "start")

    def followed(leaf: Part) -> Part:
        own = isinstance(leaf, Text | Fixed) or (isinstance(leaf, Ref) and leaf.name in terminals)
        return Sequence((leaf, Ref(_SKIP))) if own else leaf

    all_rules = {
        name: part if name in plain else mapped(part, followed)
        for name, part in compiled_rules.items()
    }
    all_rules |= {_SKIP: plain[_SKIP], _START: Sequence((Ref(_SKIP), Ref("start")))}
    return Grammar(all_rules, _START)


def _with_template_instances(found: LarkSource) -> tuple[dict[str, Part], list[Part]]:
    """(all rules, with one for each distinct call of a template; the ignored parts).

    Raises:
        ConstraintTooLarge: too many distinct calls, as of a template that calls itself with ever new arguments.
    """
    made: dict[tuple[str, tuple[Part, ...]], str] = {}
    waiting: list[tuple[str, tuple[Part, ...]]] = []

    def bound(part: Part, arguments: Mapping[str, Part]) -> Part:
        def leaf(part: Part) -> Part:
            if not isinstance(part, Ref):
                return part
            if part.name in arguments:
                return arguments[part.name]
            if part.name not in found.uses:
                return part
            name, given, at = found.uses[part.name]
            template = found.templates.get(name)
            if template is None or len(template.parameters) != len(given):
                invalid(DIALECT, f"there is no template {name!r} with {len(given)} parameters", at)
            key = name, tuple(bound(argument, arguments) for argument in given)
            if key not in made:
                if len(made) >= _MOST_INSTANCES:
                    raise ConstraintTooLarge(
                        f"templates are called in more than {_MOST_INSTANCES} ways"
                    )
                made[key] = f"{name}{{{len(made)}}}"
                waiting.append(key)
            return Ref(made[key])

        return mapped(part, leaf)

    rules = {name: bound(part, {}) for name, part in found.rules.items()}
    ignored = [bound(part, {}) for part in found.ignored]
    while waiting:
        name, given = key = waiting.pop()
        template = found.templates[name]
        rules[made[key]] = bound(template.part, dict(zip(template.parameters, given, strict=True)))
    return rules, ignored


def _looks_compiled(part: Part) -> Part:
    """The part with patterns with look-around replaced by automata."""

    def leaf(part: Part) -> Part:
        looks = isinstance(part, Text) and has_look(part.tree)
        return Fixed(compiled(part.tree)) if looks and isinstance(part, Text) else part

    return mapped(part, leaf)


def _terminals(terminals: Mapping[str, Part]) -> dict[str, Part]:
    """Terminals without look-around.

    A terminal with look-around becomes one automaton as a whole, because the look-around sees all of it.
    """
    looking: set[str] = set()
    edges = {name: tuple(tree.refs(part)) for name, part in terminals.items()}
    for name, used in edges.items():
        for other in used:
            if other not in terminals:
                invalid(DIALECT, f"the terminal {name!r} uses the rule {other!r}", 0)
    for members in components(edges):
        name = members[0]
        if len(members) > 1 or name in edges[name]:
            invalid(DIALECT, f"the terminal {name!r} uses itself", 0)
        texts = (part.tree for part in tree.walk(terminals[name]) if isinstance(part, Text))
        if any(map(has_look, texts)) or looking.intersection(edges[name]):
            looking.add(name)
    plain = dict(terminals)
    for name in looking:
        plain[name] = Fixed(compiled(_Inliner(terminals).pattern(terminals[name])))
    return plain


class _Inliner:
    """Converts a terminal and the terminals it uses into one pattern."""

    def __init__(self, terminals: Mapping[str, Part]) -> None:
        self._terminals = terminals
        self._left = MOST_NODES

    def pattern(self, part: Part) -> rx.Node:
        self._left -= 1
        if self._left < 0:
            raise ConstraintTooLarge("a terminal with look-around is too large")
        match part:
            case Text(pattern):
                return pattern
            case Ref(name):
                return self.pattern(self._terminals[name])
            case Sequence(parts):
                return rx.Concat(tuple(map(self.pattern, parts)))
            case Either(parts):
                return rx.Alternation(tuple(map(self.pattern, parts)))
            case Repeat(_, _, 0):
                return rx.EMPTY
            case Repeat(inner, low, high):
                return rx.Repetition(self.pattern(inner), low, high)
            case _:
                raise TypeError("automata have no pattern")
