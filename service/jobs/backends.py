"""Extraction backends of a job: a local engine or a remote service.

Does: draw tasks as capacity frees up, return each with its result or error, abort all when the run stops. Does not:
retry or store rows (`job_runner`).
"""

import asyncio
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final, Protocol, TypedDict, TypeVar, Unpack

from intaglio.schemas.server_info import ModelCard

from ..adapters.named_adapters import adapted_model
from ..client import AsyncClient, Extraction, IntaglioError, Options
from ..client.config import address
from ..client.file_input import FileInput
from ..documents.seen_image import SeenText
from .records.errors import AdapterMissing, JobError
from .records.row import Claim
from .records.row_files import LoadedFiles

K = TypeVar("K")

Schema = dict[str, Any] | bool | str
Content = str | SeenText | Future[SeenText]
Finished = tuple[Claim, Extraction[Any] | IntaglioError]


class RowOptions(Options, total=False):
    """The options of all rows of a job; `adapter` is the name of one."""

    adapter: str | None


class FileParts(TypedDict, total=False):
    """The options of the client for files of a row."""

    file: FileInput | None
    images: Sequence[FileInput]


@dataclass(frozen=True, slots=True)
class Task:
    """A row to extract, the schema for its result, and its files if it has some."""

    claim: Claim
    schema: Schema
    files: LoadedFiles | None = None


class Stopped(Exception):
    """The run has been stopped: tasks in flight must be aborted."""


class TaskFeed(Iterator[Task | None]):
    """The tasks of a run from `draw`; `heartbeat` is called while no task is drawn.

    Both raise `Stopped` once the run has been stopped.
    """

    def __init__(self, draw: Iterator[Task | None], heartbeat: Callable[[], None]) -> None:
        self._draw = draw
        self.heartbeat = heartbeat

    def __next__(self) -> Task | None:
        return next(self._draw)


def heartbeat(tasks: Iterator[Task | None]) -> None:
    """Run the periodic work of a run. Backends call it at least every half second, with or without free capacity.

    Raises:
        Stopped: tasks in flight must be aborted.
    """
    if isinstance(tasks, TaskFeed):
        tasks.heartbeat()


class ExtractionBackend(Protocol):
    """Processes many tasks concurrently."""

    @property
    def model(self) -> str:
        """The name of the model."""
        ...

    @property
    def reads_images(self) -> bool:
        """Whether the model reads images."""
        ...

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        """Yield every task with its outcome in order of completion. Closing the generator early aborts the rest.

        None among `tasks` means that no other task is available now; the generator then ends once nothing is in flight.
        `Stopped` from `tasks` propagates after tasks in flight have been aborted.
        """
        ...


class LocalEngine(Protocol):
    """The methods of `LLM` that a job uses."""

    def computed_by(self, adapter: str | None = None) -> str:
        """The name of the model, with the adapter's and its content if one is given."""
        ...

    @property
    def reads_images(self) -> bool:
        """Whether the model reads images."""
        ...

    def seen(
        self, text: str, images: Sequence[bytes], document: tuple[str, bytes] | None
    ) -> Future[SeenText]:
        """What the model extracts from, decoded: images before a text, or the document of a name."""
        ...

    def extract_stream(
        self,
        items: Iterable[tuple[K, Any, Content] | None],
        *,
        at_once: int,
        **options: Unpack[RowOptions],
    ) -> Generator[tuple[K, Extraction[Any] | IntaglioError], None, None]:
        """Extract from (key, schema, content) items; yield (key, result or error) as each ends."""
        ...


def content_of(llm: LocalEngine, text: str, files: LoadedFiles | None) -> Content:
    """The content of a row for a local engine. Files are decoded while the engine runs other rows."""
    return text if files is None else llm.seen(text, files.images, files.document)


