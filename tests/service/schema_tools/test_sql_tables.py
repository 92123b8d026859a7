"""Tables as dumps and people write them: columns, constraints, comments, and what is not read."""

from typing import Any

import pytest
from intaglio.service.schema_tools.source_text import SourceError
from intaglio.service.schema_tools.sql_tables import from_sql

POSTGRESQL = """
\\restrict abc
CREATE DOMAIN public.year AS integer
    CONSTRAINT year_check CHECK (VALUE >= 1901 AND VALUE <= 2155);
CREATE TYPE public.rating AS ENUM ('G', 'R');
CREATE FUNCTION public.f() RETURNS int AS $_$ BEGIN; it's; END $_$ LANGUAGE plpgsql;
CREATE UNLOGGED TABLE public.film (
    id integer NOT NULL,
    made public.year,
    rating public.rating DEFAULT 'G'::public.rating NOT NULL,
    title character varying(255) COLLATE pg_catalog."default" NOT NULL
);
CREATE TABLE public.part PARTITION OF public.whole FOR VALUES IN (1);
CREATE TABLE public.place (at geometry);
COMMENT ON TABLE public.film IS 'A film.';
COMMENT ON COLUMN public.film.made IS 'year of the première';
COPY public.film (id, title) FROM stdin;
1\tO'Brien "x
\\.
"""
MYSQL = r"""
# a dump
/*!40101 SET character_set_client = utf8 */;
CREATE TABLE `actor` (
  `id` smallint unsigned NOT NULL AUTO_INCREMENT,
  `name` varchar(45) NOT NULL COMMENT 'it\'s whole; no title',
  `parts` set('a','b.c') DEFAULT NULL,
  `price` decimal(5,2) unsigned NOT NULL DEFAULT '0.00',
  `bio` tinytext,
  PRIMARY KEY (`id`,`name`(10) DESC) USING BTREE,
  KEY `k` (`name`),
  FULLTEXT KEY `t` (`bio`),
  SPATIAL INDEX (`name`)
) ENGINE=InnoDB;
INSERT INTO `actor` VALUES (1,'O\'Brien;',NULL);
"""


def test_a_dump_of_postgresql_is_read() -> None:
    film = from_sql(POSTGRESQL, "film")
    bounds = {"minimum": 1901, "maximum": 2155}
    description = "year of the première"
    assert film["description"] == "A film."
    assert film["properties"]["made"] == {
        "type": ["integer", "null"], **bounds, "description": description
    }  # fmt: skip
    assert film["properties"]["rating"] == {"enum": ["G", "R"]}
    assert film["properties"]["title"] == {"type": "string", "maxLength": 255}


def test_a_dump_of_mysql_is_read() -> None:
    actor = from_sql(MYSQL)
    assert "description" not in actor
    columns = actor["properties"]
    assert list(columns) == ["id", "name", "parts", "price", "bio"]
    assert columns["id"] == {"type": "integer", "minimum": 0, "maximum": 65535}
    assert columns["name"]["description"] == "it's whole; no title"
    assert columns["parts"]["pattern"] == r"^((a|b\.c)(,(a|b\.c))*)?$"
    assert columns["price"] == {"multipleOf": 0.01, "exclusiveMaximum": 1000, "minimum": 0} | {
        "type": "number"
    }


def test_a_table_that_cannot_be_translated_hinders_no_other() -> None:
    with pytest.raises(SourceError, match="line 14: the type 'geometry' is not known"):
        from_sql(POSTGRESQL, "place")


@pytest.mark.parametrize(
    ("columns", "names"),
    [
        ("key text PRIMARY KEY, value text", ["key", "value"]),
        ("key varchar(10), index int, exclude int", ["key", "index", "exclude"]),
        ("key enum('a', 'b')", ["key"]),
        ("a int, KEY k (a), INDEX (a), KEY k2 USING btree (a), EXCLUDE USING gist (a WITH =)", ["a"]),
        ("a, b DEFAULT 1, c NOT NULL", ["a", "b", "c"]),
    ],
)  # fmt: skip
def test_columns_are_told_from_constraints(columns: str, names: list[str]) -> None:
    assert list(from_sql(f"CREATE TABLE t ({columns})")["properties"]) == names


def test_columns_of_sqlite_without_a_type_have_texts_and_numbers() -> None:
    columns = from_sql("CREATE TABLE t (a, b NOT NULL)")["properties"]
    kinds = {"a": ["string", "number", "null"], "b": ["string", "number"]}
    assert {name: column["type"] for name, column in columns.items()} == kinds


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("CREATE TABLE t (a int,\n LIKE other INCLUDING ALL)", "line 2: the columns of 'other'"),
        ("CREATE TABLE t AS SELECT 1", "no table to translate"),
        ("CREATE TABLE t (a int, PRIMARY KEY", "expected '\\(', not the end"),
    ],
)
def test_what_declares_no_columns_is_refused(source: str, message: str) -> None:
    with pytest.raises(SourceError, match=message):
        from_sql(source)


def test_a_table_has_the_columns_that_it_inherits() -> None:
    parent = "CREATE TABLE a (x int NOT NULL, y text);"
    child = from_sql(parent + "CREATE TABLE b (CHECK (x > 1), z date) INHERITS (a)", "b")
    assert child["required"] == ["x", "y", "z"]
    with pytest.raises(SourceError, match="the columns of 'a', a parent, are not known"):
        from_sql("CREATE TABLE b (z date) INHERITS (public.a)")


def test_two_checks_of_a_column_both_hold() -> None:
    def checked(column: str) -> dict[str, Any]:
        return dict(from_sql(f"CREATE TABLE t (a {column})")["properties"]["a"])

    assert checked("int NOT NULL CHECK (a > 5) CHECK (a > 0)")["exclusiveMinimum"] == 5
    assert checked("int NOT NULL CHECK (a >= -99999999999)")["minimum"] == -(2**31)
    assert checked("int NOT NULL CHECK (a > 1) CHECK (a IN (1, 2))") == {"enum": [2]}
    assert "exclusiveMinimum" not in checked("text CHECK (a > 5)")
