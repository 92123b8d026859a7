"""Documents over HTTP: uploaded, described, drawn, extracted from, and refused, by a real server."""

import base64
import json
import os
import signal
from pathlib import Path
from typing import Any

import pytest
from intaglio import Client
from intaglio.schemas.extraction.document_objects import DocumentObject
from intaglio.schemas.extraction.results import ExtractResult
from intaglio.service.client import DocumentRefused, NotFound

from tests.support.document_files import docx, mail, paragraph, pdf
from tests.support.events import events
from tests.support.live_service import Live, until

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {"name": {"type": "string"}},
    "required": ["name"],
    "additionalProperties": False,
}
ANSWER = '{"name":"Ada"}'


@pytest.fixture(scope="module")
def service(plain_service: Live) -> Live:
    return plain_service


def upload(service: Live, content: bytes, **params: str) -> DocumentObject:
    answer = service.http.post("/v1/documents", content=content, params=params)
    assert answer.status_code == 201, answer.text
    return DocumentObject.model_validate_json(answer.content)


def code(answer: Any) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def body(**source: Any) -> dict[str, Any]:
    """A request whose answer the engine of the test is told by the instructions."""
    return {"schema": SCHEMA, "document": source}


ECHO = f"Name of the customer: Ada\n<<echo {ANSWER}>>"
PDF = pdf([["A first page"], ECHO.split("\n"), []])


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def test_a_document_is_read_once_and_described(service: Live) -> None:
    made = upload(service, PDF, name="order.pdf")
    assert (made.name, made.media_type, made.size) == ("order.pdf", "application/pdf", len(PDF))
    assert made.text is None
    assert [(note.kind, note.pages) for note in made.notes] == [("no_text_layer", (3,))]
    assert made.created_at < made.expires_at
    path = f"/v1/documents/{made.id}"
    shown = DocumentObject.model_validate_json(service.http.get(path).content)
    assert shown.text == f"A first page\n\n{ECHO}"
    assert len(shown.text) == shown.characters
    assert [shown.text[page.start : page.end] for page in shown.pages] == ["A first page", ECHO, ""]
    boxed = DocumentObject.model_validate_json(service.http.get(f"{path}?boxes=true").content)
    assert [len(page.boxes or ()) for page in boxed.pages] == [48, 4 * len(ECHO), 0]
    assert service.http.delete(path).json() == {
        "id": made.id,
        "object": "document",
        "deleted": True,
    }
    assert code(service.http.get(path)) == (404, "not_found")
    assert code(service.http.delete(path)) == (404, "not_found")


def test_a_form_uploads_as_well_as_a_body(service: Live) -> None:
    answer = service.http.post("/v1/documents", files={"file": ("a.txt", docx(paragraph("Hi")))})
    assert answer.status_code == 201
    assert answer.json()["name"] == "a.txt"
    assert answer.json()["media_type"].endswith("wordprocessingml.document")


def test_pages_are_drawn(service: Live) -> None:
    made = upload(service, PDF)
    image = service.http.get(f"/v1/documents/{made.id}/pages/2.png", params={"dpi": "72"})
    assert (image.status_code, image.headers["content-type"]) == (200, "image/png")
    assert int.from_bytes(image.content[16:20], "big") == 400
    for path, params in (("pages/4", {}), ("pages/x", {}), ("pages/1", {"dpi": "9999"})):
        refused = service.http.get(f"/v1/documents/{made.id}/{path}", params=params)
        assert code(refused) == (400, "invalid_request")
    text = upload(service, b"some text")
    refused = service.http.get(f"/v1/documents/{text.id}/pages/1")
    assert code(refused) == (415, "unsupported_document")


