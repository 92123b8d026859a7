"""Schemas of Python types: what they allow, the type accepts."""

import ipaddress
import json
import random
from datetime import timedelta
from decimal import Decimal
from typing import Annotated, Any

import pytest
from intaglio.grammar.api import Compiler, Constraint, Kind
from intaglio.service.client.shapes import shape_of
from intaglio.service.schema_tools.schema_test import accepts
from pydantic import UUID1, UUID4, Field, FileUrl, HttpUrl, IPvAnyAddress, PostgresDsn, RedisDsn

from tests.support.tokens import small

NAMED = "123e4567-e89b-42d3-a456-426614174000"


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(small().vocabulary(), small().canonical)


@pytest.mark.parametrize(
    ("kind", "legal", "illegal"),
    [
        (
            Annotated[Decimal, Field(max_digits=6, decimal_places=2)],
            ["0", "-9999.99", "1234.5"],
            ["10000", "-10000", "1.234", "1e4"],
        ),
        (Annotated[Decimal, Field(decimal_places=0)], ["123456789"], ["0.5"]),
        (Annotated[Decimal, Field(max_digits=3)], ["999"], ["1000", "-1000"]),
        (Annotated[Decimal, Field(max_digits=3, decimal_places=3)], ["0.999"], ["1", "0.0001"]),
        (
            Annotated[Decimal, Field(max_digits=9, decimal_places=2, ge=0, lt=10)],
            ["9.99"],
            ["-0.01", "10"],
        ),
        (
            timedelta,
            ['"P3D"', '"P1Y2M3DT4H5M6S"', '"PT1234567S"', '"P999999Y"'],
            ['"P1000000000D"', '"P9999999Y"', '"PT99999999999999H"'],
        ),
        (
            UUID4,
            [f'"{NAMED}"'],
            [f'"{NAMED.replace("-4", "-1")}"', f'"{NAMED.replace("-a", "-0")}"'],
        ),
        (UUID1, [f'"{NAMED.replace("-42", "-12")}"'], [f'"{NAMED}"', '"x"']),
        (IPvAnyAddress, ['"192.168.0.1"', '"::1"'], ['"hello"', '"1.2.3"']),
        (ipaddress.IPv4Address, ['"192.168.0.1"'], ['"::1"']),
        (
            HttpUrl,
            ['"https://example.org/a?b#c"', '"http://[::1]/"'],
            ['"ftp://a.b"', '"a:b"', '"https:"', '"http://"', '"http://:80"', '"www.a.org"'],
        ),
        (FileUrl, ['"file:///etc/hosts"'], ['"https://a.b"']),
        (RedisDsn, ['"rediss://cache:1/0"'], ['"http://cache"', '"redis://"']),
        (PostgresDsn, ['"postgresql+psycopg://db/x"'], ['"postgresqlXpsycopg://db/x"', '"db"']),
        (dict[int, str], ['{"12":"a"}', '{"-3":"a"}', "{}"], ['{"x":"a"}', '{"1.5":"a"}']),
    ],
)
def test_a_schema_is_as_narrow_as_its_type(
    compiler: Compiler, kind: Any, legal: list[str], illegal: list[str]
) -> None:
    shape = shape_of(kind)
    constraint = Constraint(Kind.JSON_SCHEMA, json.dumps(shape.schema))
    allows = accepts(compiler, constraint)
    for text in legal:
        assert allows(text), text
        shape.read(json.loads(text))
    assert [text for text in illegal if allows(text)] == []


@pytest.mark.parametrize(("digits", "places"), [(6, 2), (4, 3), (12, 0), (5, 1)])
def test_every_number_of_the_schema_is_a_decimal_of_the_type(
    compiler: Compiler, digits: int, places: int
) -> None:
    shape = shape_of(Annotated[Decimal, Field(max_digits=digits, decimal_places=places)])
    allows = accepts(compiler, Constraint(Kind.JSON_SCHEMA, json.dumps(shape.schema)))
    draw, seen = random.Random(f"{digits} {places}"), 0
    for _ in range(300):
        whole, part = draw.randrange(10 ** draw.randrange(14)), draw.randrange(10**5)
        text = f"{draw.choice(['', '-'])}{whole}" + f".{part:05}"[: draw.randrange(1, 7)].rstrip(
            "."
        )
        if allows(text):
            shape.read(json.loads(text))
            seen += 1
    assert seen > 20
