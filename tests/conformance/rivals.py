"""The same schemas and instances through llguidance and xgrammar.

Does: say of each instance whether an engine takes it as text. Does not: limit (`children`) or count (`run`).

Both get every chance: white space free, instances as they come and with their members in the order of the schema
(llguidance knows no other; xgrammar is asked for any order), bytes as tokens.
"""

import json
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

from intaglio.grammar.jsonschema.read.values import Json

from tests.conformance.cases import Group
from tests.conformance.verdicts import Judged, Verdict, written

Take = Callable[[str], bool]


class Refused(Exception):
    """The engine does not take the schema."""


def judge(engine: str, group: Group) -> list[Judged]:
    """Every instance of a group."""
    try:
        take = _ENGINES[engine](json.dumps(group.schema, default=float))
    except Refused as error:
        return [Judged(test.name, Verdict.REFUSED, str(error)[:120]) for test in group.instances]
    found = []
    for test in group.instances:
        texts = {written(test.data), written(ordered(test.data, group.schema, group.schema, 0))}
        accepted = any(take(text) for text in sorted(texts))
        if accepted == test.valid:
            found.append(Judged(test.name, Verdict.RIGHT))
        else:
            wrong = Verdict.WRONG_ACCEPT if accepted else Verdict.WRONG_REJECT
            found.append(Judged(test.name, wrong))
    return found


def llguidance(schema: str) -> Take:
    """llguidance with its default options; formats are asserted as far as it knows them."""
    import llguidance

    matcher_of, tokenizer = llguidance.LLMatcher, _llguidance_bytes()
    try:
        grammar = matcher_of.grammar_from_json_schema(schema)
        matcher = matcher_of(tokenizer, grammar)
    except (ValueError, RuntimeError) as error:
        raise Refused(str(error)) from error
    if matcher.is_error():
        raise Refused(matcher.get_error())

    def take(text: str) -> bool:
        fresh, data = matcher.deep_copy(), list(text.encode())
        return fresh.try_consume_tokens(data) == len(data) and fresh.is_accepting()

    return take


@cache
def _llguidance_bytes() -> Any:
    import llguidance

    return llguidance.LLTokenizer("byte")


def xgrammar(schema: str) -> Take:
    """xgrammar, objects open where the schema does not close them."""
    import xgrammar as library

    try:
        compiled = _xgrammar_bytes().compile_json_schema(schema, strict_mode=False, any_order=True)
    except (RuntimeError, ValueError) as error:
        raise Refused(str(error)) from error

    def take(text: str) -> bool:
        matcher = library.GrammarMatcher(compiled)
        return bool(matcher.accept_string(text) and matcher.accept_token(256))

    return take


@cache
def _xgrammar_bytes() -> Any:
    import xgrammar as library

    texts = [bytes([byte]) for byte in range(256)]
    info = library.TokenizerInfo(
        [*texts, b"</s>"], library.VocabType.RAW, vocab_size=257, stop_token_ids=[256]
    )
    return library.GrammarCompiler(info, max_threads=1, cache_enabled=False)


_ENGINES: dict[str, Callable[[str], Take]] = {"llguidance": llguidance, "xgrammar": xgrammar}
ENGINES = tuple(_ENGINES)


def ordered(value: Json, schema: Json, root: Json, depth: int) -> Json:
    """A value with the members of its objects in the order that the nearest `properties` give them."""
    if depth > 40:
        return value
    parts = list(_parts(schema, root, 0))
    if isinstance(value, dict):
        named: dict[str, Json] = {}
        for part in parts:
            properties = part.get("properties")
            named |= properties if isinstance(properties, dict) else {}
        other = next(
            (p["additionalProperties"] for p in parts if "additionalProperties" in p), True
        )
        names = [n for n in named if n in value] + [n for n in value if n not in named]
        return {n: ordered(value[n], named.get(n, other), root, depth + 1) for n in names}
    if isinstance(value, list):
        items = next((p["items"] for p in parts if "items" in p), True)
        first = next((p["prefixItems"] for p in parts if "prefixItems" in p), [])
        if isinstance(items, list):
            first, items = items, True
        assert isinstance(first, list)
        return [
            ordered(each, first[i] if i < len(first) else items, root, depth + 1)
            for i, each in enumerate(value)
        ]
    return value


def _parts(schema: Json, root: Json, depth: int) -> Iterator[dict[str, Json]]:
    """The schemas that speak of the same value, references followed inside the document."""
    if not isinstance(schema, dict) or depth > 20:
        return
    yield schema
    reference = schema.get("$ref")
    if isinstance(reference, str) and reference.startswith("#"):
        target: Json = root
        for step in reference[1:].split("/")[1:]:
            key = step.replace("~1", "/").replace("~0", "~")
            target = target.get(key) if isinstance(target, dict) else None
        yield from _parts(target, root, depth + 1)
    for word in ("allOf", "anyOf", "oneOf"):
        inner = schema.get(word)
        for part in inner if isinstance(inner, list) else ():
            yield from _parts(part, root, depth + 1)
    for word in ("then", "else", "if"):
        yield from _parts(schema.get(word), root, depth + 1)
