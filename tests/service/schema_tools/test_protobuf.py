"""Fields of messages: the texts of large numbers, the keys of maps, well-known types, recursion."""

from typing import Any

import jsonschema
import pytest
from intaglio.service.schema_tools.protobuf import from_protobuf


def field(declared: str) -> dict[str, Any]:
    schema = from_protobuf(f'import "google/protobuf/any.proto"; message A {{ {declared} x = 1; }}')
    return dict(schema["$defs"]["A"]["properties"]["x"])


@pytest.mark.parametrize(
    ("declared", "values", "others"),
    [
        ("int64", ["0", "9223372036854775807", "-9223372036854775808", "10"],
         ["9223372036854775808", "-9223372036854775809", "-0", "01", "", "9999999999999999999"]),
        ("uint64", ["18446744073709551615", "7"], ["18446744073709551616", "-1"]),
        ("map<int32, string>", [{"1": "a", "-2147483648": "b"}, {}], [{"a": "b"}, {"2147483648": ""}]),
        ("map<uint32, string>", [{"4294967295": "a"}], [{"-1": "b"}, {"4294967296": ""}]),
        ("map<bool, string>", [{"true": "a"}], [{"yes": "b"}]),
        ("google.protobuf.Int64Value", ["1", None], [1]),
        ("google.protobuf.UInt32Value", [1, None], [-1]),
        ("google.protobuf.FloatValue", [1.5, None], ["1"]),
        ("google.protobuf.BytesValue", ["AAEC", None], ["A"]),
        ("google.protobuf.Any", [{"@type": "t", "a": 1}], [{}]),
        ("google.protobuf.NullValue", [None], [0]),
    ],
)  # fmt: skip
def test_a_field_accepts_the_values_of_its_type(
    declared: str, values: list[Any], others: list[Any]
) -> None:
    validator = jsonschema.Draft202012Validator(field(declared))
    assert [value for value in values if not validator.is_valid(value)] == []
    assert [value for value in others if validator.is_valid(value)] == []


def test_a_message_need_not_contain_itself() -> None:
    tree = from_protobuf(
        "message A { string n = 1; B b = 2; } message B { A a = 1; int32 m = 2; }", "A"
    )
    jsonschema.validate({"n": "a"}, tree)
    jsonschema.validate({"n": "a", "b": {"m": 1, "a": {"n": "c"}}}, tree)
    assert not jsonschema.Draft202012Validator(tree).is_valid({"n": "a", "b": {"m": 1}})
