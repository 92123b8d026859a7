"""The check of worked examples: their data must be valid answers.

Does: validate the data of each example under the schema of the request, with JSON Pointers into the body. Does not:
show examples to a model (`prompt`).
"""

import json
from collections.abc import Mapping, Sequence
from itertools import islice
from typing import Any, Final

from intaglio.grammar.api import parse_json
from intaglio.schemas.extraction.requests import Example
from intaglio.schemas.json_pointer import pointer_of
from intaglio.schemas.problem import Detail

from ..errors import InvalidBody
from .ecma_patterns import PatternTooCostly, PatternUnreadable
from .translate import MAX_DETAILS

_MAX_FAULTS: Final = 5  # of one example


def check_examples(examples: Sequence[Example], schema: Mapping[str, Any] | bool) -> None:
    """Return if the data of every example is valid under `schema`, which must be a schema that can be enforced.

    Raises:
        InvalidBody: an example is not valid; each place is named.
    """
    if not examples:
        return
    details = tuple(
        detail
        for number, example in enumerate(examples)
        for detail in _faults(number, example, schema)
    )
    if details:
        raise InvalidBody(
            f"the data of an example does not fit the schema: {details[0].pointer} {details[0].reason}",
            param="examples",
            hint="an example shows an answer, and every answer is valid under the schema",
            details=details[:MAX_DETAILS],
        )


def _faults(number: int, example: Example, schema: Mapping[str, Any] | bool) -> list[Detail]:
    # The import takes most of a second, which must not delay the start of a server.
    from .validate import faults

    place = ("examples", number, "data")
    # Numbers as written: a float would lose the digits that decide `multipleOf`.
    data = parse_json(json.dumps(example.data), exact=True)
    try:
        return [
            Detail(
                pointer=pointer_of((*place, *fault.absolute_path)),
                keyword=str(fault.validator),
                reason=f"does not meet {pointer_of(fault.absolute_schema_path) or '/'} of the schema",
            )
            for fault in islice(faults(data, schema, example.text), _MAX_FAULTS)
        ]
    except (PatternTooCostly, PatternUnreadable, RecursionError) as error:
        reason = f"cannot be checked against the schema: {type(error).__name__}"
        return [Detail(pointer=pointer_of(place), reason=reason)]
