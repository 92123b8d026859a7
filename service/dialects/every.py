"""The constraint of a request to an OpenAI-compatible path, in any dialect.

Does: ask every dialect and require one constraint at most. Does not: read fields (one file for each dialect).
"""

from collections.abc import Iterator

from intaglio.schemas.dialects.constraint_fields import ConstraintFields

from . import llama_cpp, openai_format, sglang, vllm
from .stated import Stated, only_one


def stated_constraint(fields: ConstraintFields) -> Stated | None:
    """The constraint that the fields state; None if they state none.

    Raises:
        InvalidBody: they state several, or a field states no usable constraint.
    """
    return only_one(_all(fields))


def _all(fields: ConstraintFields) -> Iterator[Stated]:
    yield from openai_format.stated(fields)
    yield from vllm.stated(fields)
    yield from sglang.stated(fields)
    yield from llama_cpp.grammar(fields)  # `json_schema` has the same meaning in both