def test_the_three_forms_of_a_document_give_the_same_answer(service: Live) -> None:
    made = upload(service, PDF, name="a.pdf")
    options = {"grounding": "locate"}
    answers = [
        service.http.post("/v1/extract", json={**body(id=made.id), "options": options}),
        service.http.post(
            "/v1/extract",
            json={**body(base64=encoded(PDF), name="a.pdf"), "options": options},
        ),
        service.http.post(
            "/v1/extract",
            files={"file": ("a.pdf", PDF)},
            data={"request": json.dumps({"schema": SCHEMA, "options": options})},
        ),
    ]
    results = []
    for answer in answers:
        assert answer.status_code == 200, answer.text
        results.append(ExtractResult.model_validate_json(answer.content))
    for result in results:
        assert result.data == {"name": "Ada"}
        assert result.document is not None
        assert (result.document.name, result.document.pages) == ("a.pdf", 3)
        assert result.document.notes[0].pages == (3,)
        assert result.fields == results[0].fields
    assert [result.document and result.document.id for result in results] == [made.id, None, None]


def test_sources_have_a_page_and_boxes(service: Live) -> None:
    asked = {**body(base64=encoded(PDF)), "options": {"grounding": "locate"}}
    result = service.http.post("/v1/extract", json=asked).json()
    field = result["fields"]["/name"]
    assert field["page"] == 2
    (box,) = field["boxes"]
    assert box["page"] == 2
    assert 40 < box["x0"] < box["x1"] < 400
    assert 0 < box["y0"] < box["y1"] < 80


def test_a_stream_ends_with_the_document(service: Live) -> None:
    asked = {**body(base64=encoded(PDF)), "stream": True, "options": {"grounding": "locate"}}
    with service.http.stream("POST", "/v1/extract", json=asked) as response:
        assert response.status_code == 200
        found = events(response.iter_lines())
    (result,) = [event.data["result"] for event in found if event.name == "object.completed"]
    assert result["document"]["media_type"] == "application/pdf"
    assert result["fields"]["/name"]["page"] == 2


def test_attachments_are_documents(service: Live) -> None:
    made = upload(service, mail("see the file", attached={"a.pdf": PDF, "b.bin": b"\0" * 99}))
    assert [(a.name, a.media_type, a.size) for a in made.attachments] == [
        ("a.pdf", "application/pdf", len(PDF)),
        ("b.bin", "application/octet-stream", 99),
    ]
    path = f"/v1/documents/{made.id}/attachments"
    assert service.http.get(f"{path}/0").content == PDF
    assert code(service.http.get(f"{path}/2")) == (400, "invalid_request")
    answer = service.http.post("/v1/extract", json=body(id=made.id, attachment=0))
    assert answer.json()["data"] == {"name": "Ada"}
    assert answer.json()["document"]["name"] == "a.pdf"
    for attachment, status in ((1, 415), (2, 400)):
        refused = service.http.post("/v1/extract", json=body(id=made.id, attachment=attachment))
        assert refused.status_code == status


@pytest.mark.parametrize(
    ("given", "status", "expected"),
    [
        ({"base64": "%%%"}, 400, "invalid_request"),
        ({}, 400, "invalid_request"),
        ({"id": "doc_1", "base64": "YQ=="}, 400, "invalid_request"),
        ({"id": "doc_" + "0" * 32}, 404, "not_found"),
        ({"base64": "YQ==", "kind": "pdf"}, 400, "unknown_field"),
        ({"base64": encoded(b"%PDF-1.4")}, 422, "unreadable_document"),
        ({"base64": encoded(b"\x89PNG\r\n\x1a\n")}, 415, "unsupported_document"),
        ({"base64": encoded(pdf([[]]))}, 422, "no_text_layer"),
    ],
)
def test_what_cannot_be_read_has_an_error(
    service: Live, given: dict[str, Any], status: int, expected: str
) -> None:
    answer = service.http.post("/v1/extract", json=body(**given))
    assert code(answer) == (status, expected)
    assert answer.json()["error"]["message"]
    assert service.extract(SCHEMA, f"<<echo {ANSWER}>>").status_code == 200


