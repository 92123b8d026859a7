"""The function calls of the Berkeley Function Calling Leaderboard (BFCL), token by token under the functions' schemas.

Run: `python -m tests.conformance.function_calls CLONE [--cases N]`. CLONE is a clone of ShishirPatil/gorilla (bare or
not; Apache-2.0), read at `COMMIT`. Nothing of it is kept here.

The functions that a case offers become one schema: an object with the name of a function and its arguments. Of each
gold call the mask has to allow every token, and the end after it. Each call with one edit that an independent validator
refuses has to be refused at some token. Forced tokens are those that the grammar gives without a model.
"""

import argparse
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import jsonschema
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    GrammarError,
    Kind,
    Matcher,
    empty_rows,
)

from tests.support.tokens import large

COMMIT: Final = "6ea57973c7a6097fd7c5915698c54c17c5b1b6c8"
FOLDER: Final = "berkeley-function-call-leaderboard/bfcl_eval/data/"
SETS: Final = (
    "simple_python",
    "multiple",
    "parallel",
    "parallel_multiple",
    "live_simple",
    "live_multiple",
    "live_parallel",
    "live_parallel_multiple",
)
_TYPES: Final = {"dict": "object", "float": "number", "tuple": "array"}
_LEFT_OUT: Final = ""  # among the accepted values: the argument may be absent
_WIDTH: Final = 151_936


@dataclass(frozen=True, slots=True)
class Case:
    """The schema of a call of one of the offered functions, and the gold calls."""

    name: str
    schema: dict[str, Any]
    calls: tuple[dict[str, Any], ...]


@dataclass(slots=True)
class Found:
    """Counts over the cases, and what went wrong."""

    counts: Counter[str] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)


def cases(clone: Path, name: str) -> Iterator[Case]:
    """The cases of one set."""
    asked = {each["id"]: each for each in _lines(clone, f"{FOLDER}BFCL_v4_{name}.json")}
    for answer in _lines(clone, f"{FOLDER}possible_answer/BFCL_v4_{name}.json"):
        functions = asked[answer["id"]]["function"]
        calls = (
            {"name": called, "arguments": _chosen(arguments)}
            for each in answer["ground_truth"]
            for called, arguments in each.items()
        )
        yield Case(answer["id"], _schema(functions), tuple(calls))


def _lines(clone: Path, path: str) -> list[dict[str, Any]]:
    text = subprocess.run(
        ["git", "-C", clone, "show", f"{COMMIT}:{path}"], check=True, capture_output=True
    ).stdout
    return [json.loads(line) for line in text.splitlines() if line.strip()]


