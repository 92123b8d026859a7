"""Schemas inferred from examples: they have what all examples share, and no example contradicts them."""

import random
from typing import Any

import jsonschema
import pytest
from intaglio.service.schema_tools.infer import inferred


def test_what_examples_share() -> None:
    examples = [
        {
            "id": i,
            "when": f"2024-01-0{i % 9 + 1}",
            "kind": "ab"[i % 2],
            "total": i * 1.5,
            "note": None if i else "hi",
        }
        for i in range(9)
    ]
    del examples[3]["total"]
    schema = inferred(examples)
    assert schema["properties"] == {
        "id": {"type": "integer"},
        "when": {"type": "string", "format": "date"},
        "kind": {"enum": ["a", "b"]},
        "total": {"type": "number"},
        "note": {"enum": ["hi", None]},
    }
    assert schema["required"] == ["id", "when", "kind", "note"]
    assert schema["additionalProperties"] is False


def test_keys_that_are_data_become_a_map() -> None:
    examples = [{"stock": {f"sku{i}": i, f"sku{i + 40}": 1}} for i in range(12)]
    assert inferred(examples)["properties"]["stock"] == {
        "type": "object",
        "additionalProperties": {"type": "integer"},
    }


def test_without_examples_there_is_no_schema() -> None:
    with pytest.raises(ValueError, match="no examples"):
        inferred([])


@pytest.mark.parametrize("seed", range(40))
def test_every_example_is_valid(seed: int) -> None:
    draw = random.Random(seed)

    def value(depth: int) -> Any:
        choices = [
            None,
            True,
            3,
            -2.5,
            1e30,
            "",
            "x",
            "2024-02-29",
            "a@b.example",
            "10:00:00Z",
            2.0,
        ]
        if depth and draw.random() < 0.5:
            if draw.random() < 0.5:
                return [value(depth - 1) for _ in range(draw.randint(0, 3))]
            return {draw.choice("abcde"): value(depth - 1) for _ in range(draw.randint(0, 4))}
        return draw.choice(choices)

    examples = [value(3) for _ in range(draw.randint(1, 12))]
    schema = inferred(examples)
    validator = jsonschema.Draft202012Validator(
        schema, format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER
    )
    validator.check_schema(schema)
    for example in examples:
        validator.validate(example)
