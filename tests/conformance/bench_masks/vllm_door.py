"""Which JSON Schemas vLLM's front end refuses before xgrammar compiles them.

Does: judge a schema by the rules of `vllm/v1/structured_output/backend_xgrammar.py` at 030141c, stated anew; as a
script, count the schemas of JSONSchemaBench's open part that it refuses. Does not: import vLLM, which needs a GPU.
"""

import json
import lzma
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any, Final

from tests.conformance.cases import data_folder

_FORMATS: Final = (
    "email", "date", "time", "date-time", "duration", "ipv4", "ipv6", "hostname", "uuid", "uri", "uri-reference",
    "uri-template", "json-pointer", "relative-json-pointer",
)  # fmt: skip
_OF_ARRAYS: Final = ("uniqueItems", "contains", "minContains", "maxContains")
_BESIDE_NAMES: Final = ("properties", "patternProperties")


def refused_keywords(schema: Any) -> list[str]:
    """The keywords for which the front end refuses a schema, each once; empty if it passes the schema on."""
    return list(dict.fromkeys(keyword for part in _parts(schema) for keyword in _refused(part)))


def _parts(schema: Any) -> Iterator[Mapping[str, Any]]:
    """All objects within a schema, whether they are schemas or not: the front end makes no difference."""
    waiting = [schema]
    while waiting:
        part = waiting.pop()
        if isinstance(part, dict):
            yield part
            waiting += part.values()
        elif isinstance(part, list):
            waiting += (each for each in part if isinstance(each, dict))


def _refused(part: Mapping[str, Any]) -> Iterator[str]:
    given = part.get("type")
    types = {given} if isinstance(given, str) else set(given) if isinstance(given, list) else set()
    if types & {"integer", "number"} and "multipleOf" in part:
        yield "multipleOf"
    if "array" in types:
        yield from (keyword for keyword in _OF_ARRAYS if keyword in part)
    if "string" in types:
        if "format" in part and part["format"] not in _FORMATS:
            yield "format"
        if _bounds_beside_a_language(part):
            yield "length beside pattern or format"
    if "object" in types:
        yield from _refused_of_objects(part)


def _refused_of_objects(part: Mapping[str, Any]) -> Iterator[str]:
    names = part.get("propertyNames")
    if "propertyNames" in part and (
        (isinstance(names, dict) and _bounds_beside_a_language(names))
        or any(keyword in part for keyword in _BESIDE_NAMES)
        or isinstance(part.get("additionalProperties"), dict)
        or part.get("unevaluatedProperties", True) is not True
    ):
        yield "propertyNames"
    patterns = part.get("patternProperties")
    if isinstance(patterns, dict) and ("properties" in part or len(patterns) > 1):
        yield "patternProperties"


def _bounds_beside_a_language(part: Mapping[str, Any]) -> bool:
    return ("pattern" in part or "format" in part) and ("minLength" in part or "maxLength" in part)


def main() -> int:
    folder = data_folder()
    if folder is None:
        print("needs ../shared", file=sys.stderr)
        return 2
    with lzma.open(folder / "jsonschemabench" / "open.jsonl.xz", "rt", encoding="utf-8") as lines:
        found = [refused_keywords(json.loads(line)["schema"]) for line in lines]
    counts = Counter(keyword for keywords in found for keyword in keywords)
    print(f"{sum(map(bool, found)):,} of {len(found):,} schemas are refused")
    for keyword, count in counts.most_common():
        print(f"{count:6,}  {keyword}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
