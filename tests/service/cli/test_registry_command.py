"""`intaglio schema register` and its like, and `intaglio extract --stream`, against a service."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.service.cli.conftest import Run
from tests.support.live_service import Live, live
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PERSON = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    with live(launch(), folder, data=str(tmp_path_factory.mktemp("data"))) as running:
        yield running


def test_a_schema_is_registered_used_listed_and_deleted(run: Run, service: Live) -> None:
    Path("person.json").write_text(json.dumps(PERSON))
    url = ("--url", service.url)
    first = run("schema", "register", "person", "person.json", *url)
    assert (first.exit_code, first.stdout) == (0, "person@1\n")
    told = json.loads(run("schema", "register", "person", "person.json", "--json", *url).stdout)
    assert (told["reference"], told["schema"]) == ("person@1", PERSON)
    assert run("schema", "register", "bill", "invoice", "--cold", *url).stdout == "bill@1\n"

    text = '<<echo {"name":"Ada"}>>'
    used = run("extract", "-", "--schema", "person@1", "--json", *url, stdin=text)
    assert used.stdout == '{"name":"Ada"}\n'
    streamed = run("extract", "-", "--schema", "person", "--stream", *url, stdin=text)
    events = [json.loads(line) for line in streamed.stdout.splitlines()]
    assert [event["type"] for event in events][1:] == [
        "field.started",
        "field.completed",
        "object.completed",
        "usage",
    ]
    assert events[2]["value"] == "Ada"

    listed = json.loads(run("schema", "registered", "--json", *url).stdout)
    assert [entry["reference"] for entry in listed] == ["bill@1", "person@1"]
    assert "person@1" in run("schema", "registered", "person", *url).stdout
    assert run("schema", "delete", "person@1", *url).exit_code == 0
    assert run("schema", "delete", "person@1", *url).exit_code != 0
    assert json.loads(run("schema", "registered", "person", "--json", *url).stdout) == []


def test_what_cannot_be_registered_or_streamed_says_why(run: Run, service: Live) -> None:
    Path("bad.json").write_text('{"type": "strin"}')
    refused = run("schema", "register", "bad", "bad.json", "--url", service.url)
    assert refused.exit_code == 3
    assert "/schema" in refused.stderr
    assert run("schema", "register", "bad", "bad.json", "--url", "nowhere").exit_code == 2
    for args in (("-",), ("-", "--url", service.url, "--output", "x")):
        wrong = run("extract", *args, "--schema", "invoice", "--stream", stdin="text")
        assert wrong.exit_code == 2
        assert "--url" in wrong.stderr
    failed = run(
        "extract", "-", "-s", "invoice", "--stream", "--url", service.url, stdin="<<echo x>>"
    )
    assert failed.exit_code == 1
