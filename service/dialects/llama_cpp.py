"""Constraints stated by llama.cpp's `grammar` and `json_schema`.

Does: read the fields. Does not: define them (`schemas/dialects/llama_cpp_fields.py`).
"""

from collections.abc import Iterator

from intaglio.schemas.dialects.llama_cpp_fields import LlamaCppFields

from .stated import Stated, grammar_stated, json_stated


def stated(fields: LlamaCppFields) -> Iterator[Stated]:
    """All constraints in the fields.

    Raises:
        InvalidBody: the schema is not JSON.
    """
    yield from grammar(fields)
    if fields.json_schema is not None:
        yield json_stated("/json_schema", fields.json_schema)


def grammar(fields: LlamaCppFields) -> Iterator[Stated]:
    """The constraint in `grammar` alone; an empty grammar constrains nothing."""
    if fields.grammar:
        yield grammar_stated("/grammar", fields.grammar)
