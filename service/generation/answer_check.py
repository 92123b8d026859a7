"""Checks of a finished answer by code that shares nothing with the decoder.

Does: give the check that fits a constraint, where there is one. Does not: check grammars (EBNF and Lark), for which no
independent parser is at hand.
"""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final

from intaglio.grammar.api import Constraint, InvalidJson, Kind, parse_json

from ..errors import InvalidOutput
from ..extraction.ecma_patterns import PatternTooCostly, PatternUnreadable, matches_whole

MAX_ANSWER_DEPTH: Final = 512


def check_of(
    constraint: Constraint, schema: Mapping[str, Any] | bool | None = None
) -> Callable[[str], None] | None:
    """The check of answers under `constraint`; None if there is none. `schema` is the source of a JSON Schema."""
    if constraint.kind is Kind.JSON_SCHEMA and schema is not None:
        return partial(check_json, schema=schema, document=constraint.document)
    if constraint.kind is Kind.REGEX:
        return partial(check_pattern, pattern=constraint.source)
    return None


def check_json(text: str, schema: Mapping[str, Any] | bool, document: str | None = None) -> None:
    """Return if `text` is JSON and valid against `schema`. `document`: the text that verbatim strings must occur in.

    Raises:
        InvalidOutput: it is not, or the check exceeded its bounds. The message holds no part of `text`.
    """
    # The import takes most of a second, which must not delay the start of a server.
    from ..extraction.validate import check

    try:
        # Numbers as written: a float would lose the digits that decide `multipleOf`.
        value = parse_json(text, depth=MAX_ANSWER_DEPTH, exact=True)
    except InvalidJson:
        raise InvalidOutput(
            "the output is not JSON",
            hint="this is a defect of the service: please report it with the schema",
        ) from None
    check(value, schema, document)


def check_pattern(text: str, pattern: str) -> None:
    """Return if `pattern` matches the whole of `text`, or if the independent matcher cannot read or decide it.

    Raises:
        InvalidOutput: it does not match. The message holds no part of `text`.
    """
    try:
        if matches_whole(pattern, text):
            return
    except (PatternTooCostly, PatternUnreadable):  # the masks have enforced it nevertheless
        return
    raise InvalidOutput(
        "the output does not match the pattern",
        hint="this is a defect of the service: please report it with the pattern",
    )
