"""Samples of a schema and near misses: documents that are valid, and documents that one change makes invalid.

Does: write samples through the masks; change each in one place; ask the validator and the masks about both. Does not:
print (`cli`).
"""

import copy
import json
import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from intaglio.grammar.api import (
    Compiler,
    Constraint,
    Matcher,
    Violation,
    allowed_tokens,
    empty_rows,
)

from ..extraction.validate import faults

_DEVIATION: Final = 0.35  # share of tokens that deviate from the shortest end
_LONGEST: Final = 120  # characters of a reason
_MOST: Final = 400  # tokens of a sample, apart from its end


@dataclass(frozen=True, slots=True)
class NearMiss:
    """A document that differs from a sample in one place. `reason`: why it is invalid; empty if it is valid.

    `agrees`: whether the masks and the validator agree.
    """

    text: str
    change: str
    reason: str
    agrees: bool


def samples(compiler: Compiler, constraint: Constraint, count: int, seed: int = 0) -> list[str]:
    """Different outputs that the masks allow; the first is a shortest one.

    Raises:
        GrammarError: the constraint is refused.
    """
    grammar = compiler.compile(constraint)
    found: dict[str, None] = {}
    for attempt in range(4 * count):
        draw = random.Random(f"{seed} {attempt}")  # noqa: S311
        found[_written(compiler, grammar.matcher(), draw, 0 if attempt == 0 else _DEVIATION)] = None
        if len(found) == count:
            break
    return list(found)


def _written(compiler: Compiler, matcher: Matcher, draw: random.Random, turn: float) -> str:
    """One output: the shortest end, left now and then for a short token that reads well."""
    vocabulary, tokens = compiler.vocabulary, list[int]()
    row = empty_rows(1, vocabulary.width)[0]
    while not matcher.finished:
        picked = None
        if draw.random() < turn and len(tokens) < _MOST:
            matcher.fill(row)
            legal = allowed_tokens(row, vocabulary.width)
            for _ in range(8):
                token = int(legal[draw.randrange(len(legal))])
                if _reads_well(vocabulary.text(token)):
                    picked = token
                    break
        if picked is None:
            closing = matcher.closing() or ()
            picked = closing[0]
        matcher.accept(picked)
        tokens.append(picked)
    return b"".join(vocabulary.text(token) or b"" for token in tokens).decode("utf-8", "replace")


def _reads_well(text: bytes | None) -> bool:
    if text is None or len(text) > 8 or not text.isascii() or b"\\" in text:
        return False
    return text.decode().isprintable()


def accepts(compiler: Compiler, constraint: Constraint) -> Callable[[str], bool]:
    """Whether the masks allow a whole text, whichever tokens spell it."""
    grammar = compiler.compile(constraint)

    def whole(text: str) -> bool:
        matcher = grammar.matcher()
        try:
            for token in (*compiler.spelled(text.encode()), compiler.vocabulary.end_ids[0]):
                matcher.accept(token)
        except Violation:
            return False
        return True

    return whole


def near_misses(
    schema: Mapping[str, Any] | bool, texts: list[str], whole: Callable[[str], bool], count: int
) -> list[NearMiss]:
    """Documents that differ from a sample in one place, invalid ones first."""
    found: dict[str, NearMiss] = {}
    for text in texts:
        for changed, change in _changed(json.loads(text), ""):
            shown = json.dumps(changed, ensure_ascii=False, separators=(",", ":"))
            if shown in found or shown in texts:
                continue
            fault = next(faults(changed, schema), None)
            found[shown] = NearMiss(shown, change, _reason(fault), whole(shown) == (fault is None))
    kinds: dict[str, int] = {}
    ranked = []
    for miss in found.values():
        kind = f"{miss.change.split(' ')[-1]} {bool(miss.reason)}"
        kinds[kind] = kinds.get(kind, 0) + 1
        ranked.append((miss.agrees, not miss.reason, kinds[kind], miss.text, miss))
    return [each[-1] for each in sorted(ranked, key=lambda each: each[:4])[:count]]


def _reason(fault: Any) -> str:
    if fault is None:
        return ""
    place = "".join(f"/{part}" for part in fault.absolute_path)
    return f"{place or 'the whole'}: {fault.message[:_LONGEST]}"


def _changed(value: Any, pointer: str) -> Iterator[tuple[Any, str]]:
    """(the document with one change, what was changed)."""
    place = pointer or "the whole"
    for other, what in _others(value):
        yield other, f"{place} {what}"
    members = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, inner in list(members)[:24]:
        for other, change in _changed(inner, f"{pointer}/{key}"):
            whole = copy.copy(value)
            whole[key] = other
            yield whole, change
        if isinstance(value, dict):
            yield (
                {name: each for name, each in value.items() if name != key},
                f"{pointer}/{key} left-out",
            )
        else:
            yield [each for i, each in enumerate(value) if i != key], f"{pointer}/{key} left-out"


def _others(value: Any) -> Iterator[tuple[Any, str]]:
    match value:
        case bool():
            yield not value, "negated"
            yield str(value).lower(), "as-text"
        case int() | float():
            yield value + 1, "plus-one"
            yield value - 1, "minus-one"
            yield -value - 1, "of-other-sign"
            yield str(value), "as-text"
            yield None, "null"
        case str():
            yield value + "x", "longer"
            yield value[:-1], "shorter"
            yield "", "empty"
            yield None, "null"
            yield 0, "as-number"
        case dict():
            yield {**value, "unexpected": 1}, "with-another-property"
            yield [], "as-array"
        case list():
            yield [*value, *value[-1:]], "with-its-last-item-twice"
            yield [], "empty"
            yield {}, "as-object"
        case None:
            yield "", "as-text"
            yield 0, "as-number"
