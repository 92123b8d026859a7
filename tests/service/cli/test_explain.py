"""`intaglio schema explain` and `schema check`: their output and their exit codes."""

import json
from pathlib import Path

import jsonschema
import pytest
from intaglio.schemas import catalogue
from intaglio.service.extraction.outline import outline

from tests.service.cli.conftest import Run

REFUSED = {"properties": {"a": {"pattern": "(a)\\1"}, "b": {"type": "string", "minlength": 3}}}
NEVER = {"allOf": [{"type": "string"}, {"type": "number"}]}
JUDGED = {
    "properties": {
        "p": {"format": "regex"},
        "u": {"uniqueItems": True, "items": {"type": "string"}},
    },
    "type": "object",
    "required": ["p", "u"],
}


def file(name: str, content: object) -> str:
    Path(name).write_text(content if isinstance(content, str) else json.dumps(content))
    return name


def test_everything_about_a_schema(run: Run) -> None:
    done = run("schema", "explain", "invoice", "--json")
    assert done.exit_code == 0, done.stderr
    found, schema = json.loads(done.stdout), catalogue.get("invoice").schema
    assert found["enforced"] is True
    tiers = {row["pointer"]: row["tier"] for row in found["keywords"]}
    assert tiers["/properties/currency/pattern"] == "A"
    assert next(iter(tiers)) == f"/{next(key for key in schema if f'/{key}' in tiers)}"
    for name in ("shortest", "typical"):
        jsonschema.validate(
            json.loads(found[name]),
            schema,
            format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER,
        )
    assert set(json.loads(found["typical"])) == set(schema["properties"])
    assert 1 < found["least_tokens"] < found["typical_tokens"]
    assert found["prompt"]["text"] == outline(schema)
    assert found["prompt"]["tokens"] > 100
    assert found["cost"]["states"] > 50  # those of the samples
    assert found["cost"]["bytes"] > found["cost"]["states"]


def test_people_are_told_the_same(run: Run) -> None:
    done = run("schema", "explain", file("judged.json", JUDGED))
    assert done.exit_code == 0
    lines = [line.split() for line in done.stdout.splitlines()]
    assert ["/properties/p/format", "C"] in [line[:2] for line in lines]
    assert ["/properties/u/uniqueItems", "B"] in [line[:2] for line in lines]
    assert ["/properties/u/items/type", "A"] in [line[:2] for line in lines]
    for word in ("compiled in", "states", "shortest", "typical", "tokens to a prompt"):
        assert word in done.stdout


def test_a_refusal_says_where_why_and_what_to_do(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    done = run("schema", "explain", "-", stdin=json.dumps(REFUSED))
    assert done.exit_code == 3
    assert "unsupported_schema" in done.stdout
    assert "/properties/a/pattern: back-reference" in done.stdout
    assert "hint: spell out what the group may be" in done.stdout
    assert "did you mean minLength?" in done.stdout
    found = json.loads(run("schema", "explain", "-", "--json", stdin=json.dumps(REFUSED)).stdout)
    assert found["code"] == "unsupported_schema"
    assert [row["pointer"] for row in found["refusals"]] == ["/properties/a/pattern"]
    assert "/properties/a/pattern" not in [row["pointer"] for row in found["keywords"]]


@pytest.mark.parametrize(
    ("content", "code", "name"),
    [
        ({"type": "string"}, 0, None),
        (REFUSED, 3, "unsupported_schema"),
        (NEVER, 3, "unsatisfiable_schema"),
        ({"minItems": 10**6}, 3, "schema_too_large"),
        ({"type": "strin"}, 5, "invalid_schema"),
        ("{", 5, "invalid_schema"),
        ("[]", 5, "invalid_schema"),
    ],
)
def test_check_ends_by_what_it_found(
    run: Run, content: object, code: int, name: str | None
) -> None:
    done = run("schema", "check", file("it.json", content), "--json")
    assert done.exit_code == code
    assert json.loads(done.stdout)["code"] == name


def test_check_takes_many_and_the_greatest_code_counts(run: Run) -> None:
    good, bad, odd = file("a.json", {}), file("b.json", NEVER), file("c.json", "no")
    assert run("schema", "check", good, "contact").exit_code == 0
    done = run("schema", "check", odd, bad, good)
    assert done.exit_code == 5
    assert [line.split(":")[0] for line in done.stdout.splitlines() if line[0] != " "] == [
        odd,
        bad,
        good,
    ]
    assert run("schema", "check", bad, good).exit_code == 3
    assert run("schema", "check", good, "missing.json").exit_code == 2


def test_patterns_and_grammars_are_explained_too(run: Run) -> None:
    found = json.loads(
        run("schema", "explain", file("x.regex", "[0-9]{4}-[a-f]+\n"), "--json").stdout
    )
    assert found["engine"] == "machine"
    assert len(found["shortest"]) == 6
    assert found["prompt"] is None
    assert run("schema", "check", file("y.regex", "(a)\\1")).exit_code == 3
    done = run("schema", "check", "-", "--kind", "regex", stdin="(")
    assert done.exit_code == 5
    assert run("schema", "check", "-", "--kind", "cobol", stdin="(").exit_code == 2


def test_other_documents_and_forms_are_options(run: Run) -> None:
    name = file("uses.json", {"$ref": "https://example.com/one"})
    assert run("schema", "check", name).exit_code == 3
    other = file("one.json", {"type": "array", "items": {"const": 7}, "minItems": 2})
    given = ("--ref", f"https://example.com/one={other}", "--whitespace", "spaced", "--json")
    found = json.loads(run("schema", "explain", name, *given).stdout)
    assert found["shortest"] == "[7, 7]"
    assert "https://example.com/one#/items" in [row["pointer"] for row in found["keywords"]]
    assert run("schema", "check", name, "--ref", "nonsense").exit_code == 2
    assert run("schema", "check", name, "--whitespace", "wide").exit_code == 2


def test_a_strict_check_fails_where_a_word_is_not_known(run: Run) -> None:
    name = file("typo.json", {"type": "string", "maxlength": 5})
    lax = run("schema", "check", name)
    assert lax.exit_code == 0
    assert "every assertion is enforced" not in lax.stdout
    assert (
        "/maxlength is not enforced: there is no such keyword; did you mean maxLength?"
        in lax.stdout
    )
    strict = run("schema", "check", name, "contact", "--strict")
    assert strict.exit_code == 3
    assert "contact: every assertion is enforced" in strict.stdout
    told = json.loads(run("schema", "check", name, "--strict", "--json").stdout)
    assert told["contract"]["unknown"][0]["pointer"] == "/maxlength"
    noted = file("noted.json", {"type": "string", "format": "int64", "x-ours": 1})
    assert run("schema", "check", noted, "--strict").exit_code == 0
