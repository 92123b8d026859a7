"""`intaglio extract`: documents in, JSON out, here or through a service.

Does: read schema and documents, run them together, write each result as soon as its turn comes. Does not: format errors
(`cli_trouble`) or know engines (`llm`, `client`).
"""

import asyncio
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Any, Self, TextIO

from ..schemas import catalogue
from ..schemas.contract import Contract
from .cli_console import compact, errors, pretty, waiting, write_json
from .cli_offline import offline
from .cli_trouble import Exit, Trouble, show, trouble
from .client import AsyncClient, Extraction, IntaglioError, Options

AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class Task:
    """What was asked for on the command line, as it was typed."""

    documents: tuple[str, ...]
    schema: str
    url: str | None = None
    model: str | None = None
    max_tokens: int | None = None
    output: Path | None = None
    as_json: bool = False
    strict_schema: bool = False
    answer: bool = False

    @property
    def options(self) -> Options:
        options: Options = {"strict_schema": True} if self.strict_schema else {}
        if self.max_tokens is not None:
            options["max_tokens"] = self.max_tokens
        return options


@dataclass(frozen=True, slots=True)
class Document:
    """A text, and what to call it."""

    name: str
    text: str


Outcome = Extraction[Any] | IntaglioError
Emit = Callable[[Document, Outcome], None]


def run(task: Task) -> Exit:
    """Do `task`. Raises `Trouble` for what concerns all documents; a document's own failure is told and counted."""
    schema = read_schema(task.schema)
    documents = read_documents(task.documents)
    with _Writer(task, many=len(documents) > 1) as writer:
        if task.url is not None:
            asyncio.run(_remote(task, task.url, schema, documents, writer.write))
        else:
            _local(task, schema, documents, writer.write)
    return writer.end


def read_schema(given: str) -> Any:
    """The schema in a file, or the name of one in the catalogue. Raises `Trouble` where it is neither."""
    path = Path(given)
    if given in catalogue.names():
        return given
    if not path.is_file():
        hint = "give a file with a JSON Schema, or a name that `intaglio schema list` shows"
        try:
            catalogue.get(given)
        except catalogue.UnknownSchema as unknown:
            raise Trouble(f"no such file, and {unknown}", Exit.USAGE, hint=hint) from None
    try:
        return json.loads(text_of(path))
    except ValueError as error:
        raise Trouble(f"{given} is not JSON: {error}", Exit.REFUSED) from None


def read_documents(names: Sequence[str]) -> tuple[Document, ...]:
    """All documents. Raises `Trouble` for one that cannot be read, before any work is done."""
    if names.count("-") > 1:
        raise Trouble("standard input (-) can be read only once", Exit.USAGE)
    documents = []
    for name in names:
        if name == "-":
            document = Document(
                "standard input", decoded("standard input", sys.stdin.buffer.read())
            )
        else:
            document = Document(name, text_of(Path(name)))
        if not document.text.strip():
            raise Trouble(f"{document.name} is empty", Exit.USAGE)
        documents.append(document)
    return tuple(documents)


def text_of(path: Path) -> str:
    """The text of a file. Raises `Trouble` where it cannot be read."""
    try:
        return decoded(str(path), path.read_bytes())
    except OSError as error:
        raise Trouble(f"cannot read {path}: {error.strerror}", Exit.USAGE) from None


