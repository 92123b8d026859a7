"""The extraction backend of a server's jobs: its own engine, shared with its clients.

Does: bridge from the job's thread to the server's event loop. Does not: access engines.
"""

import asyncio
import queue
from base64 import b64encode
from collections.abc import Awaitable, Callable, Generator, Iterator
from concurrent.futures import Future

from intaglio.schemas.extraction.document_objects import DocumentSource
from intaglio.schemas.extraction.images import ImageInput
from intaglio.schemas.extraction.requests import ExtractOptions, ExtractRequest
from intaglio.schemas.extraction.results import ExtractResult
from intaglio.schemas.jobs import JobSpec

from ..client import IntaglioError
from ..client.models import extraction
from ..client.shapes import Shape
from .backends import Finished, Task, heartbeat
from .records.row_files import LoadedFiles

# Runs one extraction in the event loop; raises `IntaglioError` as the client would.
Extract = Callable[[ExtractRequest], Awaitable[ExtractResult]]


class ServerBackend:
    """Calls of `extract` in `loop`, with `at_once` in flight.

    `check` is called before a result is given out, and raises if another model or adapter may have computed it.
    `reads_images`: whether the model does.
    """

    def __init__(
        self,
        extract: Extract,
        loop: asyncio.AbstractEventLoop,
        spec: JobSpec,
        model: str,
        check: Callable[[], None],
        at_once: int = 64,
        *,
        reads_images: bool = False,
    ) -> None:
        self._reads_images = reads_images
        self._extract = extract
        self._loop = loop
        self._at_once = at_once
        self._model = model
        self._check = check
        self._adapter = spec.adapter
        self._options: ExtractOptions = spec.options

    @property
    def model(self) -> str:
        return self._model

    @property
    def reads_images(self) -> bool:
        return self._reads_images

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        finished: queue.SimpleQueue[tuple[Task, Future[ExtractResult]]] = queue.SimpleQueue()
        calls: set[Future[ExtractResult]] = set()
        try:
            while True:
                heartbeat(tasks)
                while len(calls) < self._at_once:
                    task = next(tasks, None)
                    if task is None:
                        break
                    calls.add(self._begin(task, finished))
                if not calls:
                    return
                try:
                    done, call = finished.get(timeout=0.5)
                except queue.Empty:
                    continue
                calls.discard(call)
                self._check()
                yield _finished(done, call)
        finally:
            for call in calls:
                call.cancel()

    def _begin(
        self, task: Task, finished: "queue.SimpleQueue[tuple[Task, Future[ExtractResult]]]"
    ) -> "Future[ExtractResult]":
        async def run() -> ExtractResult:
            return await self._extract(self._body(task))

        call = asyncio.run_coroutine_threadsafe(run(), self._loop)
        call.add_done_callback(lambda future: finished.put((task, future)))
        return call

    def _body(self, task: Task) -> ExtractRequest:
        text, files = task.claim.text or None, task.files or LoadedFiles()
        document = None
        if files.document is not None:
            name, content = files.document
            text = None
            document = DocumentSource(base64=_base64(content), name=name[:255] or None)
        return ExtractRequest(
            schema=task.schema,
            text=text,
            images=tuple(ImageInput(base64=_base64(image)) for image in files.images),
            document=document,
            model=self._adapter,
            options=self._options,
        )


def _base64(content: bytes) -> str:
    return b64encode(content).decode("ascii")


def _finished(task: Task, call: "Future[ExtractResult]") -> Finished:
    error = call.exception()
    if isinstance(error, IntaglioError):
        return task.claim, error
    body = call.result().model_dump_json(by_alias=True).encode()
    return task.claim, extraction(body, Shape(schema=True, adapter=None), None)
