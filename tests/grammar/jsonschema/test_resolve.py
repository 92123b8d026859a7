"""Where references lead, and how schemas that are none are refused."""

from typing import Any

import pytest
from intaglio.grammar.contract.errors import InvalidConstraint, UnsupportedConstraint
from intaglio.grammar.jsonschema.read.dialects import (
    DRAFT4,
    DRAFT7,
    DRAFT2019,
    DRAFT2020,
    Dialect,
    from_vocabulary,
    named,
)
from intaglio.grammar.jsonschema.read.resolve import Schemas, Scope
from intaglio.grammar.jsonschema.read.uri import defragment, join, step, steps


@pytest.mark.parametrize(
    ("reference", "absolute"),
    [
        # RFC 3986, section 5.4, from the base http://a/b/c/d;p?q
        ("g:h", "g:h"),
        ("g", "http://a/b/c/g"),
        ("./g", "http://a/b/c/g"),
        ("g/", "http://a/b/c/g/"),
        ("/g", "http://a/g"),
        ("//g", "http://g"),
        ("?y", "http://a/b/c/d;p?y"),
        ("g?y", "http://a/b/c/g?y"),
        ("#s", "http://a/b/c/d;p?q#s"),
        ("g#s", "http://a/b/c/g#s"),
        ("", "http://a/b/c/d;p?q"),
        (".", "http://a/b/c/"),
        ("..", "http://a/b/"),
        ("../g", "http://a/b/g"),
        ("../..", "http://a/"),
        ("../../../g", "http://a/g"),
        ("/./g", "http://a/g"),
        ("/../g", "http://a/g"),
        ("./../g", "http://a/b/g"),
        ("g;x=1/../y", "http://a/b/c/y"),
        ("g?y/./x", "http://a/b/c/g?y/./x"),
    ],
)
def test_references_resolve_as_rfc_3986_says(reference: str, absolute: str) -> None:
    assert join("http://a/b/c/d;p?q", reference) == absolute


def test_fragments_join_bases_of_any_scheme() -> None:
    assert join("urn:example:root", "#x") == "urn:example:root#x"
    assert join("", "#/a") == "#/a"
    assert defragment("tag:x,1#a%20b") == ("tag:x,1", "a b")


def test_pointers_escape() -> None:
    assert step("", "a/b~c") == "/a~1b~0c"
    assert steps("/a~1b~0c/0/~01") == ["a/b~c", "0", "~1"]


def target(schema: object, reference: str, **documents: object) -> object:
    schemas = Schemas(schema, {f"http://x/{name}": doc for name, doc in documents.items()})
    return schemas.value(schemas.resolve(schemas.root, reference))


def test_references_reach_definitions_anchors_ids_and_the_registry() -> None:
    schema: dict[str, Any] = {
        "$id": "http://x/root",
        "$defs": {
            "a": {"$anchor": "here", "title": "a"},
            "b": {"$id": "b", "$defs": {"c": {"title": "c"}}, "title": "b"},
        },
        "x-else": {"d": {"title": "d"}},
    }
    assert target(schema, "#here") == schema["$defs"]["a"]
    assert target(schema, "#/$defs/a") == schema["$defs"]["a"]
    assert target(schema, "b#/$defs/c") == {"title": "c"}
    assert target(schema, "http://x/b") == schema["$defs"]["b"]
    assert target(schema, "#/x-else/d") == {"title": "d"}
    assert target(schema, "other#/$defs/e", other={"$defs": {"e": True}}) is True
    assert target(schema, "http://json-schema.org/draft-07/schema#/definitions/nonNegativeInteger")


@pytest.mark.parametrize(
    ("reference", "error"),
    [
        ("#/$defs/nope", InvalidConstraint),
        ("#nope", InvalidConstraint),
        ("#/$defs/a/title", InvalidConstraint),
        ("http://elsewhere.test/schema", UnsupportedConstraint),
        ("file:///etc/passwd", UnsupportedConstraint),
    ],
)
def test_references_to_nothing_are_refused_where_they_stand(
    reference: str, error: type[InvalidConstraint | UnsupportedConstraint]
) -> None:
    schema = {"$defs": {"a": {"title": "a"}}, "properties": {"p": {"$ref": reference}}}
    schemas = Schemas(schema)
    with pytest.raises(error) as caught:
        schemas.resolve(schemas.below(schemas.root, "properties", "p"), reference)
    assert caught.value.refusals[0].where == "/properties/p/$ref"