def decoded(name: str, content: bytes) -> str:
    """UTF-8 as text. Raises `Trouble` where it is something else."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Trouble(
            f"{name} is not UTF-8 text (byte {error.start})",
            Exit.USAGE,
            hint=f"convert it first, for instance: iconv -f latin1 -t utf-8 {name}",
        ) from None


def _local(task: Task, schema: Any, documents: Sequence[Document], emit: Emit) -> None:
    with offline(task.model) as loaded:
        note = f"model {loaded.llm.info.model} ready in {loaded.seconds:.1f} s"
        errors().print(note, style="dim")
        for start in range(0, len(documents), AT_ONCE):
            batch = documents[start : start + AT_ONCE]
            texts = [document.text for document in batch]
            with waiting(f"extracting {', '.join(document.name for document in batch[:3])} …"):
                outcomes = loaded.llm.extract_many(
                    schema, texts, return_errors=True, **task.options
                )
            for document, outcome in zip(batch, outcomes, strict=True):
                emit(document, outcome)


async def _remote(
    task: Task, url: str, schema: Any, documents: Sequence[Document], emit: Emit
) -> None:
    try:
        client = AsyncClient(url)
    except ValueError as error:
        raise Trouble(str(error), Exit.USAGE) from None
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(document: Document) -> Outcome:
        async with turn:
            try:
                return await client.extract(schema, document.text, model=task.model, **task.options)
            except IntaglioError as error:
                return error

    async with client:
        tasks = [asyncio.create_task(one(document)) for document in documents]
        try:
            for document, result in zip(documents, tasks, strict=True):
                with waiting(f"extracting {document.name}"):
                    outcome = await result
                emit(document, outcome)
        finally:
            for unfinished in tasks:
                unfinished.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class _Writer:
    """Results to standard output or a file, the rest to standard error; remembers how it ended."""

    def __init__(self, task: Task, *, many: bool) -> None:
        self.end = Exit.OK
        self._task = task
        self._many = many
        self._told = False
        self._cleanup = ExitStack()
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        if self._task.output is not None:
            self._file = self._cleanup.enter_context(_replacing(self._task.output))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cleanup.__exit__(kind, error, trace)

    def write(self, document: Document, outcome: Outcome) -> None:
        """Write one outcome. Raises `Trouble` for a failure that every other document would share."""
        if isinstance(outcome, IntaglioError):
            found = trouble(outcome)
            assert found is not None, "every error of the SDK is told"
            if found.exit is not Exit.FAILED:
                raise found
            self.end = Exit.FAILED
            show(found, document.name)
            if self._many:
                self._line({"document": document.name, "error": found.document()})
            return
        self._tell_of(outcome.contract)
        if self._task.answer:
            named = {"document": document.name} if self._many else {}
            self._line({**named, **outcome.raw})
        elif self._many:
            contract = outcome.raw["contract"] if any(outcome.contract.notes()) else None
            told = {"document": document.name, "data": outcome.data, "contract": contract}
            self._line(
                {key: value for key, value in told.items() if value is not None or key == "data"}
            )
        elif self._file is not None:
            text = compact(outcome.data) if self._task.as_json else pretty(outcome.data)
            self._file.write(text + "\n")
        else:
            write_json(outcome.data, raw=self._task.as_json)
        errors().print(f"{document.name}: {summary(outcome)}", style="dim")

    def _tell_of(self, contract: Contract) -> None:
        """What of the schema is not enforced, once: it is the same for every document."""
        if not self._told:
            for note in contract.notes():
                errors().print(f"{self._task.schema}: {note}", style="yellow")
        self._told = True

    def _line(self, value: dict[str, Any]) -> None:
        target = self._file or sys.stdout
        target.write(compact(value) + "\n")
        target.flush()


@contextmanager
def _replacing(path: Path) -> Iterator[TextIO]:
    """A file that takes the place of `path` when all is written; what is cut short stays beside it as `.part`."""
    part = path.with_name(path.name + ".part")
    try:
        file = part.open("w", encoding="utf-8")
    except OSError as error:
        raise Trouble(f"cannot write {path}: {error.strerror}", Exit.USAGE) from None
    whole = False
    try:
        with file:
            yield file
        whole = True
    finally:
        if part.stat().st_size == 0:
            part.unlink()
        elif whole:
            part.replace(path)
        else:
            errors().print(f"what was done until then lies in {part}")


def summary(result: Extraction[Any]) -> str:
    """Validity, tokens and time of one result, in one line."""
    usage, timings = result.usage, result.timings
    work = timings.prefill_ms + timings.decode_ms
    return (
        f"{'valid' if result.valid else 'INVALID'} · "
        f"{usage.prompt_tokens} tokens in, {usage.output_tokens} out · {work:.0f} ms of model work"
        f"{' · cut short to fit the budget: raise --max-tokens' if usage.budget_forced else ''}"
    )
