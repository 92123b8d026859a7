"""What a structural tag means, from its JSON and by trial of all beginnings: an oracle for short texts.

Does: find every place where a format may end in a text; write random formats. Does not: share code with the compiler.
"""

import json
import random
import re
from collections.abc import Iterable, Iterator
from typing import Any

import jsonschema

Format = dict[str, Any]


def takes(source: Format, text: str) -> bool:
    """Whether a whole text belongs to a structural tag."""
    return len(text) in ends(source["format"], text, 0)


def ends(form: Format, text: str, at: int) -> set[int]:
    """The places where a format that begins at `at` may end."""
    match form["type"]:
        case "const_string":
            return {at + len(form["value"])} if text.startswith(form["value"], at) else set()
        case "any_text":
            return {e for e in range(at, len(text) + 1) if _free(text[at:e], form)}
        case "json_schema":
            whole = [e for e in range(at + 1, len(text) + 1) if _valid(form, text[at:e])]
            return set(whole)
        case "regex":
            pattern = re.compile(form["pattern"])
            return {e for e in range(at, len(text) + 1) if pattern.fullmatch(text[at:e])}
        case "or":
            return set().union(*(ends(inner, text, at) for inner in form["elements"]))
        case "sequence":
            return _sequence(form["elements"], text, at)
        case "repeat":
            return _repeated(form, text, at)
        case "tag":
            return _tag(form, text, at)
        case "triggered_tags":
            return _triggered(form, text, at)
        case "tags_with_separator":
            return _separated(form, text, at)
    raise AssertionError(form["type"])


def _free(text: str, form: Format) -> bool:
    return not any(word in text for word in form.get("excludes", ()))


def _valid(form: Format, text: str) -> bool:
    try:
        value = json.loads(text)
    except ValueError:
        return False
    compact = json.dumps(value, separators=(",", ":"), ensure_ascii=False) == text
    return compact and jsonschema.Draft202012Validator(form["json_schema"]).is_valid(value)


def _first(text: str, at: int, words: Iterable[str]) -> Iterator[tuple[str, int]]:
    """(word, end) of the words that are complete first, looking from `at`."""
    for end in range(at, len(text) + 1):
        found = [word for word in words if text[at:end].endswith(word)]
        if found:
            yield from ((word, end) for word in found)
            return


def _sequence(elements: list[Format], text: str, at: int) -> set[int]:
    if not elements:
        return {at}
    first, *rest = elements
    words = _fixed_beginnings(rest) if first["type"] == "any_text" else set()
    if words:
        found: set[int] = set()
        for word, end in _first(text, at, words):
            if _free(text[at:end], first):
                start = end - len(word)
                # Only what begins with this very word, read from its beginning.
                found |= {e for e in _sequence(rest, text, start) if e >= end}
        return found
    return set().union(*(_sequence(rest, text, end) for end in ends(first, text, at)))


def _fixed_beginnings(elements: list[Format]) -> set[str]:
    if not elements:
        return set()
    first = elements[0]
    if first["type"] == "const_string":
        return {first["value"]} - {""}
    return {first["begin"]} - {""} if first["type"] == "tag" else set()


def _repeated(form: Format, text: str, at: int) -> set[int]:
    here, found = {at}, set[int]()
    low, high = form.get("min", 0), form.get("max")
    for count in range(low + len(text) + 2 if high is None else high + 1):
        if count >= low:
            found |= here
        here = set().union(*(ends(form["content"], text, place) for place in here))
    return found


def _tag(form: Format, text: str, at: int) -> set[int]:
    last = [{"type": "const_string", "value": form["end"]}]
    begin = {"type": "const_string", "value": form["begin"]}
    return set().union(
        *(_sequence([form["content"], *last], text, end) for end in ends(begin, text, at))
    )


def _triggered(form: Format, text: str, at: int) -> set[int]:
    least = 1 if form.get("at_least_one") else form.get("at_least", 0)
    most = 1 if form.get("stop_after_first") else form.get("at_most")
    here, found = {at}, set[int]()
    free = {"type": "any_text", "excludes": form["triggers"]}
    for count in range(len(text) + 1):
        if count >= least and form.get("stop_after_first"):
            found |= here
        elif count >= least:
            found |= set().union(*(ends(free, text, place) for place in here))
        if count == most:
            break
        after: set[int] = set()
        for place in here:
            for word, end in _first(text, place, form["triggers"]):
                for tag in form["tags"]:
                    if tag["begin"].startswith(word):
                        after |= _tag(tag, text, end - len(word))
        here = after
    return found


