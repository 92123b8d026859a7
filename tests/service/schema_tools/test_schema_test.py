"""Samples and near misses: the validator accepts all samples, and agrees with the masks on each near miss."""

import json

import pytest
from intaglio.grammar.api import Compiler, Constraint, KeyOrder, Kind
from intaglio.service.extraction.validate import faults
from intaglio.service.schema_tools.schema_test import accepts, near_misses, samples

from tests.support.tokens import small

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "minLength": 1, "maxLength": 12},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
        "tags": {"type": "array", "items": {"enum": ["a", "b"]}, "uniqueItems": True},
    },
    "required": ["name", "age"],
}


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(small().vocabulary(), small().canonical)


def test_samples_are_valid_and_near_misses_agree(compiler: Compiler) -> None:
    constraint = Constraint(
        Kind.JSON_SCHEMA, json.dumps(SCHEMA), key_order=KeyOrder.ANY, extra_properties=True
    )
    written = samples(compiler, constraint, 6)
    assert len(written) == len(set(written)) == 6
    assert samples(compiler, constraint, 6) == written != samples(compiler, constraint, 6, seed=1)
    for text in written:
        assert list(faults(json.loads(text), SCHEMA)) == []
    missed = near_misses(SCHEMA, written, accepts(compiler, constraint), 40)
    assert all(miss.agrees for miss in missed)
    reasons = " ".join(miss.reason for miss in missed)
    assert "'name' is a required property" in reasons
    assert "is not of type" in reasons
    for miss in missed:
        assert bool(miss.reason) == bool(list(faults(json.loads(miss.text), SCHEMA)))


def test_a_disagreement_is_reported(compiler: Compiler) -> None:
    missed = near_misses(SCHEMA, ['{"name":"a","age":1}'], lambda _: True, 10)
    assert not missed[0].agrees
    assert missed[0].reason
