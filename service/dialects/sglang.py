"""Constraints stated by SGLang's `regex`, `ebnf` and `json_schema`.

Does: read the fields. Does not: define them (`schemas/dialects/sglang_fields.py`).
"""

from collections.abc import Iterator

from intaglio.schemas.dialects.sglang_fields import SglangFields

from .stated import Stated, ebnf_stated, json_stated, regex_stated


def stated(fields: SglangFields, place: str = "") -> Iterator[Stated]:
    """All constraints in the fields, which are at the JSON Pointer `place`.

    Raises:
        InvalidBody: the schema is not JSON.
    """
    if fields.regex is not None:
        yield regex_stated(f"{place}/regex", fields.regex)
    if fields.ebnf is not None:
        yield ebnf_stated(f"{place}/ebnf", fields.ebnf)
    if fields.json_schema is not None:
        yield json_stated(f"{place}/json_schema", fields.json_schema)
