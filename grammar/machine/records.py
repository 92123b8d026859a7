"""Records in compiled code: arrays of int64 with named fields.

Does: view an array as a record, so that loops read and write `note.state`, and a misspelled field is a type error.
Does not: copy. Python reads the same arrays by position, which takes 0.04 us; a field of a numpy record takes five
times as long, and a record as an argument of a call six times as long as an array.
"""

from collections.abc import Callable
from typing import Any, TypeVar, cast

import numpy as np
from numba.extending import intrinsic
from numba.np.numpy_support import from_dtype

from ..base.array_types import Longs

T = TypeVar("T")

Whole = Any
"""A field: int64. Loops mix numpy and Python integers, which are different types to mypy."""


def fields_of(described: type) -> np.dtype[np.void]:
    """The record type with the annotated fields of a class, in order, each int64."""
    return np.dtype([(name, np.int64) for name in described.__annotations__])


def _view_as(described: type) -> Callable[..., Any]:
    layout = fields_of(described)

    def view(typing: Any, array: Any) -> Any:  # noqa: ARG001 - the signature of an intrinsic
        record = from_dtype(layout)

        def generate(context: Any, builder: Any, signature: Any, given: Any) -> Any:  # noqa: ARG001 - as numba calls it
            data = context.make_array(array)(context, builder, given[0]).data
            return builder.bitcast(data, context.get_value_type(record))

        return record(array), generate

    return view


def record_of(described: type[T]) -> Callable[[Longs], T]:
    """A function for compiled code that views an int64 array as a record with the fields of `described`."""
    return cast("Callable[[Longs], T]", intrinsic(_view_as(described)))
