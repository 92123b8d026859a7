"""The registry of schemas: over HTTP, and its file under several processes."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from intaglio.schemas.problem import Code
from intaglio.schemas.registry import RegisteredSchema
from intaglio.service.errors import InvalidBody, RegistryUnavailable, UnknownSchema
from intaglio.service.registry.directory import SchemaDirectory
from intaglio.service.registry.schema_registry import SchemaRegistry

from tests.support.live_service import Live, live
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PERSON: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}, "age": {"type": "integer"}},
    "required": ["name"],
    "additionalProperties": False,
}
NAMED: dict[str, Any] = {**PERSON, "properties": {"name": {"type": "string"}}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)


@pytest.fixture(scope="module")
def shared(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live(launch(), folder, data=str(tmp_path_factory.mktemp("data"))) as running:
        yield running


@pytest.fixture
def service(shared: Live) -> Iterator[Live]:
    """A service without registered schemas. The versions of a name go on where an earlier test left them."""
    yield shared
    for entry in shared.http.get("/v1/schemas").json()["data"]:
        shared.http.delete(f"/v1/schemas/{entry['name']}")


def register(service: Live, name: str, schema: Any, **more: Any) -> Any:
    return service.http.post("/v1/schemas", json={"name": name, "schema": schema, **more})


def test_a_schema_is_registered_found_used_and_deleted(service: Live) -> None:
    first = register(service, "person", PERSON)
    assert first.status_code == 201
    told = RegisteredSchema.model_validate_json(first.content, strict=False)
    assert (told.name, told.version, told.reference) == ("person", 1, "person@1")
    assert told.contract is not None
    assert told.contract.enforced["required"] == 1
    assert register(service, "person", PERSON).status_code == 200
    second = register(service, "person", NAMED, warm=False).json()
    assert second["reference"] == "person@2"

    ada = '<<echo {"name":"Ada","age":36}>>'
    assert service.extract("person@1", ada).json()["data"] == {"name": "Ada", "age": 36}
    assert service.extract(told.id, ada).status_code == 200
    for reference in ("person@2", "person", second["id"]):
        refused = service.extract(reference, ada)  # the engine says what version 2 forbids
        assert refused.json()["error"]["code"] == Code.INVALID_OUTPUT
    shown = service.http.get("/v1/schemas/person").json()
    assert shown["schema"] == NAMED
    assert service.http.post("/v1/schemas/person@1/warm").status_code == 200

    assert service.http.delete("/v1/schemas/person@2").status_code == 204
    assert service.extract("person", ada).status_code == 200
    assert register(service, "person", NAMED).json()["version"] == 3
    assert service.http.delete("/v1/schemas/person").status_code == 204
    gone = service.extract("person", ada)
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, Code.UNKNOWN_SCHEMA)
    assert service.http.get("/v1/schemas/person@1").status_code == 404
    assert service.http.delete("/v1/schemas/person").status_code == 404
    assert service.settled().clean


@pytest.mark.parametrize(
    ("given", "hint"),
    [('{"type": "object"}', "the text of a schema"), ("order.json", "the path of a file")],
)
def test_a_request_with_the_text_or_the_path_of_a_schema_is_told_so(
    service: Live, given: str, hint: str
) -> None:
    answer = service.http.post("/v1/extract", json={"schema": given, "text": "x"})
    assert answer.status_code == 404
    assert answer.json()["error"]["code"] == Code.UNKNOWN_SCHEMA
    assert hint in answer.json()["error"]["hint"]


def test_a_schema_that_cannot_be_enforced_is_not_registered(service: Live) -> None:
    refused = register(service, "bad", {"type": "object", "properties": {"a": {"type": "strin"}}})
    assert refused.status_code == 400
    error = refused.json()["error"]
    assert error["code"] == Code.INVALID_SCHEMA
    assert error["details"][0]["pointer"].startswith("/schema/properties/a")
    assert service.http.get("/v1/schemas").json() == {"data": [], "next": None}
    for name, pointer in (
        ("a b", "/name"),
        ("invoice", "/name"),
        ("explain", "/name"),
        ("", "/name"),
    ):
        refused = register(service, name, PERSON)
        assert refused.status_code == 400
        assert refused.json()["error"]["details"][0]["pointer"] == pointer


def test_lists_come_in_pages(service: Live) -> None:
    for name in ("b", "a"):
        for schema in (PERSON, NAMED, True):
            register(service, name, schema, warm=False)
    seen: list[str] = []
    more: dict[str, str] = {}
    while True:
        page = service.http.get("/v1/schemas", params={"limit": "4", **more}).json()
        seen += [entry["reference"] for entry in page["data"]]
        assert all(entry["schema"] is None for entry in page["data"])
        if page["next"] is None:
            break
        more = {"after": page["next"]}
    assert seen == ["a@1", "a@2", "a@3", "b@1", "b@2", "b@3"]
    only = service.http.get("/v1/schemas", params={"name": "b"}).json()["data"]
    assert [entry["version"] for entry in only] == [1, 2, 3]
    for limit in ("0", "", "1001", "\N{ARABIC-INDIC DIGIT THREE}", "1" * 5000):
        assert service.http.get("/v1/schemas", params={"limit": limit}).status_code == 400
    for after in ("a@99999999999999999999", "b@x", "\0@", "a@"):
        page = service.http.get("/v1/schemas", params={"after": after})
        assert page.status_code == 200, page.text


def test_a_job_and_an_explanation_take_a_registered_schema(service: Live) -> None:
    register(service, "employee", PERSON, warm=False)
    explained = service.http.post("/v1/schemas/explain", json={"schema": "employee"}).json()
    assert explained["enforced"]
    service.http.put("/v1/files/a.jsonl", content=b'{"text":"<<echo {\\"name\\":\\"x\\"}>>"}\n')
    job = {"schema": "employee@1", "source": {"path": "a.jsonl", "text": "text"}}
    assert service.http.post("/v1/jobs", json=job).status_code == 201
    job["schema"] = "employee@9"
    refused = service.http.post("/v1/jobs", json=job).json()["error"]
    assert refused["code"] == Code.UNKNOWN_SCHEMA
    assert "no such version" in refused["details"][0]["reason"]


def test_a_server_without_a_data_folder_has_no_registry(folder: Path) -> None:
    with live(launch(), folder) as service:
        refused = register(service, "person", PERSON)
        assert refused.status_code == 404
        assert "--data" in refused.json()["error"]["hint"]
        assert service.extract("person", "x").json()["error"]["code"] == Code.UNKNOWN_SCHEMA


def test_registered_schemas_outlive_the_server(folder: Path, tmp_path: Path) -> None:
    for _ in range(2):
        with live(launch(), folder, data=str(tmp_path)) as service:
            assert register(service, "person", PERSON, warm=False).json()["version"] == 1


def test_tenants_do_not_see_each_other(tmp_path: Path) -> None:
    directory = SchemaDirectory(SchemaRegistry(tmp_path))
    registered, _ = directory.register("a", "person", PERSON)
    assert directory.resolve("a", "person") == PERSON
    for reference in ("person", "person@1", registered.id):
        with pytest.raises(UnknownSchema):
            directory.resolve("b", reference)
    other, _ = directory.register("b", "person", NAMED)
    assert (other.version, directory.resolve("a", "person")) == (1, PERSON)
    with pytest.raises(UnknownSchema, match="person") as unknown:
        directory.resolve("b", "persons")
    assert "person" in unknown.value.hint


def test_another_process_notices_within_a_second(tmp_path: Path) -> None:
    now = 0.0
    mine = SchemaDirectory(SchemaRegistry(tmp_path))
    other = SchemaDirectory(SchemaRegistry(tmp_path), lambda: now)
    mine.register("a", "person", PERSON)
    assert other.resolve("a", "person") == PERSON
    mine.register("a", "person", NAMED)
    mine.delete("a", "person@1")
    now = 1.5
    assert other.resolve("a", "person") == NAMED
    with pytest.raises(UnknownSchema):
        other.resolve("a", "person@1")


def test_versions_are_unique_however_many_register_at_once(tmp_path: Path) -> None:
    registries = [SchemaRegistry(tmp_path) for _ in range(4)]

    def one(number: int) -> int:
        found, _ = registries[number % 4].register("a", "n", {"const": number})
        return found.version

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(one, range(40))) == list(range(1, 41))


def test_a_file_that_cannot_be_written_is_an_error_that_says_so(tmp_path: Path) -> None:
    registry = SchemaRegistry(tmp_path)
    registry.close()
    file = tmp_path / "schemas.db"
    for path in tmp_path.iterdir():
        path.unlink()
    file.mkdir()
    with pytest.raises(RegistryUnavailable):
        registry.page("a", 10)


def test_reserved_names_are_refused(tmp_path: Path) -> None:
    directory = SchemaDirectory(SchemaRegistry(tmp_path))
    for name in ("explain", "invoice", "sch_1"):
        with pytest.raises(InvalidBody):
            directory.register("a", name, PERSON)
