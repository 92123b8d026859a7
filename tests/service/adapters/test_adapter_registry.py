"""Adapters by name: over HTTP, in the SDK and in `LLM`, from loading to unloading."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio import Client
from intaglio.engine.api import (
    AdapterUnusable,
    EngineConfig,
    EngineInfo,
    Launch,
    SamplingParams,
)
from intaglio.service.adapters.adapter_registry import AdapterRegistry
from intaglio.service.adapters.named_adapters import named_adapters
from intaglio.service.client.errors import IntaglioError
from intaglio.service.config import ServiceConfig
from intaglio.service.errors import AdapterConflict, InvalidBody, UnknownModel
from intaglio.service.offline.llm import LLM

from tests.support.live_service import Live, live
from tests.support.modelless_engine import engine_info
from tests.support.tiny_adapter import adapter_tensors, write_adapter
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

SETTINGS: dict[str, Any] = {
    "dtype": "float32",
    "threads": 1,
    "max_context": 1024,
    "grammar_store": "off",
}
SCHEMA = {"type": "object", "properties": {"n": {"enum": ["a", "b"]}}, "required": ["n"]}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "tiny", QWEN3)


@pytest.fixture(scope="module")
def adapters(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    root = tmp_path_factory.mktemp("adapters")
    return [write_adapter(root / f"a{seed}", QWEN3, seed=seed) for seed in range(2)]


def info(folder: Path, places: int = 2) -> EngineInfo:
    return engine_info(model="tiny", folder=str(folder), max_adapters=places, adapter_rank=8)


def test_a_name_means_one_content_until_it_is_unloaded(folder: Path, adapters: list[Path]) -> None:
    registry = AdapterRegistry(info(folder))
    first, is_new = registry.load("mine", str(adapters[0]))
    assert is_new
    assert registry.load("mine", str(adapters[0])) == (first, False)
    with pytest.raises(AdapterConflict, match="another adapter"):
        registry.load("mine", str(adapters[1]))
    assert registry.find("mine") == first.ref
    registry.unload("mine")
    assert registry.find("mine") is None
    with pytest.raises(UnknownModel):
        registry.unload("mine")
    assert registry.load("mine", str(adapters[1]))[0].digest != first.digest


def test_processes_and_starts_that_share_a_file_know_the_same_adapters(
    folder: Path, adapters: list[Path], tmp_path: Path
) -> None:
    one, other = (AdapterRegistry(info(folder), tmp_path / "adapters.json") for _ in range(2))
    assert other.find("mine") is None
    loaded, _ = one.load("mine", str(adapters[0]))
    assert other.find("mine") == loaded.ref
    other.load("second", str(adapters[1]))
    assert [adapter.name for adapter in one.listing()] == ["mine", "second"]
    other.unload("mine")
    assert one.find("mine") is None


def test_adapters_of_the_start_stay(folder: Path, adapters: list[Path]) -> None:
    registry = AdapterRegistry(info(folder))
    registry.fix({"fixed": str(adapters[0])})
    with pytest.raises(AdapterConflict, match="at the start"):
        registry.unload("fixed")


@pytest.mark.parametrize("name", ["tiny", "", "a b", "../x", "x" * 129])
def test_a_name_that_requests_could_not_use_is_refused(
    name: str, folder: Path, adapters: list[Path]
) -> None:
    with pytest.raises(InvalidBody):
        AdapterRegistry(info(folder)).load(name, str(adapters[0]))


@pytest.mark.parametrize("path", ["here", "~/adapter", "~", "../x", "/a\0b", "\0"])
def test_a_path_that_is_not_absolute_is_refused(path: str, folder: Path) -> None:
    with pytest.raises(InvalidBody) as caught:
        AdapterRegistry(info(folder)).load("mine", path)
    assert caught.value.param == "path"


def test_an_error_names_a_path_as_it_was_given(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "secret")
    with pytest.raises(AdapterUnusable) as caught:
        AdapterRegistry(info(folder)).load("mine", str(tmp_path / "link"))
    assert str(tmp_path / "link") in caught.value.message
    assert "secret" not in caught.value.message


def test_a_server_without_places_says_how_to_get_some(folder: Path, adapters: list[Path]) -> None:
    with pytest.raises(AdapterConflict) as caught:
        AdapterRegistry(info(folder, places=0)).load("mine", str(adapters[0]))
    assert "--max-adapters" in caught.value.hint


def test_settings_name_adapters_by_text() -> None:
    assert named_adapters(("a=/x", "b=/y=z")) == {"a": "/x", "b": "/y=z"}
    for wrong in (("a",), ("=x",), ("a=",), ("a=x", "a=y")):
        with pytest.raises(ValueError, match="NAME=PATH"):
            ServiceConfig(adapters=wrong)


@pytest.fixture(scope="module")
def service(folder: Path, adapters: list[Path]) -> Iterator[Live]:
    engine = {"model": str(folder), "device": "cpu", "max_adapters": 2, "adapter_rank": 8}
    config = EngineConfig.load({**engine, **SETTINGS}, {})
    with live(Launch.of(config), folder, adapters=(f"given={adapters[1]}",)) as started:
        yield started


def completed(service: Live, model: str) -> str:
    body = {"model": model, "prompt": "Once", "max_tokens": 12, "temperature": 0}
    answer = service.http.post("/v1/completions", json=body)
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert found["model"] == model
    text: str = found["choices"][0]["text"]
    return text


def test_an_adapter_is_loaded_used_and_unloaded(
    service: Live, folder: Path, adapters: list[Path]
) -> None:
    body = {"name": "mine", "path": str(adapters[0])}
    loaded = service.http.post("/v1/adapters", json=body)
    assert loaded.status_code == 201, loaded.text
    assert (loaded.json()["id"], loaded.json()["parent"]) == ("mine", "tiny")
    assert service.http.post("/v1/adapters", json=body).status_code == 200
    models = service.http.get("/v1/models").json()["data"]
    assert [(card["id"], card.get("parent")) for card in models] == [
        ("tiny", None),
        ("given", "tiny"),
        ("mine", "tiny"),
    ]
    assert service.http.get("/v1/models/mine").json()["parent"] == "tiny"
    texts = {name: completed(service, name) for name in ("tiny", "mine", "given")}
    named = {"mine": adapters[0], "given": adapters[1]}
    with LLM(folder, adapters=named, adapter_rank=8, device="cpu", **SETTINGS) as llm:
        sampling = SamplingParams(max_tokens=12, temperature=0)
        for name, text in texts.items():
            adapter = None if name == "tiny" else name
            assert llm.generate("Once", sampling, adapter=adapter)[0].text == text
        with pytest.raises(IntaglioError, match="no adapter 'other'"):
            llm.generate("Once", sampling, adapter="other")
        assert llm.extract(SCHEMA, "some text", adapter="mine").model == "mine"
    assert len(set(texts.values())) == 3
    with Client(service.url) as client:
        assert client.extract(SCHEMA, "some text", adapter="mine").model == "mine"
        assert client.extract(SCHEMA, "some text").model == "tiny"
        with pytest.raises(TypeError, match="excludes"):
            client.extract(SCHEMA, "some text", adapter="mine", model="tiny")
    chat = {"model": "mine", "messages": [{"role": "user", "content": "x"}], "max_tokens": 3}
    answer = service.http.post("/v1/chat/completions", json=chat)
    assert answer.json().get("model", "mine") == "mine", answer.text
    assert service.http.delete("/v1/adapters/mine").status_code == 204
    assert service.http.post("/v1/chat/completions", json=chat).status_code == 404
    assert service.extract(SCHEMA, "some text", model="mine").status_code == 404
    assert service.http.delete("/v1/adapters/mine").status_code == 404
    assert service.http.delete("/v1/adapters/given").status_code == 409
    assert service.settled().clean


def test_an_adapter_that_does_not_fit_is_refused_by_tensor_name(
    service: Live, tmp_path: Path
) -> None:
    tensors = adapter_tensors(QWEN3)
    missing = sorted(tensors)[0]
    del tensors[missing]
    path = write_adapter(tmp_path / "broken", QWEN3, tensors=tensors)
    answer = service.http.post("/v1/adapters", json={"name": "broken", "path": str(path)})
    assert answer.status_code == 422
    error = answer.json()["error"]
    assert error["code"] == "adapter_unusable"
    assert missing in error["message"]
    for body in ({}, {"name": "x"}, {"name": 3, "path": "/"}, {"name": "x", "path": "y", "z": 1}):
        assert service.http.post("/v1/adapters", json=body).status_code == 400
    gone = service.http.post("/v1/adapters", json={"name": "x", "path": "/no/such/folder"})
    assert gone.status_code == 422


def test_a_running_request_keeps_the_adapter_whose_files_changed_afterwards(
    service: Live, tmp_path: Path
) -> None:
    path = write_adapter(tmp_path / "brief", QWEN3, seed=5)
    service.http.post("/v1/adapters", json={"name": "brief", "path": str(path)})
    before = completed(service, "brief")
    write_adapter(path, QWEN3, seed=6)
    assert completed(service, "brief") == before  # it is in memory, by its content
    service.http.delete("/v1/adapters/brief")
    service.http.post("/v1/adapters", json={"name": "brief", "path": str(path)})
    assert completed(service, "brief") != before
    service.http.delete("/v1/adapters/brief")


def test_an_unusable_adapter_keeps_an_engine_of_a_program_from_starting(
    folder: Path, tmp_path: Path
) -> None:
    path = write_adapter(tmp_path / "dora", QWEN3, use_dora=True)
    with pytest.raises(AdapterUnusable, match="DoRA"):
        AdapterRegistry(info(folder)).fix({"dora": str(path)})
    with pytest.raises(IntaglioError, match="DoRA"):
        LLM(folder, adapters={"dora": path}, device="cpu", **SETTINGS)
