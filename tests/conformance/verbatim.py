"""Verbatim strings of random documents: masks against all substrings, written out; and every value is in the document.

    python -m tests.conformance.verbatim --count 10000

Does: make documents of all planes of Unicode with escapes, repeats and line breaks, and schemas with verbatim strings;
walk random outputs and compare every mask on the way with the one that follows from the list of all legal outputs.
"""

import argparse
import json
import random
import re
import sys
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from intaglio.grammar.api import Compiler, Constraint, Kind, Unsatisfiable, empty_rows

from tests.support.tokens import small

_PIECES = (
    *"aab  \n\t\"\\/{}[]:,", "name", "the ", "quick", " London", "\r\n", "\x00", "\x1f", "\x7f",
    "\u00a0", "\u2028", "é", "ß", "ёж", "東京", "\ufffd", "\ufeff", "🙂", "👩\u200d👧", "\U000e0001", "\U0010ffff",
    "abab", "12.50", "\\n", "\\u0041",
)  # fmt: skip
_PATTERNS = (
    "[a-z ]+", "([a-z]{2})+", "[0-9]+\\.[0-9]{2}", "name|the|quick", '[^"]*"', "[^x]*[🙂éßж]", "(a|ab)*", "[^a]{3,}",
    "",
)  # fmt: skip
_WALKS = 3  # outputs of each document
_MOST_TOKENS = 24  # of one output


@dataclass
class Verbatim:
    """The counts of a run, and what was wrong."""

    documents: int = 0
    masks: int = 0
    values: int = 0
    faults: list[str] = field(default_factory=list)


def document(choose: random.Random) -> str:
    """A short random document, not empty."""
    return "".join(choose.choice(_PIECES) for _ in range(choose.randrange(1, 36)))


def folded(text: str) -> str:
    """The text with each run of white space as one space."""
    return re.sub(r"\s+", " ", text)


def substrings(text: str, least: int, most: int | None) -> set[str]:
    """All substrings of the text or of the folded text with a legal length."""
    found = set()
    for one in (text, folded(text)):
        for begin in range(len(one) + 1):
            for end in range(begin, len(one) + 1):
                if end - begin >= least and (most is None or end - begin <= most):
                    found.add(one[begin:end])
    return found


def written(value: Any) -> bytes:
    """A value as the grammar writes it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode()


def case(choose: random.Random) -> tuple[dict[str, Any], str, set[bytes]]:
    """(a schema, a document, all legal outputs)."""
    text = document(choose)
    verbatim: dict[str, Any] = {"type": "string", "x-intaglio": {"verbatim": True}}
    least, most = 0, None
    if choose.random() < 0.4:
        least = verbatim["minLength"] = choose.randrange(4)
    if choose.random() < 0.4:
        most = verbatim["maxLength"] = least + choose.randrange(6)
    legal = substrings(text, least, most)
    form = choose.randrange(5)
    if form == 0:
        pattern = choose.choice(_PATTERNS)
        verbatim["pattern"] = f"^(?:{pattern})$"
        legal = {value for value in legal if re.fullmatch(pattern, value)}
    if form == 1:
        return {"anyOf": [verbatim, {"type": "null"}]}, text, {*map(written, legal), b"null"}
    if form == 2:
        schema = {"properties": {"a": verbatim}, "required": ["a"], "additionalProperties": False}
        outputs = {b'{"a":%b}' % written(value) for value in legal}
        return {"type": "object", **schema}, text, outputs
    if form == 3 and len(legal) < 30:
        outputs = {written(list(pair)) for pair in _pairs(legal)}
        schema = {"type": "array", "items": verbatim, "maxItems": 2, "uniqueItems": True}
        return schema, text, outputs
    return verbatim, text, set(map(written, legal))


def _pairs(legal: set[str]) -> list[tuple[str, ...]]:
    two = [(first, second) for first in legal for second in legal if first != second]
    return [(), *((one,) for one in legal), *two]


def look(compiler: Compiler, count: int, seed: int) -> Verbatim:
    """Look at `count` documents."""
    found = Verbatim()
    for number in range(count):
        choose = random.Random(f"{seed}/{number}")
        schema, text, outputs = case(choose)
        constraint = Constraint(Kind.JSON_SCHEMA, json.dumps(schema), document=text)
        found.documents += 1
        try:
            grammar = compiler.compile(constraint)
        except Unsatisfiable:
            if outputs:
                found.faults.append(f"{number}: refused, though {len(outputs)} outputs are legal")
            continue
        if not outputs:
            found.faults.append(f"{number}: nothing is legal, but it was compiled")
            continue
        beginnings = {output[:end] for output in outputs for end in range(len(output) + 1)}
        for _ in range(_WALKS):
            fault = _walk(compiler, grammar, outputs, beginnings, choose, found)
            if fault:
                found.faults.append(f"{number}: {fault} ({json.dumps(schema)}, {text!r})")
                break
    return found


def _walk(
    compiler: Compiler,
    grammar: Any,
    outputs: set[bytes],
    beginnings: set[bytes],
    choose: random.Random,
    found: Verbatim,
) -> str:
    texts, end = compiler.vocabulary.tokens, compiler.vocabulary.end_ids[0]
    row = empty_rows(1, compiler.vocabulary.width)[0]
    matcher, output = grammar.matcher(), b""
    for _ in range(_MOST_TOKENS):
        matcher.fill(row)
        bits = np.unpackbits(row.view(np.uint8), bitorder="little")
        legal = set(np.flatnonzero(bits).tolist())
        right = {t for t, text in enumerate(texts) if text and output + text in beginnings}
        if output in outputs:
            right.add(end)
        found.masks += 1
        if legal != right:
            wrong = [texts[t] for t in sorted(legal ^ right)[:5]]
            return f"after {output!r} the mask is wrong about {wrong}"
        token = choose.choice(sorted(right))
        matcher.accept(token)
        if token == end:
            break
        output += texts[token] or b""
    closing = matcher.closing() or ()
    output += b"".join(texts[token] or b"" for token in closing if token != end)
    found.values += 1
    return "" if output in outputs else f"{output!r} is not legal"


def main() -> int:
    """The command; 1 if anything was wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    compiler = Compiler(small().vocabulary(), small().canonical)
    found = look(compiler, options.count, options.seed)
    print(*found.faults[:20], sep="\n")
    print(f"{found.documents} documents, {found.masks} masks, {found.values} outputs, ", end="")
    print(f"{len(found.faults)} wrong")
    return int(bool(found.faults))


if __name__ == "__main__":
    sys.exit(main())
