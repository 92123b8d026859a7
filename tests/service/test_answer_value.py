"""The value of an output in floats is as valid as the text that the model wrote."""

import json
from typing import Any

import pytest
from intaglio.service.errors import InvalidOutput
from intaglio.service.extraction.answer_value import checked_value
from intaglio.service.extraction.validate import check

NINES = "4.99999999999999999999"

# A schema, a text that is valid under it, and the value in the answer.
WRITTEN: list[tuple[dict[str, Any], str, Any]] = [
    ({"exclusiveMaximum": 5}, NINES, 4.999999999999999),
    ({"exclusiveMinimum": 5}, "5.00000000000000000001", 5.000000000000001),
    ({"exclusiveMinimum": 0}, "0." + "0" * 400 + "1", 5e-324),
    ({"not": {"type": "integer"}}, NINES, 4.999999999999999),
    ({"uniqueItems": True}, f"[5,{NINES}]", [5, 4.999999999999999]),
    ({"multipleOf": 3}, "30000000000000000000003.0", 30000000000000000000003),
    ({"properties": {"a": {"items": {"exclusiveMaximum": 5}}, "b": {"minimum": 5}}},
     f'{{"a":[{NINES},1.5],"b":5.00000000000000000001}}', {"a": [4.999999999999999, 1.5], "b": 5.0}),
    ({"maximum": 5}, NINES, 5.0),
    ({"multipleOf": 0.01}, "28.990", 28.99),
]  # fmt: skip


@pytest.mark.parametrize(("schema", "text", "value"), WRITTEN)
def test_a_price_just_below_its_bound_is_below_it_in_the_answer(
    schema: dict[str, Any], text: str, value: Any
) -> None:
    data, digits = checked_value(text, schema, None)
    assert data == value
    assert type(data) is type(value)
    check(json.loads(json.dumps(data)), schema)
    check(digits, schema)


def test_a_number_that_no_float_can_hold_is_not_sent() -> None:
    schema = {"exclusiveMinimum": 5, "exclusiveMaximum": 5.000000000000001}
    with pytest.raises(InvalidOutput):
        checked_value("5.00000000000000000001", schema, None)
