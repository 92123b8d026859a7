"""One object of each kind that a server keeps for a tenant, and every place where a request may name one.

Does: make them over HTTP; fill paths and bodies. Does not: send the requests that name them.
"""

import json
from collections.abc import Iterator
from dataclasses import astuple, dataclass
from typing import Any, Final, Self

import httpx2

CHAT: Final = "/v1/chat/completions"
SCHEMA: Final = {"type": "integer"}
TEXT: Final = "<<echo 1>>"
"""A prompt that the scripted engine answers with an integer."""
MAIL: Final = f"""\
From: a@example.com\r
Subject: s\r
MIME-Version: 1.0\r
Content-Type: multipart/mixed; boundary=x\r
\r
--x\r
Content-Type: text/plain\r
\r
{TEXT}\r
--x\r
Content-Type: application/octet-stream\r
Content-Disposition: attachment; filename="a.bin"\r
\r
abc\r
--x--\r
"""
NAME: Final = "theirs"


def filled(path: str, name: str) -> str:
    """A path with `name` in the place for one, and the first page and attachment of it."""
    for place in ("{id}", "{name}", "{reference}", "{asset}", "{model:path}"):
        path = path.replace(place, name)
    return path.replace("{page}", "1").replace("{index}", "0")


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnedObjects:
    """Their names."""

    document: str
    response: str
    schema: str
    file: str
    upload: str
    batch: str
    job: str

    @classmethod
    def make(cls, http: httpx2.Client, model: str) -> Self:
        """Make one object of each kind for the key of a client."""

        def made(answer: httpx2.Response) -> str:
            assert answer.status_code in (200, 201), answer.text
            return str(answer.json()["id"])

        asked = {"messages": [{"role": "user", "content": TEXT}], "max_tokens": 4}
        line = json.dumps({"custom_id": "a", "method": "POST", "url": CHAT, "body": asked})
        form = {"data": {"purpose": "batch"}, "files": {"file": ("in.jsonl", line.encode())}}
        rows = json.dumps({"text": TEXT}).encode()
        file = made(http.put("/v1/files/rows.jsonl", content=rows))
        upload = made(http.post("/v1/files", **form))  # type: ignore[arg-type]
        batch = {"input_file_id": upload, "endpoint": CHAT, "completion_window": "24h"}
        source = {"path": file, "text": "text"}
        job = {"schema": SCHEMA, "source": source, "review_below": 0.5}
        return cls(
            document=made(http.post("/v1/documents", content=MAIL.encode())),
            response=made(http.post("/v1/responses", json={"model": model, "input": TEXT})),
            schema=made(http.post("/v1/schemas", json={"name": NAME, "schema": SCHEMA})),
            file=file,
            upload=upload,
            batch=made(http.post("/v1/batches", json=batch)),
            job=made(http.post("/v1/jobs", json=job)),
        )

    @property
    def names(self) -> tuple[str, ...]:
        """All names."""
        return astuple(self)

    def in_path(self, path: str) -> tuple[str, ...]:
        """The names that a path may have; none if it names no object of a tenant."""
        kinds = {
            "/v1/documents/{": (self.document,),
            "/v1/responses/{": (self.response,),
            "/v1/schemas/{": (self.schema, NAME),
            "/v1/files/{": (self.file, self.upload),
            "/v1/batches/{": (self.batch,),
            "/v1/jobs/{": (self.job,),
        }
        return next((names for start, names in kinds.items() if path.startswith(start)), ())

    def in_bodies(self, model: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """The paths and bodies of requests that name the objects."""
        yield "/v1/extract", {"schema": SCHEMA, "document": {"id": self.document}}
        for name in (self.schema, NAME):
            yield "/v1/extract", {"schema": name, "text": TEXT}
            yield "/v1/schemas/explain", {"schema": name}
        asked = {"model": model, "input": TEXT}
        yield "/v1/responses", {**asked, "previous_response_id": self.response}
        batch = {"endpoint": CHAT, "completion_window": "24h"}
        yield "/v1/batches", {**batch, "input_file_id": self.upload}
        source = {"format": "jsonl", "text": "text"}
        for file in (self.file, self.upload):
            yield "/v1/jobs", {"schema": SCHEMA, "source": {**source, "path": file}}
