"""The ranges of the scalars of a JSON text."""

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from intaglio.service.grounding.data_leaves import records
from intaglio.service.grounding.value_ranges import value_ranges

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(VALUES, st.booleans(), st.sampled_from([None, 1]))
def test_every_scalar_has_its_range(value: Any, ascii_only: bool, indent: int | None) -> None:
    text = json.dumps(value, ensure_ascii=ascii_only, indent=indent).encode(
        "utf-8", "surrogatepass"
    )
    found = {
        pointer: json.loads(text[begin:end].decode("utf-8", "surrogatepass"))
        for pointer, (begin, end) in value_ranges(text).items()
    }
    assert list(found.items()) == list(records(value)[1].items())