def _schema(functions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """The schema of a call of one of the functions."""
    calls = [
        {
            "type": "object",
            "properties": {
                "name": {"const": each["name"]},
                "arguments": {**_translated(each["parameters"]), "additionalProperties": False},
            },
            "required": ["name", "arguments"],
            "additionalProperties": False,
        }
        for each in functions
    ]
    return calls[0] if len(calls) == 1 else {"anyOf": calls}


def _translated(part: Any) -> Any:
    """A part of a function's parameters with the type names of JSON Schema, without annotations."""
    if not isinstance(part, dict):
        return part
    found: dict[str, Any] = {}
    for keyword, value in part.items():
        if keyword == "type" and value == "any":
            continue
        if keyword == "type":
            found["type"] = _TYPES.get(value, value)
        elif keyword == "properties":
            found["properties"] = {name: _translated(each) for name, each in value.items()}
        elif keyword == "items":
            found["items"] = _translated(value)
        elif keyword in ("required", "enum", "minimum", "maximum", "minItems", "maxItems"):
            found[keyword] = value
    return found


def _chosen(accepted: Any) -> Any:
    """The first accepted value of each argument that has one."""
    return {
        name: _inner(values[0])
        for name, values in accepted.items()
        if values and _LEFT_OUT not in values
    }


def _inner(value: Any) -> Any:
    """An accepted value; the members of an object have lists of accepted values of their own."""
    if isinstance(value, dict):
        lists = all(isinstance(each, list) for each in value.values())
        return _chosen(value) if lists else value
    return [_inner(each) for each in value] if isinstance(value, list) else value


def edits(call: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """The call with one change: another function, an argument left out, added, renamed, or of another type."""
    arguments = call["arguments"]
    yield {**call, "name": call["name"] + "x"}
    yield {**call, "arguments": {**arguments, "not_an_argument": 1}}
    for name, value in arguments.items():
        rest = {other: each for other, each in arguments.items() if other != name}
        yield {**call, "arguments": rest}
        yield {**call, "arguments": {**rest, name + "_": value}}
        others: list[Any] = [None, "a text", 1.5, True, [1], {"a": 1}]
        for other in others:
            if type(other) is not type(value):
                yield {**call, "arguments": {**arguments, name: other}}


def in_order(value: Any, schema: Any) -> Any:
    """The value with its members in the order in which the schema declares them; others come last."""
    if isinstance(value, list) and isinstance(schema, dict):
        return [in_order(each, schema.get("items")) for each in value]
    if not isinstance(value, dict) or not isinstance(schema, dict):
        return value
    declared = schema.get("properties", {})
    names = [
        *(name for name in declared if name in value),
        *(n for n in value if n not in declared),
    ]
    return {name: in_order(value[name], declared.get(name)) for name in names}


class Walker:
    """Follows texts through the masks of one vocabulary."""

    def __init__(self, tokenizer: Tokenizer) -> None:
        self.tokenizer = tokenizer
        self.compiler = Compiler(tokenizer.vocabulary(_WIDTH), tokenizer.canonical)
        self.row = empty_rows(1, _WIDTH)[0]
        self.ends = tokenizer.vocabulary(_WIDTH).end_ids

    def compile(self, schema: dict[str, Any]) -> CompiledGrammar:
        return self.compiler.compile(Constraint(Kind.JSON_SCHEMA, json.dumps(schema)))

    def allows(self, grammar: CompiledGrammar, text: str) -> tuple[bool, int, int]:
        """Whether every token of a text and the end after it is legal; the number of its tokens, and of forced ones."""
        tokens, matcher, forced, at = (
            self.tokenizer.canonical(text.encode()),
            grammar.matcher(),
            0,
            0,
        )
        while at < len(tokens):
            run = matcher.forced()
            if run and tuple(tokens[at : at + len(run)]) == tuple(run):
                for token in run:
                    matcher.accept(token)
                forced, at = forced + len(run), at + len(run)
                continue
            if not self._allows(matcher, tokens[at]):
                return False, len(tokens), forced
            matcher.accept(tokens[at])
            at += 1
        return any(self._allows(matcher, end) for end in self.ends), len(tokens), forced

    def _allows(self, matcher: Matcher, token: int) -> bool:
        matcher.fill(self.row)
        return bool(self.row[token // 32] >> (token % 32) & 1)


def judge(walker: Walker, case: Case, found: Found) -> None:
    """Walk the gold calls of a case and their edits."""
    counts = found.counts
    counts["cases"] += 1
    try:
        grammar = walker.compile(case.schema)
    except GrammarError as error:
        counts["schemas refused"] += 1
        found.faults.append(f"{case.name}: {error}")
        return
    validator = jsonschema.Draft202012Validator(case.schema)
    for call in case.calls:
        written = _ordered(call, case.schema)
        if not validator.is_valid(written):
            counts["gold calls that the validator refuses"] += 1
            continue
        whole, tokens, forced = walker.allows(grammar, _text(written))
        counts["gold calls"] += 1
        counts["tokens"] += tokens
        counts["forced tokens"] += forced
        if not whole:
            found.faults.append(f"{case.name}: refused {_text(written)}")
        for edited in edits(call):
            written = _ordered(edited, case.schema)
            if validator.is_valid(written):
                continue
            counts["wrong calls"] += 1
            if walker.allows(grammar, _text(written))[0]:
                found.faults.append(f"{case.name}: accepted {_text(written)}")


def _ordered(call: dict[str, Any], schema: dict[str, Any]) -> Any:
    """The call in the order of the function that it names, or of the first one."""
    functions = schema.get("anyOf", [schema])
    named = (f for f in functions if f["properties"]["name"]["const"] == call["name"])
    return in_order(call, next(named, functions[0]))


def _text(call: Any) -> str:
    return json.dumps(call, ensure_ascii=False, separators=(",", ":"))


def main() -> int:
    parser = argparse.ArgumentParser(description="Function calls of BFCL under their schemas.")
    parser.add_argument("clone", type=Path)
    parser.add_argument("--cases", type=int, help="of each set; default: all")
    options = parser.parse_args()
    walker, whole = Walker(large()), Found()
    for name in SETS:
        found = Found()
        for number, case in enumerate(cases(options.clone, name)):
            if options.cases is not None and number >= options.cases:
                break
            judge(walker, case, found)
        print(name, dict(found.counts), f"{len(found.faults)} faults", flush=True)
        whole.counts += found.counts
        whole.faults += found.faults
    print("all", dict(whole.counts))
    if whole.counts["tokens"]:
        print(f"forced: {whole.counts['forced tokens'] / whole.counts['tokens']:.1%}")
    print(*whole.faults[:40], sep="\n")
    return bool(whole.faults)


if __name__ == "__main__":
    sys.exit(main())
