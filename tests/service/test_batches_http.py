"""Files and batches over HTTP, on a real socket."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from intaglio.schemas.openai.batches import ENDED_BATCH

from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

CHAT = "/v1/chat/completions"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)


@pytest.fixture(scope="module")
def service(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    with live(launch(), folder, data=str(tmp_path_factory.mktemp("data"))) as running:
        yield running


def upload(service: Live, content: bytes, purpose: str = "batch", **fields: str) -> httpx2.Response:
    data = {"purpose": purpose, **fields}
    return service.http.post("/v1/files", data=data, files={"file": ("in.jsonl", content)})


def lines(*texts: str) -> bytes:
    def line(number: int, text: str) -> str:
        body = {"messages": [{"role": "user", "content": text}], "max_tokens": 40}
        return json.dumps({"custom_id": f"r{number}", "method": "POST", "url": CHAT, "body": body})

    return "\n".join(line(number, text) for number, text in enumerate(texts)).encode()


def create(service: Live, file_id: str, **more: Any) -> httpx2.Response:
    body = {"input_file_id": file_id, "endpoint": CHAT, "completion_window": "24h", **more}
    return service.http.post("/v1/batches", json=body)


def ended(service: Live, batch: str) -> dict[str, Any]:
    def found() -> dict[str, Any]:
        described: dict[str, Any] = service.http.get(f"/v1/batches/{batch}").json()
        return described

    until(lambda: found()["status"] in ENDED_BATCH)
    return found()


def test_a_file_with_an_id_is_kept_described_read_and_deleted(service: Live) -> None:
    made = upload(service, b"some bytes", "user_data").json()
    assert made["id"].startswith("file-")
    assert (made["object"], made["bytes"], made["filename"]) == ("file", 10, "in.jsonl")
    assert (made["purpose"], made["expires_at"]) == ("user_data", None)
    assert service.http.get(f"/v1/files/{made['id']}").json() == made
    content = service.http.get(f"/v1/files/{made['id']}/content")
    assert (content.content, content.headers["content-type"]) == (
        b"some bytes",
        "application/octet-stream",
    )
    assert 'filename="in.jsonl"' in content.headers["content-disposition"]
    replaced = service.http.put(f"/v1/files/{made['id']}", content=b"other")
    assert replaced.status_code == 400
    gone = service.http.delete(f"/v1/files/{made['id']}").json()
    assert gone == {"id": made["id"], "object": "file", "deleted": True}
    for path in (f"/v1/files/{made['id']}", f"/v1/files/{made['id']}/content"):
        assert service.http.get(path).status_code == 404


def test_files_are_listed_in_pages(service: Live) -> None:
    ids = [upload(service, b"x", "evals").json()["id"] for _ in range(5)]
    service.http.put("/v1/files/named.csv", content=b"a,b")

    def page(**params: str) -> dict[str, Any]:
        found: dict[str, Any] = service.http.get("/v1/files", params=params).json()
        return found

    everything = page()
    assert {"named.csv", *ids} <= {file["id"] for file in everything["data"]}
    first = page(purpose="evals", limit="3")
    assert (len(first["data"]), first["has_more"]) == (3, True)
    rest = page(purpose="evals", limit="3", after=first["last_id"])
    assert (len(rest["data"]), rest["has_more"]) == (2, False)
    assert {file["id"] for file in first["data"] + rest["data"]} == set(ids)
    named = next(file for file in everything["data"] if file["id"] == "named.csv")
    assert (named["name"], named["purpose"], named["bytes"]) == ("named.csv", "user_data", 3)
    for params in ({"limit": "0"}, {"limit": "x"}, {"order": "up"}, {"after": "file-none"}):
        assert service.http.get("/v1/files", params=params).status_code == 400


def test_an_upload_may_expire(service: Live) -> None:
    given = {"expires_after[anchor]": "created_at", "expires_after[seconds]": "3600"}
    made = upload(service, b"x", "user_data", **given).json()
    assert made["expires_at"] == made["created_at"] + 3600
    of_batch = upload(service, b"x").json()
    assert of_batch["expires_at"] == of_batch["created_at"] + 30 * 86_400


@pytest.mark.parametrize(
    ("fields", "param"),
    [
        ({"purpose": "rubbish"}, "purpose"),
        ({"expires_after[anchor]": "created_at"}, "expires_after[seconds]"),
        ({"expires_after[seconds]": "3600"}, "expires_after[anchor]"),
        (
            {"expires_after[anchor]": "created_at", "expires_after[seconds]": "1"},
            "expires_after[seconds]",
        ),
        (
            {"expires_after[anchor]": "created_at", "expires_after[seconds]": "9" * 99},
            "expires_after[seconds]",
        ),
        ({"expire_after": "3600"}, "expire_after"),
        ({"purpose": ["batch", "fine-tune"]}, "purpose"),
    ],
)
def test_an_unusable_form_is_refused_at_its_field(
    service: Live, fields: dict[str, Any], param: str
) -> None:
    data = {"purpose": "batch", **fields}
    answer = service.http.post("/v1/files", data=data, files={"file": ("a", b"x")})
    assert answer.status_code == 400
    assert answer.json()["error"]["param"] == param


@pytest.mark.parametrize(
    ("kind", "body"),
    [
        ("application/json", b"{}"),
        ("multipart/form-data", b"no boundary"),
        ("multipart/form-data; boundary=x", b"no parts"),
        ("multipart/form-data; boundary=x", b"--x\r\n\r\n--x--"),
        ("multipart/form-data; boundary=\xff", b"--x--"),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n--x--\r\n',
        ),
        (
            "multipart/form-data; boundary=x",
            b'--x\r\nContent-Disposition: form-data; name="file"\r\n\r\nnot a file\r\n--x--\r\n',
        ),
    ],
)
def test_a_body_that_is_no_form_with_a_file_is_refused(
    service: Live, kind: str, body: bytes
) -> None:
    headers = [(b"content-type", kind.encode("latin-1"))]
    answer = service.http.post("/v1/files", content=body, headers=headers)
    assert answer.status_code == 400, answer.text
    assert answer.json()["error"]["code"] == "invalid_request"


def test_a_file_beyond_the_quota_is_refused_and_leaves_nothing(
    folder: Path, tmp_path: Path
) -> None:
    with live(launch(), folder, data=str(tmp_path), max_data_bytes=2000) as service:
        assert upload(service, b"x" * 1500).status_code == 200
        assert upload(service, b"x" * 900).status_code == 400
        assert upload(service, b"x" * 9000).status_code == 413
        assert len(service.http.get("/v1/files").json()["data"]) == 1
        assert len(list((tmp_path / "files").iterdir())) == 1


def test_a_batch_that_names_nothing_is_refused(service: Live) -> None:
    file_id = upload(service, b"x").json()["id"]
    assert create(service, "file-none").status_code == 404
    assert create(service, "../jobs.db").status_code == 400
    for wrong in (
        {"endpoint": "/v1/embeddings"},
        {"completion_window": "1h"},
        {"metadata": {str(n): "x" for n in range(17)}},
        {"output_expires_after": {"anchor": "created_at", "seconds": 1}},
        {"unknown": 1},
    ):
        assert create(service, file_id, **wrong).status_code == 400
    assert service.http.get("/v1/batches/batch_none").status_code == 404
    assert service.http.post("/v1/batches/batch_none/cancel").status_code == 404
    assert service.http.get("/v1/batches", params={"after": "batch_none"}).status_code == 404


def test_a_batch_with_a_faulty_file_fails_and_cannot_be_cancelled(service: Live) -> None:
    made = create(service, upload(service, b"{}\n").json()["id"], metadata={"k": "v"})
    assert made.json()["status"] == "validating"
    found = ended(service, made.json()["id"])
    assert (found["status"], found["metadata"]) == ("failed", {"k": "v"})
    assert found["errors"]["data"][0]["line"] == 1
    assert service.http.post(f"/v1/batches/{found['id']}/cancel").status_code == 422
    listed = service.http.get("/v1/batches", params={"limit": 1}).json()
    assert [one["id"] for one in listed["data"]] == [found["id"]]


def test_a_batch_of_chats_is_answered(service: Live) -> None:
    texts = ("<<echo one>>", "<<echo two>>", "<<fail internal_error>>", "<<echo three>>")
    made = create(service, upload(service, lines(*texts)).json()["id"])
    found = ended(service, made.json()["id"])
    assert found["request_counts"] == {"total": 4, "completed": 3, "failed": 1}
    assert found["usage"]["output_tokens"] == len("onetwothree")
    output = service.http.get(f"/v1/files/{found['output_file_id']}/content").text
    answers = [json.loads(line)["response"]["body"] for line in output.splitlines()]
    assert [a["choices"][0]["message"]["content"] for a in answers] == ["one", "two", "three"]
    errors = service.http.get(f"/v1/files/{found['error_file_id']}/content").text
    (error,) = [json.loads(line) for line in errors.splitlines()]
    assert (error["custom_id"], error["response"]["status_code"]) == ("r2", 500)
    assert error["response"]["body"]["error"]["code"] == "internal_error"


def test_a_server_without_a_data_folder_says_so(folder: Path) -> None:
    with live(launch(), folder) as service:
        for path in ("/v1/files", "/v1/batches"):
            answer = service.http.get(path)
            assert answer.status_code == 404
            assert "--data" in answer.json()["error"]["hint"]
