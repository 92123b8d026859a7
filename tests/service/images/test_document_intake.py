"""Extractions from images and from pages without a text layer, by a real server with a small model that sees."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from intaglio import Client
from intaglio.engine.api import EngineConfig, Launch
from intaglio.service.cli.commands import app
from intaglio.service.client import BadRequest
from intaglio.service.offline.llm import LLM
from typer.testing import CliRunner

from tests.support.document_files import drawn_pdf, pdf
from tests.support.events import events
from tests.support.live_service import Live, live, until
from tests.support.tiny_vision import (
    BLUE,
    QWEN25_VL,
    RED,
    TEXT,
    WORD,
    picture,
    write_vision_checkpoint,
)

MOST = 3
TOKENS = 30


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = {**QWEN25_VL, "max_position_embeddings": 2048}
    return write_vision_checkpoint(tmp_path_factory.mktemp("models") / "tiny-vl", config)


@pytest.fixture(scope="module")
def service(folder: Path) -> Iterator[Live]:
    engine = {"model": str(folder), "device": "cpu", "threads": 1, "num_blocks": 512}
    config = EngineConfig.load({**engine, "grammar_warm": 0}, environ={})
    limits: Any = {"max_images": MOST, "max_image_tokens": TOKENS}
    with live(Launch.of(config), folder, **limits) as running:
        until(lambda: running.http.get("/ready").status_code == 200)
        yield running


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def asked(service: Live, **body: Any) -> Any:
    answer = service.http.post("/v1/extract", json={"schema": WORD, **body})
    assert answer.status_code == 200, answer.text
    return answer.json()


def refused(service: Live, **body: Any) -> Any:
    answer = service.http.post("/v1/extract", json={"schema": WORD, **body})
    assert 400 <= answer.status_code < 500, answer.text
    return answer.json()["error"]


def in_form(service: Live, files: Any, **request: Any) -> Any:
    data = {"request": json.dumps({"schema": WORD, **request})}
    return service.http.post("/v1/extract", files=files, data=data)


def test_an_image_is_read_alike_however_it_comes(service: Live) -> None:
    image = picture(1)
    found = asked(service, images=[{"base64": encoded(image)}])
    assert found["images"] == [{"width": 84, "height": 56, "tokens": 6, "page": None}]
    assert found["document"] is None
    by_url = asked(service, images=[{"url": "data:image/png;base64," + encoded(image)}])
    form = in_form(service, [("image", ("photo.png", image, "image/png"))])
    assert form.status_code == 200, form.text
    assert by_url["data"] == form.json()["data"] == found["data"]
    of_document = asked(service, document={"base64": encoded(image), "name": "photo.png"})
    as_file = in_form(service, [("file", ("photo.png", image, "image/png"))]).json()
    assert of_document["data"] == as_file["data"] == found["data"]
    assert of_document["images"] == [{"width": 84, "height": 56, "tokens": 6, "page": 1}]
    described = of_document["document"]
    assert (described["media_type"], described["pages"], described["notes"]) == ("image/png", 1, [])
    kept = service.http.post("/v1/documents", content=image).json()
    assert asked(service, document={"id": kept["id"]})["data"] == found["data"]
    assert asked(service, images=[{"base64": encoded(picture(2))}])["data"] != found["data"]


def test_images_come_before_a_text_and_count_in_the_prompt(service: Live) -> None:
    image = {"base64": encoded(picture(3))}
    alone = asked(service, text="What is on the receipt?")
    with_one = asked(service, text="What is on the receipt?", images=[image])
    with_two = asked(service, text="What is on the receipt?", images=[image, image])
    # Two marks and 2 x 3 cells for each.
    assert with_one["usage"]["prompt_tokens"] == alone["usage"]["prompt_tokens"] + 8
    assert with_two["usage"]["prompt_tokens"] == alone["usage"]["prompt_tokens"] + 16
    assert len(with_two["images"]) == 2
    assert with_one["data"] != alone["data"]
    low = asked(service, images=[{"base64": encoded(picture(3, (900, 700))), "detail": "low"}])
    assert low["images"][0]["tokens"] <= TOKENS


def test_the_same_question_about_another_image_has_another_answer(service: Live) -> None:
    """What requests of one form share must not contain an image."""
    found = {
        asked(service, text="the same text", images=[{"base64": encoded(picture(seed))}])["data"][
            "word"
        ]
        for seed in range(10, 14)
    }
    assert len(found) == 4


def test_an_image_is_read_in_a_stream(service: Live) -> None:
    body = {"schema": WORD, "images": [{"base64": encoded(picture(4))}], "stream": True}
    with service.http.stream("POST", "/v1/extract", json=body) as answer:
        found = [event.data for event in events(answer.iter_lines())]
    (done,) = [each for each in found if each["type"] == "object.completed"]
    assert done["result"]["images"][0]["tokens"] == 6
    assert done["result"]["data"] == asked(service, images=body["images"])["data"]


def test_pages_without_a_text_layer_are_seen(service: Live) -> None:
    scan = asked(service, document={"base64": encoded(drawn_pdf([RED, BLUE]))})
    assert [image["page"] for image in scan["images"]] == [1, 2]
    assert all(image["tokens"] <= TOKENS for image in scan["images"])
    assert scan["document"]["notes"] == []
    other = asked(service, document={"base64": encoded(drawn_pdf([BLUE, RED]))})
    assert other["data"] != scan["data"]
    mixed = asked(service, document={"base64": encoded(drawn_pdf([TEXT, RED, TEXT, b""]))})
    assert [image["page"] for image in mixed["images"]] == [2]
    (note,) = mixed["document"]["notes"]
    assert (note["kind"], note["pages"]) == ("blank_page", [4])
    assert mixed["document"]["characters"] > 0
    plain = asked(service, document={"base64": encoded(pdf([["only text"]]))})
    assert plain["images"] == []
    kept = service.http.post("/v1/documents", content=drawn_pdf([RED, BLUE])).json()
    assert kept["notes"][0]["kind"] == "no_text_layer"
    assert asked(service, document={"id": kept["id"]})["data"] == scan["data"]


def test_a_page_stands_where_it_is_in_the_text(service: Live) -> None:
    """The same two parts in another order are another prompt of the same length."""
    first = asked(service, document={"base64": encoded(drawn_pdf([TEXT, RED]))})
    last = asked(service, document={"base64": encoded(drawn_pdf([RED, TEXT]))})
    assert first["usage"]["prompt_tokens"] == last["usage"]["prompt_tokens"]
    assert first["data"] != last["data"]


def test_a_long_document_with_scanned_pages_is_read_in_windows(service: Live) -> None:
    line = b"(A line of a long page with a text layer) Tj T*"
    page = b"BT /F1 6 Tf 8 TL 40 280 Td " + b" ".join([line] * 25) + b" ET"
    content = encoded(drawn_pdf([page, RED, page, page, BLUE]))
    error = refused(service, document={"base64": content})
    assert error["code"] == "context_length_exceeded"
    options = {"long_documents": "windows"}
    found = asked(service, document={"base64": content}, options=options)
    assert found["reading"]["windows"] > 1
    assert [image["page"] for image in found["images"]] == [2, 5]
    other = asked(
        service,
        document={"base64": encoded(drawn_pdf([page, BLUE, page, page, RED]))},
        options=options,
    )
    assert other["data"] != found["data"]


def test_sources_are_those_of_the_text(service: Live) -> None:
    schema = {"type": "object", "properties": {"n": {"const": "layer"}}, "required": ["n"]}
    pages = [drawn_pdf([RED, TEXT]), drawn_pdf([RED])]
    located, unlocated = (
        asked(
            service,
            schema=schema,
            document={"base64": encoded(content)},
            options={"grounding": "locate"},
        )["fields"]["/n"]
        for content in pages
    )
    assert (located["match"], located["page"]) == ("exact", 2)
    assert unlocated["match"] == "none"


REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"images": []}, "text", "required"),
    ({"images": [{}]}, "images.0", "base64 or url"),
    ({"images": [{"base64": "AAAA", "url": "data:"}]}, "images.0", "base64 or url"),
    ({"images": [{"base64": "A*"}]}, "images.0.base64", "base64 of the image is invalid"),
    ({"images": [{"base64": "AAAA"}]}, "images.0.base64", "no image that is read"),
    ({"images": [{"url": "https://example.org/a.png"}]}, "images.0.url", "not fetched"),
    ({"images": [{"url": "file:///etc/passwd"}]}, "images.0.url", "not fetched"),
    ({"images": [{"base64": "AAAA", "detail": "huge"}]}, "images.0.detail", "detail"),
    ({"images": [{"base64": "AAAA"}] * (MOST + 1)}, f"images.{MOST}.base64", "at most 3"),
    ({"images": [{"base64": "AAAA"}], "texts": ["a"]}, "", "exclude each other"),
    (
        {"images": [{"base64": "AAAA"}], "messages": [{"role": "user", "content": "a"}]},
        "",
        "exclude each other",
    ),
    (
        {"document": {"base64": encoded(drawn_pdf([RED] * (MOST + 1)))}},
        "document.base64",
        "at most 3",
    ),
    ({"document": {"base64": encoded(drawn_pdf([b""]))}}, "document.base64", "nothing is drawn"),
    ({"document": {"base64": encoded(picture()[:60])}}, "document.base64", "image"),
    (
        {
            "schema": {"type": "object", "properties": {"word": {"type": "string"}}},
            "images": [{"base64": encoded(picture())}],
            "options": {"grounding": "verbatim"},
        },
        "options.grounding",
        "verbatim strings",
    ),
    (
        {"document": {"base64": encoded(drawn_pdf([b""], (4000, 3)))}},
        "document.base64",
        "200 times",
    ),
    (
        {"images": [{"base64": encoded(picture(1))}], "instructions": "x" * 3000},
        "instructions",
        "the prompt has",
    ),
]


@pytest.mark.parametrize(("body", "param", "reason"), REFUSED)
def test_rubbish_is_refused_by_its_place(
    body: dict[str, Any], param: str, reason: str, service: Live
) -> None:
    error = refused(service, **body)
    assert reason in error["message"] + str(error.get("details", ""))
    assert error.get("param", "") == param


def test_clients_and_programs_read_images_alike(
    service: Live, folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    image, scan = picture(1), drawn_pdf([RED])
    (tmp_path / "photo.png").write_bytes(image)
    (tmp_path / "scan.pdf").write_bytes(scan)
    (tmp_path / "s.json").write_text(json.dumps(WORD))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("INTAGLIO_ENGINE_THREADS", "1")
    seen = asked(service, images=[{"base64": encoded(image)}])["data"]
    with_text = asked(service, text="a text", images=[{"base64": encoded(image)}] * 2)["data"]
    of_scan = asked(service, document={"base64": encoded(scan)})
    with Client(service.url) as client:
        found = client.extract(WORD, images=["photo.png"])
        assert (found.data, found.images[0].tokens) == (seen, 6)
        assert client.extract(WORD, "a text", images=[image, ("x", image)]).data == with_text
        assert client.extract(WORD, file="photo.png").data == seen
        with pytest.raises(TypeError, match="exclude file"):
            client.extract(WORD, file="photo.png", images=[image])
        with pytest.raises(TypeError, match="several files"):
            client.extract(WORD, images="photo.png")
        with pytest.raises(TypeError, match="text must be"):
            client.extract(WORD, images=[])
    with LLM(folder, device="cpu", threads=1) as llm:
        assert llm.extract(WORD, images=["photo.png"]).data == seen
        assert llm.extract(WORD, "a text", images=[image, image]).data == with_text
        by_file = llm.extract(WORD, file="photo.png")
        assert by_file.data == seen
        assert by_file.document is not None
        assert by_file.document.media_type == "image/png"
        drawn = llm.extract(WORD, file="scan.pdf")
        assert [image.page for image in drawn.images] == [1]
        with pytest.raises(BadRequest, match="at most 16"):
            llm.extract(WORD, images=[image] * 17)
        with pytest.raises(TypeError, match="give a text, images or a file"):
            llm.extract(WORD)
    asking = ("extract", "-s", "s.json", "--json")
    done = CliRunner().invoke(app, [*asking, "photo.png", "--url", service.url])
    assert json.loads(done.stdout) == seen, done.stderr
    done = CliRunner().invoke(app, [*asking, "photo.png", "scan.pdf", "-m", str(folder)])
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["document"] for line in lines] == ["photo.png", "scan.pdf"], done.stderr
    assert lines[0]["data"] == seen
    answer = CliRunner().invoke(app, [*asking, "--answer", "scan.pdf", "--url", service.url])
    assert json.loads(answer.stdout)["images"] == of_scan["images"]


def test_a_form_has_bounds_too(service: Live) -> None:
    many = [("image", (f"{n}.png", picture(n), "image/png")) for n in range(MOST + 1)]
    assert in_form(service, many).status_code == 400
    both = [many[0], ("file", ("a.png", picture(), "image/png"))]
    answer = in_form(service, both)
    assert answer.status_code == 400
    assert "exclude" in answer.json()["error"]["message"]


def test_an_image_is_encoded_once_and_counted(service: Live) -> None:
    def counts() -> dict[str, float]:
        lines = service.http.get("/metrics").text.splitlines()
        found = (line.rpartition(" ") for line in lines if line.startswith("intaglio_image"))
        return {name.removeprefix("intaglio_"): float(value) for name, _, value in found}

    encoder, cache = 'images_total{source="encoder"}', 'images_total{source="cache"}'
    image = {"base64": encoded(picture(77))}
    before = counts()
    asked(service, text="one", images=[image])
    until(lambda: counts()[encoder] == before[encoder] + 1)
    once = counts()
    assert once["image_cells_total"] == before["image_cells_total"] + 6
    assert once["image_cache_bytes"] == before["image_cache_bytes"] + 6 * 64 * 4
    asked(service, text="another", instructions="look well", images=[image, image])
    until(lambda: counts()[cache] > once[cache])
    assert counts()[encoder] == once[encoder]
    assert counts()["image_batches_total"] == once["image_batches_total"]


def test_images_end_no_service(service: Live) -> None:
    assert service.settled().clean


def test_a_model_without_vision_refuses_images_by_name(plain_service: Live) -> None:
    error = refused(plain_service, images=[{"base64": encoded(picture())}])
    assert (error["code"], error["param"]) == ("invalid_request", "images.0.base64")
    assert "'scripted' does not read images" in error["message"]
    assert "Qwen3-VL" in error["hint"]
    error = refused(plain_service, document={"base64": encoded(picture())})
    assert (error["code"], error["param"]) == ("unsupported_document", "document.base64")
    assert "an image (PNG), and the model 'scripted' does not read images" in error["message"]
    error = refused(plain_service, document={"base64": encoded(drawn_pdf([RED]))})
    assert error["code"] == "no_text_layer"
    answer = plain_service.http.post("/v1/documents", content=picture())
    assert answer.status_code == 415
