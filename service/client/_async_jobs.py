"""The client of a service's bulk jobs. The synchronous form is generated from the asynchronous one.

Does: upload a file, start a job over it, wait for it, fetch its rows. Does not: run jobs locally (`intaglio job run`).
"""

# ruff: noqa: ASYNC109  both clients name a time limit alike

import asyncio
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from time import monotonic
from typing import Any, BinaryIO, Literal
from urllib.parse import quote

from intaglio.schemas.jobs import ENDED, DeadRow, JobStatus, OutputFormat, Source
from pydantic import TypeAdapter

from ._async_wire import AsyncWire
from .errors import TimedOut
from .models import Options, key_header, source_part
from .shapes import shape_of

POLL_SECONDS = 0.5
CHUNK_BYTES = 1 << 20

_STATUSES = TypeAdapter(dict[Literal["data"], tuple[JobStatus, ...]])


class AsyncJobs:
    """The jobs of a service, as `client.jobs`. Every method raises `IntaglioError` like those of the client."""

    def __init__(self, wire: AsyncWire) -> None:
        self._wire = wire

    async def upload(self, file: str | Path, name: str | None = None) -> str:
        """Upload a file, replacing one of that name; returns its name on the service."""
        path = Path(file)
        name = name or path.name
        await self._wire.send(f"/v1/files/{quote(name, safe='')}", _chunks(path))
        return name

    async def create(
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
        answer = await self._wire.call("POST", "/v1/jobs", body, max_retries=tries, headers=key)
        return self._wire.read(answer, JobStatus)

    async def get(self, job: str) -> JobStatus:
        """The status of a job."""
        return await self._wire.get(_path(job), JobStatus)

    async def list(self) -> tuple[JobStatus, ...]:
        """All jobs, newest first."""
        answer = await self._wire.call("GET", "/v1/jobs")
        return _STATUSES.validate_json(answer.content)["data"]

    async def wait(self, job: str, timeout: float | None = None) -> JobStatus:
        """Wait until a job has ended. Raises `TimedOut` after `timeout` seconds; the job continues."""
        deadline = None if timeout is None else monotonic() + timeout
        while True:
            status = await self.get(job)
            if status.state in ENDED:
                return status
            if deadline is not None and monotonic() > deadline:
                raise TimedOut(f"job {job} was {status.state.value} after {timeout:g} s")
            await asyncio.sleep(POLL_SECONDS)

    async def pause(self, job: str) -> JobStatus:
        """Pause a job after its rows in flight."""
        return await self._command(job, "pause")

    async def cancel(self, job: str) -> JobStatus:
        """Cancel a job; its results so far are kept."""
        return await self._command(job, "cancel")

    async def resume(self, job: str) -> JobStatus:
        """Resume a job that was paused, was cancelled or has failed."""
        return await self._command(job, "resume")

    async def results(self, job: str, to: str | Path, format: OutputFormat = "jsonl") -> Path:  # noqa: A002
        """Write the finished rows to a file; the file is either complete or not created."""
        path = Path(to)
        part = path.with_name(f".{path.name}.part")
        try:
            with part.open("wb") as file:
                await self._fetch(f"{_path(job)}/results", {"format": format}, file)
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)
        return path

    async def dead(self, job: str) -> tuple[DeadRow, ...]:
        """The rows without a result, with their reasons."""
        answer = await self._wire.call("GET", f"{_path(job)}/dead")
        return tuple(DeadRow.model_validate_json(line) for line in answer.content.splitlines())

    async def _fetch(self, path: str, params: Mapping[str, str], file: BinaryIO) -> None:
        async with self._wire.stream(path, params) as answer:
            async for chunk in answer.aiter_bytes():
                file.write(chunk)

    async def _command(self, job: str, command: str) -> JobStatus:
        answer = await self._wire.call("POST", f"{_path(job)}/{command}")
        return self._wire.read(answer, JobStatus)


def _path(job: str) -> str:
    return f"/v1/jobs/{quote(job, safe='')}"


async def _chunks(path: Path) -> AsyncIterator[bytes]:
    with path.open("rb") as file:
        while chunk := file.read(CHUNK_BYTES):
            yield chunk
