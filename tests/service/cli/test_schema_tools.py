"""`intaglio schema infer`, `diff`, `test`, `from` and `dialect`, as a user calls them."""

import json
from pathlib import Path

import jsonschema

from tests.service.cli.conftest import Run


def test_infer_reads_lines_arrays_and_single_documents(run: Run, tmp_path: Path) -> None:
    lines, array = tmp_path / "a.jsonl", tmp_path / "b.json"
    lines.write_text('{"a": 1}\n\n{"a": 2.5, "b": null}\n')
    array.write_text('[{"a": 1}]')
    done = run("schema", "infer", str(lines), str(array), "--json")
    assert done.exit_code == 0
    found = json.loads(done.stdout)
    assert found["required"] == ["a"]
    assert found["properties"]["a"] == {"type": "number"}
    lines.write_text('{"a": 1}\n{"a": }\n')
    done = run("schema", "infer", str(lines))
    assert done.exit_code == 5
    assert "a.jsonl:2: not JSON" in done.stderr


def test_diff_fails_in_strict_mode_if_documents_may_be_lost(run: Run, tmp_path: Path) -> None:
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    old.write_text('{"type": "string"}')
    new.write_text('{"type": "string", "maxLength": 3}')
    done = run("schema", "diff", str(old), str(new))
    assert (done.exit_code, done.stdout) == (0, "narrower /maxLength: was absent, is 3\n")
    assert run("schema", "diff", str(old), str(new), "--strict").exit_code == 3
    assert run("schema", "diff", str(new), str(old), "--strict").exit_code == 0
    assert run("schema", "diff", "invoice", "invoice").stdout == "the schemas are equal\n"


def test_from_names_the_file_the_line_and_the_languages(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "a.ts"
    file.write_text("interface A { a: string }")
    done = run("schema", "from", "ts", str(file), "--json")
    assert done.exit_code == 0
    jsonschema.validate({"a": "x"}, json.loads(done.stdout))
    file.write_text("interface A {\n a(): string }")
    done = run("schema", "from", "ts", str(file))
    assert done.exit_code == 5
    assert "a.ts: line 2: 'a' is a function" in done.stderr
    assert run("schema", "from", "cobol", str(file)).exit_code == 2


def test_the_dialect_knows_our_keyword_wherever_a_schema_may_stand(run: Run) -> None:
    dialect = json.loads(run("schema", "dialect", "--json").stdout)
    validator = jsonschema.Draft202012Validator(dialect)
    good = {"properties": {"a": {"type": "string", "x-intaglio": {"verbatim": True}}}}
    assert validator.is_valid(good)
    options: tuple[object, ...] = ({}, {"verbatum": True}, True)
    for bad in ({"x-intaglio": option} for option in options):
        assert not validator.is_valid(bad)
        assert not validator.is_valid({"properties": {"a": {"items": bad}}})
    assert not validator.is_valid({"type": "strin"})