class LocalBackend:
    """A local engine with `at_once` extractions in flight."""

    def __init__(self, llm: LocalEngine, options: RowOptions, at_once: int = 256) -> None:
        self._llm = llm
        self._options = options
        self._at_once = at_once

    @property
    def model(self) -> str:
        return self._llm.computed_by(self._options.get("adapter"))

    @property
    def reads_images(self) -> bool:
        return self._llm.reads_images

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        in_flight, exhausted = 0, False

        def items() -> Iterator[tuple[Claim, Schema, Content] | None]:
            nonlocal in_flight, exhausted
            # Continue after the last task: the run may be stopped until all tasks have ended.
            while in_flight or not exhausted:
                heartbeat(tasks)
                task = None if exhausted or in_flight >= self._at_once else next(tasks, _EXHAUSTED)
                if isinstance(task, _Exhausted):
                    exhausted, task = True, None
                in_flight += task is not None
                if task is None:
                    yield None
                else:
                    content = content_of(self._llm, task.claim.text, task.files)
                    yield task.claim, task.schema, content

        # One slot more than is ever used makes the engine draw an item, perhaps None, in each step.
        stream = self._llm.extract_stream(items(), at_once=self._at_once + 1, **self._options)
        with closing(stream) as finished:
            for outcome in finished:
                in_flight -= 1
                yield outcome


class _Exhausted:
    """Marks the end of the tasks."""


_EXHAUSTED: Final = _Exhausted()


class RemoteBackend:
    """A service at `url` with `at_once` requests in flight.

    It is asked for the name of its model unless `model` is given, and for the content of the adapter that `options`
    name. Such a name excludes `model`, as in the client.
    """

    def __init__(self, url: str, options: RowOptions, model: str | None, at_once: int = 32) -> None:
        """Raises `JobError` if `url` is none of a service."""
        try:
            address(url, None)
        except ValueError as error:
            raise JobError(str(error), param="url") from None
        self._url = url
        self._options = options
        self._at_once = at_once
        self._named_model = model
        self._model = model
        self._reads_images: bool | None = None

    @property
    def model(self) -> str:
        return self.find_model() if self._model is None else self._model

    @property
    def reads_images(self) -> bool:
        if self._reads_images is None:
            cards = asyncio.run(self._cards())
            self._reads_images = cards[0].reads_images
        return self._reads_images

    def find_model(self) -> str:
        """Ask the service for its model, and for the content of the adapter if rows are computed with one.

        Raises:
            AdapterMissing: the service has no adapter of that name.
            IntaglioError: the service cannot be asked.
        """
        self._model = asyncio.run(self._served_model())
        return self._model

    async def _cards(self) -> tuple[ModelCard, ...]:
        async with AsyncClient(self._url) as client:
            return await client.models()

    async def _served_model(self) -> str:
        cards = await self._cards()
        name = self._options.get("adapter")
        if name is None:
            return cards[0].id
        found = {card.id: card for card in cards if card.parent and card.digest}
        if name not in found:
            raise AdapterMissing(
                f"the service at {self._url} has no adapter {name!r}",
                param="adapter",
                hint=f"its adapters are: {', '.join(found)}"
                if found
                else "it has none: POST /v1/adapters loads one",
            )
        card = found[name]
        return adapted_model(card.parent or "", name, card.digest or "")

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        with asyncio.Runner() as loop:
            client = AsyncClient(self._url)
            open_calls: set[asyncio.Task[Finished]] = set()
            try:
                while True:
                    heartbeat(tasks)
                    while len(open_calls) < self._at_once:
                        task = next(tasks, None)
                        if task is None:
                            break
                        call = self._call(client, task)
                        open_calls.add(loop.get_loop().create_task(call))
                    if not open_calls:
                        return
                    done, open_calls = loop.run(_wait_for_any(open_calls))
                    for call_done in done:
                        yield call_done.result()
            finally:
                loop.run(_cancel(client, open_calls))

    async def _call(self, client: AsyncClient, task: Task) -> Finished:
        try:
            text, files = _request_parts(task)
            result: Extraction[Any] = await client.extract(
                task.schema, text, model=self._named_model, **self._options, **files
            )
        except IntaglioError as error:
            return task.claim, error
        return task.claim, result


def _request_parts(task: Task) -> tuple[str | None, FileParts]:
    """The text and the files of a row as the client takes them."""
    text, files = task.claim.text, task.files
    if files is None:
        return text, {}
    if files.document is not None:
        return None, {"file": files.document}
    return text or None, {"images": files.images}


async def _wait_for_any(
    calls: set[asyncio.Task[Finished]],
) -> tuple[set[asyncio.Task[Finished]], set[asyncio.Task[Finished]]]:
    """(calls that have ended, calls that have not) as soon as one ends or half a second has passed."""
    return await asyncio.wait(calls, timeout=0.5, return_when=asyncio.FIRST_COMPLETED)


async def _cancel(client: AsyncClient, calls: set[asyncio.Task[Finished]]) -> None:
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
    await client.close()
