"""Constraints stated by vLLM's `structured_outputs` and the older `guided_*`.

Does: read the fields. Does not: define them (`schemas/dialects/vllm_fields.py`).
"""

from collections.abc import Iterator
from typing import Final

from intaglio.schemas.dialects.vllm_fields import StructuredOutputs, VllmFields

from .stated import (
    Stated,
    choice_stated,
    grammar_stated,
    json_stated,
    object_stated,
    refused,
    regex_stated,
    tag_stated,
)

# Patterns that match no white space too, so that compact JSON fulfils them.
_WHITESPACE: Final = frozenset(
    {
        "",
        "[ ]?",
        " ?",
        "[ ]*",
        " *",
        r"\s*",
        r"\s?",
        r"[\n\t ]*",
        r"[ \n\t]*",
        r"[\n ]*",
        r"[ \t\n\r]*",
    }
)


def stated(fields: VllmFields) -> Iterator[Stated]:
    """All constraints in the fields.

    Raises:
        InvalidBody: a schema or a list of choices is unusable, or the pattern for white space cannot be met.
    """
    _require_whitespace("/guided_whitespace_pattern", fields.guided_whitespace_pattern)
    if fields.guided_json is not None:
        yield json_stated("/guided_json", fields.guided_json)
    if fields.guided_regex is not None:
        yield regex_stated("/guided_regex", fields.guided_regex)
    if fields.guided_choice is not None:
        yield choice_stated("/guided_choice", fields.guided_choice)
    if fields.guided_grammar is not None:
        yield grammar_stated("/guided_grammar", fields.guided_grammar)
    if fields.structured_outputs is not None:
        found = list(_structured(fields.structured_outputs))
        if not found:
            raise refused(
                "/structured_outputs",
                "states no constraint",
                "give json, regex, choice, grammar, json_object or structural_tag",
            )
        yield from found


def _structured(given: StructuredOutputs) -> Iterator[Stated]:
    place = "/structured_outputs"
    _require_whitespace(f"{place}/whitespace_pattern", given.whitespace_pattern)
    if given.json_ is not None:
        yield json_stated(f"{place}/json", given.json_)
    if given.regex is not None:
        yield regex_stated(f"{place}/regex", given.regex)
    if given.choice is not None:
        yield choice_stated(f"{place}/choice", given.choice)
    if given.grammar is not None:
        yield grammar_stated(f"{place}/grammar", given.grammar)
    if given.json_object:
        yield object_stated(f"{place}/json_object")
    if given.structural_tag is not None:
        yield tag_stated(f"{place}/structural_tag", given.structural_tag)


def _require_whitespace(pointer: str, pattern: str | None) -> None:
    if pattern is not None and pattern not in _WHITESPACE:
        raise refused(
            pointer,
            "answers have no white space outside strings",
            "omit the pattern, or use one that allows none, such as [ ]?",
        )