def test_rubbish_forms_are_refused(service: Live) -> None:
    post = service.http.post
    request = json.dumps({"schema": SCHEMA})
    with_text = json.dumps({"schema": SCHEMA, "text": "a"})
    file = {"file": ("a", PDF)}
    assert code(post("/v1/extract", files=file)) == (400, "invalid_request")
    assert code(post("/v1/extract", files=file, data={"request": "{"})) == (400, "invalid_json")
    assert code(post("/v1/extract", files=file, data={"request": with_text}))[0] == 400
    assert code(post("/v1/extract", files=file, data={"request": request, "a": "b"})) == (
        400,
        "unknown_field",
    )
    misplaced = post("/v1/extract", files=file, data={"schema": "{}"}).json()["error"]
    assert misplaced["hint"].endswith("; the fields of a JSON body go into request")
    assert code(post("/v1/documents", files={"other": ("a", PDF)})) == (400, "unknown_field")
    broken = {"content-type": "multipart/form-data; boundary=x"}
    assert code(post("/v1/documents", content=b"--y", headers=broken))[0] == 400
    both = {"schema": SCHEMA, "text": "a", "document": {"base64": "YQ=="}}
    assert code(post("/v1/extract", json=both)) == (400, "invalid_request")


def test_the_server_goes_on_when_a_reader_is_killed(service: Live) -> None:
    upload(service, b"a text")
    for pid in service.app.service.reader.pids:
        os.kill(pid, signal.SIGKILL)
    until(lambda: service.http.post("/v1/documents", content=b"a text").status_code == 201)


def test_the_client_sends_files_and_keeps_documents(service: Live, tmp_path: Path) -> None:
    path = tmp_path / "order.pdf"
    path.write_bytes(PDF)
    with Client(service.url) as client:
        made = client.documents.create(path)
        assert (made.name, made.media_type) == ("order.pdf", "application/pdf")
        assert client.documents.get(made.id).text == f"A first page\n\n{ECHO}"
        assert client.documents.get(made.id, boxes=True).pages[0].boxes
        assert client.documents.page_image(made.id, 1).startswith(b"\x89PNG")
        for given in ({"file": path}, {"file": str(path)}, {"file": PDF}, {"document": made.id}):
            found = client.extract(SCHEMA, **given, grounding="locate")
            assert found.data == {"name": "Ada"}
            assert found.document is not None
            assert found.document.media_type == "application/pdf"
            assert found.fields["/name"].page == 2
        with client.extract_stream(SCHEMA, file=("a.pdf", PDF)) as stream:
            document = stream.result().document
        assert document is not None
        assert document.name == "a.pdf"
        client.documents.delete(made.id)
        with pytest.raises(NotFound):
            client.documents.get(made.id)
        with pytest.raises(NotFound):
            client.extract(SCHEMA, document=made.id)
        with pytest.raises(DocumentRefused) as refused:
            client.extract(SCHEMA, file=b"%PDF-1.7")
        assert refused.value.code == "unreadable_document"
        with pytest.raises(DocumentRefused):
            client.documents.create(b"\x89PNG\r\n\x1a\n")
        mailed = client.documents.create(("m.eml", mail("hi", attached={"a.pdf": PDF})))
        assert client.documents.attachment(mailed.id, 0) == PDF
        assert client.extract(SCHEMA, document=mailed.id, attachment=0).data == {"name": "Ada"}


@pytest.mark.parametrize(
    "given",
    [
        {"text": "a", "file": b"b"},
        {"text": "a", "document": "doc_1"},
        {"file": b"a", "document": "doc_1"},
        {"attachment": 1},
        {"file": 5},
        {},
    ],
)
def test_wrong_arguments_are_type_errors(service: Live, given: dict[str, Any]) -> None:
    with Client(service.url) as client, pytest.raises(TypeError):
        client.extract(SCHEMA, **given)