def test_ids_beside_ref_do_not_count_up_to_draft_7() -> None:
    schema = {"$id": "http://x/", "allOf": [{"$id": "deep/", "$ref": "other"}]}
    for dialect, base in ((DRAFT7, "http://x/"), (DRAFT2020, "http://x/deep/")):
        schemas = Schemas({**schema, "$schema": dialect.uri})
        # Up to draft 7 nothing beside $ref is walked, `allOf` itself is.
        assert schemas.below(schemas.root, "allOf", 0).base == base


@pytest.mark.parametrize(
    ("names", "inner"),
    [
        ({}, DRAFT2020),
        ({"$id": "http://x/part"}, DRAFT2020),
        ({"id": "http://x/part"}, DRAFT4),
        ({"id": "#part"}, DRAFT2020),
    ],
)
def test_a_draft_within_a_document_counts_beside_an_identifier_alone(
    names: dict[str, str], inner: Dialect
) -> None:
    part = {"$schema": DRAFT4.uri, "properties": {"a": {}}, **names}
    schemas = Schemas({"allOf": [part]})
    assert schemas.below(schemas.root, "allOf", 0).dialect is inner


def test_the_outermost_dynamic_anchor_wins() -> None:
    schema = {
        "$id": "http://x/outer",
        "$defs": {
            "mine": {"$dynamicAnchor": "node", "title": "outer"},
            "inner": {
                "$id": "inner",
                "$defs": {"own": {"$dynamicAnchor": "node", "title": "inner"}},
                "items": {"$dynamicRef": "#node"},
            },
        },
    }
    schemas = Schemas(schema)
    site = schemas.below(schemas.root, "$defs", "inner", "items")
    alone = schemas.resolve_dynamic(site, "#node", Scope(("http://x/inner",)))
    within = schemas.resolve_dynamic(site, "#node", Scope(("http://x/outer", "http://x/inner")))
    assert (schemas.value(alone), schemas.value(within)) == (
        {"$dynamicAnchor": "node", "title": "inner"},
        {"$dynamicAnchor": "node", "title": "outer"},
    )


@pytest.mark.parametrize(
    ("schema", "where", "keyword"),
    [
        ({"type": "strnig"}, "/type", "type"),
        ({"properties": {"a": {"maxLength": 1.5}}}, "/properties/a/maxLength", "maxLength"),
        ({"minItems": -1}, "/minItems", "minItems"),
        ({"required": "a"}, "/required", "required"),
        ({"enum": "abc"}, "/enum", "enum"),
        ({"anyOf": []}, "/anyOf", "anyOf"),
        ({"items": 5}, "/items", "items"),
        ({"items": [{}]}, "/items", "items"),
        ({"multipleOf": 0}, "/multipleOf", "multipleOf"),
        ({"maximum": True}, "/maximum", "maximum"),
        ({"dependentRequired": {"a": "b"}}, "/dependentRequired", "dependentRequired"),
        ({"$defs": {"a": {"not": 1}}}, "/$defs/a/not", "not"),
    ],
)
def test_malformed_keywords_are_named(schema: object, where: str, keyword: str) -> None:
    with pytest.raises(InvalidConstraint) as caught:
        Schemas(schema)
    assert [(r.where, r.keyword) for r in caught.value.refusals] == [(where, keyword)]


def test_the_dialect_decides_what_is_malformed() -> None:
    Schemas({"exclusiveMaximum": True, "maximum": 3}, dialect=DRAFT4)
    Schemas({"items": [{}]}, dialect=DRAFT7)
    Schemas({"maxLength": 2.0, "x-own": [1], "title": 5})
    with pytest.raises(InvalidConstraint):
        Schemas([])


def test_vocabularies_switch_keywords_off() -> None:
    core = "https://json-schema.org/draft/2020-12/vocab/core"
    custom = from_vocabulary("http://x/meta", {core: True}, "/$schema")
    assert "minimum" not in custom.keywords
    assert "$ref" in custom.keywords
    with pytest.raises(InvalidConstraint):
        from_vocabulary("http://x/meta", {"http://x/own": True}, "/$schema")
    assert (
        from_vocabulary("http://x/meta", {"http://x/own": False}, "/$schema").uri == "http://x/meta"
    )


@pytest.mark.parametrize(
    ("uri", "dialect"),
    [
        ("http://json-schema.org/draft-04/schema#", DRAFT4),
        ("https://json-schema.org/draft-07/schema#", DRAFT7),
        ("https://json-schema.org/draft-07/schema", DRAFT7),
        ("http://json-schema.org/draft/2019-09/schema", DRAFT2019),
        ("http://json-schema.org/schema#", DRAFT2020),
        ("https://json-schema.org/draft-03/schema#", None),
        ("json-schema.org/draft-07/schema#", None),
        ("", None),
    ],
)
def test_drafts_are_known_by_either_scheme(uri: str, dialect: Dialect | None) -> None:
    assert named(uri) is dialect
