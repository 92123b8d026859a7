"""What verbatim strings cost: the compilation for a document, the first mask, and a mask within a string.

    python -m tests.bench.bench_verbatim [--documents 20] [--characters 20000] [--pattern REGEX]

Makes documents of words in which beginnings repeat, as in prose. Each is compiled with a schema of two verbatim
strings, and random substrings are followed token by token, as far as the pattern allows. Prints medians of processor
time, the greatest mask, and the median for a free string of the same schema, so that the two can be compared on any
machine. Needs the tokenizer in ../shared.
"""

import argparse
import json
import random
import time
from statistics import median
from typing import Any

from intaglio.grammar.api import Compiler, Constraint, Kind, Violation, empty_rows

from tests.support.tokens import large

_STRINGS = 20  # followed in each document
_LETTERS = "etaoinshrdlucmfwypvbgk"


def document(choose: random.Random, characters: int) -> str:
    """Words of a small vocabulary, in lines."""
    words = ["".join(choose.choices(_LETTERS, k=choose.randint(2, 9))) for _ in range(1500)]
    lines = list[str]()
    while sum(map(len, lines)) + len(lines) < characters:
        lines.append(" ".join(choose.choices(words, k=10)).capitalize() + ".")
    return "\n".join(lines)[:characters]


def schema(*, verbatim: bool, pattern: str = "") -> str:
    """Two strings."""
    one: dict[str, Any] = {"type": "string", **({"pattern": pattern} if pattern else {})}
    one |= {"x-intaglio": {"verbatim": True}} if verbatim else {}
    both = {"properties": {"a": one, "b": one}, "required": ["a", "b"]}
    return json.dumps({"type": "object", **both, "additionalProperties": False})


def masks(
    compiler: Compiler, constraint: Constraint, values: list[str]
) -> tuple[list[float], list[float]]:
    """Seconds for each token of the values, and for the mask after it, the opening of the string left out."""
    row, accepted, times = empty_rows(1, compiler.vocabulary.width)[0], list[float](), list[float]()
    grammar = compiler.compile(constraint)
    compiler.warm_up(grammar, constraint)
    matcher = grammar.matcher()
    for token in compiler.spelled(b'{"a":"'):
        matcher.accept(token)
    for value in values:
        written = compiler.spelled(json.dumps(value, ensure_ascii=False)[1:-1].encode())
        done = 0
        for token in written:
            began = time.thread_time()
            try:
                matcher.accept(token)
            except Violation:
                break
            accepted.append(time.thread_time() - began)
            done += 1
            began = time.thread_time()
            matcher.fill(row)
            times.append(time.thread_time() - began)
        matcher.rollback(done)
    return accepted, times


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=20)
    parser.add_argument("--characters", type=int, default=20_000)
    parser.add_argument("--pattern", default="")
    options = parser.parse_args()
    choose, model = random.Random(1), large()
    compiler = Compiler(model.vocabulary(), model.canonical)
    compiler.warm()
    compiled, first, within, free = list[float](), list[float](), list[float](), list[float]()
    tokens = list[float]()
    for _ in range(options.documents):
        text = document(choose, options.characters)
        asked = Constraint(
            Kind.JSON_SCHEMA, schema(verbatim=True, pattern=options.pattern), document=text
        )
        began = time.thread_time()
        grammar = compiler.compile(asked)
        compiler.warm_up(grammar, asked)
        compiled.append(time.thread_time() - began)
        matcher = grammar.matcher()
        for token in compiler.spelled(b'{"a":"'):
            matcher.accept(token)
        began = time.thread_time()
        matcher.fill(empty_rows(1, compiler.vocabulary.width)[0])
        first.append(time.thread_time() - began)
        places = [choose.randrange(len(text) - 60) for _ in range(_STRINGS)]
        values = [text[place : place + choose.randint(5, 60)] for place in places]
        accepted, times = masks(compiler, asked, values)
        tokens += accepted
        within += times
        plain = Constraint(Kind.JSON_SCHEMA, schema(verbatim=False, pattern=options.pattern))
        free += masks(compiler, plain, values)[1]
    print(
        f"{options.documents} documents of {options.characters:,} characters, {len(within)} masks"
    )
    print(f"compilation and first masks: {1e3 * median(compiled):.0f} ms")
    print(f"mask at the begin of a string, made ahead: {1e6 * median(first):.0f} us")
    ordered = sorted(within)
    print(
        f"mask within a string: median {1e6 * median(ordered):.1f} us, "
        f"99% {1e6 * ordered[len(ordered) * 99 // 100]:.0f} us, most {1e3 * ordered[-1]:.1f} ms"
    )
    ordered = sorted(tokens)
    print(
        f"accepting a token within a string: median {1e6 * median(ordered):.1f} us, "
        f"99% {1e6 * ordered[len(ordered) * 99 // 100]:.0f} us"
    )
    print(f"a mask within a free string: median {1e6 * median(free):.1f} us")


if __name__ == "__main__":
    main()
