"""The stores and the background work of a server with a data folder: jobs, batches, files, schemas, kept answers.

Does: open the stores, start the work once a model is loaded, stop it. Does not: run jobs (`jobs.host`) or batches
(`batches.batch_host`), or answer requests about them.
"""

import asyncio
from collections.abc import Callable
from functools import partial
from pathlib import Path

from intaglio.schemas.jobs import JobSpec
from starlette.types import ASGIApp

from ..documents.document_store import DocumentStore
from ..idempotency.answer_store import AnswerStore
from ..registry.directory import SchemaDirectory
from .extraction_runs import run_for_job
from .job_models import reads_images, require_unchanged
from .service_state import Service

Notice = Callable[[str, Exception], None]
"""Called with the name of a job or batch, and an error."""


def open_stores(service: Service, failed: Notice, waits: Notice) -> None:
    """Open the stores of the configured data folder, unless they are open; no effect without a data folder.

    `failed` is called when a job or batch ends with an unexpected error, `waits` when a job has to wait.

    Raises:
        JobError: the folder is unusable.
    """
    config = service.config
    if config.data and service.jobs is None:
        from ..batches.batch_host import BatchHost
        from ..jobs.host import JobHost
        from ..openai.response_store import ResponseStore
        from ..registry.schema_registry import SchemaRegistry

        folder, most = Path(config.data), config.max_open_jobs
        jobs = JobHost(folder, config.max_data_bytes, most, failed, waits)
        service.jobs = jobs
        service.answers = AnswerStore(folder / "idempotency.db")
        service.documents = DocumentStore(folder / "documents.db")
        service.schemas = SchemaDirectory(SchemaRegistry(folder))
        service.responses = ResponseStore(folder)
        service.batches = BatchHost(folder, jobs.files, most, failed)
    elif config.metrics_folder and not config.data:
        # One of several processes: a repeated request, or an upload, may come to another one.
        shared = Path(config.metrics_folder)
        service.answers = AnswerStore(shared / "idempotency.sqlite")
        service.documents = DocumentStore(shared / "documents.sqlite")


def start_work(app: ASGIApp, service: Service) -> None:
    """Start to run jobs and batches, if there is a data folder. Requests of batches are sent to `app`."""
    if service.batches is not None:
        from .inner_requests import InnerRequests

        at_once = max(1, min(64, service.config.max_requests // 2))
        service.batches.start(InnerRequests(app, service.access), at_once)
    if service.jobs is None:
        return
    from ..jobs.owners import key_of
    from ..jobs.records.errors import UnknownFile
    from ..jobs.server_backend import ServerBackend

    loop, ledger = asyncio.get_running_loop(), service.jobs.ledger

    def backend_of(job: str, spec: JobSpec) -> ServerBackend:
        extract = partial(run_for_job, service, key_of(job))
        began_with = ledger.status(job).model or service.model
        check = partial(require_unchanged, service, job, spec.adapter, began_with)
        check()
        sees = reads_images(service)
        return ServerBackend(extract, loop, spec, began_with, check, reads_images=sees)

    def image_of(job: str, name: str) -> Path:
        assert service.batches is not None  # opened together with the jobs
        tenant = service.access.tenant_of(key_of(job))
        if not tenant:
            raise UnknownFile(f"there is no file {name!r}", hint="the key of the job is gone")
        return service.batches.files.path(name, tenant)

    service.jobs.start(backend_of, image_of)


async def stop_work(service: Service) -> None:
    """Finish the rows of a job that are in flight, and abort those of a batch. Both continue at the next start."""
    if service.responses is not None:
        service.responses.close()
    batches, service.batches = service.batches, None
    if batches is not None:
        await batches.close()
    jobs, service.jobs = service.jobs, None
    if jobs is not None:
        await asyncio.to_thread(jobs.close)