def _separated(form: Format, text: str, at: int) -> set[int]:
    least = 1 if form.get("at_least_one") else 0
    most = 1 if form.get("stop_after_first") else len(text) + 1
    found = {at} if least == 0 else set()
    here = set().union(*(_tag(tag, text, at) for tag in form["tags"]))
    for _ in range(most):
        found |= here
        separator = {"type": "const_string", "value": form["separator"]}
        here = set().union(*(ends(separator, text, place) for place in here))
        here = set().union(*(_tag(tag, text, place) for tag in form["tags"] for place in here))
    return found


SCHEMAS: tuple[Any, ...] = (
    {"type": "integer", "minimum": 0, "maximum": 12},
    {"type": "array", "items": {"enum": [1, "a"]}, "maxItems": 2},
    {"type": "object", "properties": {"a": {"type": "boolean"}}, "additionalProperties": False},
    {"enum": ["a", "ab", None]},
)
PATTERNS = ("a+", "(ab)*", "[ab<]{1,3}", "b|bb<")
WORDS = ("<", "<a", "a", "<<", ">", "ab", "<b>", "")


def random_format(draw: random.Random, depth: int = 0) -> Format:
    """A random format over few characters."""
    plain = ["const_string", "any_text", "json_schema", "regex", "triggered_tags"]
    nested = ["sequence", "or", "repeat", "tag", "tags_with_separator", "triggered_tags"]
    kind = draw.choice(plain if depth > 1 else plain + 2 * nested)
    form: Format = {"type": kind}
    match kind:
        case "const_string":
            form["value"] = draw.choice(WORDS)
        case "any_text":
            if draw.random() < 0.4:
                form["excludes"] = draw.sample(WORDS[:-1], 2)
        case "json_schema":
            form["json_schema"] = draw.choice(SCHEMAS)
        case "regex":
            form["pattern"] = draw.choice(PATTERNS)
        case "sequence" | "or":
            form["elements"] = [random_format(draw, depth + 1) for _ in range(draw.randint(1, 3))]
        case "repeat":
            low = draw.randint(0, 2)
            form |= {"content": random_format(draw, depth + 1), "min": low}
            form["max"] = draw.choice([None, low + draw.randint(0, 2)])
        case "tag":
            form |= _random_tag(draw, draw.choice(WORDS), depth)
        case _:
            form |= _random_tags(draw, kind, depth)
    return form


def _random_tag(draw: random.Random, begin: str, depth: int) -> Format:
    content = random_format(draw, max(depth + 1, 2))
    return {"begin": begin, "content": content, "end": draw.choice(WORDS)}


def _random_tags(draw: random.Random, kind: str, depth: int) -> Format:
    form: Format = {draw.choice(["at_least_one", "stop_after_first", "tags"]): True}
    begins = [draw.choice(WORDS) for _ in range(draw.randint(1, 3))]
    if kind == "triggered_tags":
        form["triggers"] = draw.sample(WORDS[:-1], draw.randint(1, 2))
        begins = [draw.choice(form["triggers"]) + begin for begin in begins]
        if draw.random() < 0.3:
            form |= {"at_least": draw.randint(0, 1), "at_most": draw.randint(1, 2)}
    else:
        form["separator"] = draw.choice(WORDS)
    form["tags"] = [_random_tag(draw, begin, depth) for begin in begins]
    return form


def random_texts(draw: random.Random, count: int) -> list[str]:
    """Short texts of pieces that random formats use."""
    pieces = [
        "a",
        "b",
        "<",
        ">",
        "<a",
        "<b>",
        "1",
        "12",
        '"a"',
        "{}",
        '{"a":true}',
        "[1]",
        "é",
        "x",
    ]
    return ["".join(draw.choice(pieces) for _ in range(draw.randint(0, 6))) for _ in range(count)]
