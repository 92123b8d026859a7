# Generated from _async_jobs.py by `make sync-client`; change that file.
"""The client of a service's bulk jobs. The synchronous form is generated from the asynchronous one.

Does: upload a file, start a job over it, wait for it, fetch its rows. Does not: run jobs locally (`intaglio job run`).
"""

import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, Literal
from urllib.parse import quote

from intaglio.schemas.jobs import ENDED, DeadRow, JobStatus, OutputFormat, Source
from pydantic import TypeAdapter

from ._sync_wire import Wire
from .errors import TimedOut
from .models import Options, key_header, source_part
from .shapes import shape_of

POLL_SECONDS = 0.5
CHUNK_BYTES = 1 << 20

_STATUSES = TypeAdapter(dict[Literal["data"], tuple[JobStatus, ...]])


class Jobs:
    """The jobs of a service, as `client.jobs`. Every method raises `IntaglioError` like those of the client."""

    def __init__(self, wire: Wire) -> None:
        self._wire = wire

    def upload(self, file: str | Path, name: str | None = None) -> str:
        """Upload a file, replacing one of that name; returns its name on the service."""
        path = Path(file)
        name = name or path.name
        self._wire.send(f"/v1/files/{quote(name, safe='')}", _chunks(path))
        return name

    def create(
        self,
        schema: Any,
        source: Source | Mapping[str, Any],
        *,
        options: Options | None = None,
        idempotency_key: str | None = None,
        **more: Any,
    ) -> JobStatus:
        """Start a job over an uploaded file. `schema` is as in `extract`; `more` are fields of `schemas.jobs.JobSpec`.

        With an `idempotency_key` the call is safe to repeat: it starts one job.

        Raises `BadRequest` for a field or value that a job cannot have; TypeError if `source` is not a mapping.
        """
        body = {
            "schema": shape_of(schema).schema,
            "source": source_part(source),
            "options": dict(options or {}),
            **more,
        }
        key = key_header({"idempotency_key": idempotency_key})
        # Without a key, a retry might start a second job.
        tries = None if idempotency_key else 0
        answer = self._wire.call("POST", "/v1/jobs", body, max_retries=tries, headers=key)
        return self._wire.read(answer, JobStatus)

    def get(self, job: str) -> JobStatus:
        """The status of a job."""
        return self._wire.get(_path(job), JobStatus)

    def list(self) -> tuple[JobStatus, ...]:
        """All jobs, newest first."""
        answer = self._wire.call("GET", "/v1/jobs")
        return _STATUSES.validate_json(answer.content)["data"]

    def wait(self, job: str, timeout: float | None = None) -> JobStatus:
        """Wait until a job has ended. Raises `TimedOut` after `timeout` seconds; the job continues."""
        deadline = None if timeout is None else monotonic() + timeout
        while True:
            status = self.get(job)
            if status.state in ENDED:
                return status
            if deadline is not None and monotonic() > deadline:
                raise TimedOut(f"job {job} was {status.state.value} after {timeout:g} s")
            time.sleep(POLL_SECONDS)

    def pause(self, job: str) -> JobStatus:
        """Pause a job after its rows in flight."""
        return self._command(job, "pause")

    def cancel(self, job: str) -> JobStatus:
        """Cancel a job; its results so far are kept."""
        return self._command(job, "cancel")

    def resume(self, job: str) -> JobStatus:
        """Resume a job that was paused, was cancelled or has failed."""
        return self._command(job, "resume")

    def results(self, job: str, to: str | Path, format: OutputFormat = "jsonl") -> Path:  # noqa: A002
        """Write the finished rows to a file; the file is either complete or not created."""
        path = Path(to)
        part = path.with_name(f".{path.name}.part")
        try:
            with part.open("wb") as file:
                self._fetch(f"{_path(job)}/results", {"format": format}, file)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return path

    def dead(self, job: str) -> tuple[DeadRow, ...]:
        """The rows without a result, with their reasons."""
        answer = self._wire.call("GET", f"{_path(job)}/dead")
        return tuple(DeadRow.model_validate_json(line) for line in answer.content.splitlines())

    def _fetch(self, path: str, params: Mapping[str, str], file: BinaryIO) -> None:
        with self._wire.stream(path, params) as answer:
            for chunk in answer.iter_bytes():
                file.write(chunk)

    def _command(self, job: str, command: str) -> JobStatus:
        answer = self._wire.call("POST", f"{_path(job)}/{command}")
        return self._wire.read(answer, JobStatus)


def _path(job: str) -> str:
    return f"/v1/jobs/{quote(job, safe='')}"


def _chunks(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
