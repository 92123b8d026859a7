"""`intaglio extract`: extract from documents, locally or through a service.

Does: process documents together and write each result in order as soon as it is ready. Does not: read documents
(`documents`), format errors (`cli_errors`) or run engines (`llm`, `client`).
"""

import asyncio
import sys
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self, TextIO

from intaglio.schemas.extraction.contract import Contract
from intaglio.schemas.extraction.grounding_modes import ConfidenceMode, Grounding

from ..client import AsyncClient, Extraction, GuidanceOptions, IntaglioError
from .adapter_option import ChosenAdapter
from .cli_errors import CliError, Exit, cli_error, show
from .console import compact, errors, pretty, spinner, write_json
from .documents import Document, Unreadable, read_documents, read_schema
from .field_table import field_table
from .local_model import offline, require_local_calibration
from .output_file import replacing, require_no_input_overwritten
from .stream_command import stream_document

if TYPE_CHECKING:
    from intaglio.engine.api import EngineInfo

    from ..offline.offline_documents import OfflineDocuments, OfflineSource

AT_ONCE = 16


@dataclass(frozen=True, slots=True)
class ExtractCommand:
    """The arguments of `intaglio extract`, as typed."""

    documents: tuple[str, ...]
    schema: str
    url: str | None = None
    model: str | None = None
    max_tokens: int | None = None
    output: Path | None = None
    as_json: bool = False
    nulls: bool = False
    strict_schema: bool = False
    answer: bool = False
    stream: bool = False
    grounding: Grounding = "off"
    confidence: ConfidenceMode = "off"
    windows: bool = False
    calibration: Path | None = None
    adapter: ChosenAdapter | None = None

    @property
    def options(self) -> GuidanceOptions:
        """The options of every extraction."""
        options: GuidanceOptions = {}
        if self.adapter is not None:
            options["adapter"] = self.adapter.name
        if self.nulls:
            options["not_stated"] = "null"
        if self.grounding != "off":
            options["grounding"] = self.grounding
        if self.confidence != "off":
            options["confidence"] = self.confidence
        if self.strict_schema:
            options["strict_schema"] = True
        if self.windows:
            options["long_documents"] = "windows"
        if self.max_tokens is not None:
            options["max_tokens"] = self.max_tokens
        return options


Outcome = Extraction[Any] | IntaglioError
Emit = Callable[[Document, Outcome], None]


def run(command: ExtractCommand) -> Exit:
    """Run the command. Raises `CliError` for errors that concern all documents; errors of one document are printed."""
    if command.output is not None:
        require_no_input_overwritten(command.output, (*command.documents, command.schema))
    require_local_calibration(command.calibration, command.url)
    schema = read_schema(command.schema, registered=command.url is not None)
    found = read_documents(command.documents)
    if command.stream:
        return _stream(command, schema, found)
    documents = [document for document in found if isinstance(document, Document)]
    with _Writer(command, found) as writer:
        if not documents:
            writer.skip()
        elif command.url is not None:
            asyncio.run(_remote(command, command.url, schema, documents, writer.write))
        else:
            _local(command, schema, documents, writer.write)
    return writer.end


def _stream(command: ExtractCommand, schema: Any, found: Sequence[Document | Unreadable]) -> Exit:
    """Print the events of one document. Raises `CliError` if the arguments ask for anything else."""
    only = found[0] if len(found) == 1 else None
    if not isinstance(only, Document) or command.url is None or command.output is not None:
        raise CliError(
            "--stream takes one document, --url and no --output",
            Exit.USAGE,
            hint="start a service with `intaglio serve`, and redirect the output",
        )
    stream_document(command.url, schema, only, command.model, command.options)
    return Exit.OK


def _local(command: ExtractCommand, schema: Any, documents: Sequence[Document], emit: Emit) -> None:
    folders = None if command.adapter is None else command.adapter.folders
    with (
        offline(command.model, command.calibration, folders) as loaded,
        _local_documents(loaded.llm.info) as reader,
    ):
        note = f"model {loaded.llm.info.model} ready in {loaded.seconds:.1f} s"
        errors().print(note, style="dim")
        for start in range(0, len(documents), AT_ONCE):
            batch = documents[start : start + AT_ONCE]
            with spinner(f"extracting {', '.join(document.name for document in batch[:3])} …"):
                sources = [_source(reader, document) for document in batch]
                items = (
                    (number, schema, found.content)
                    for number, found in enumerate(sources)
                    if not isinstance(found, IntaglioError)
                )
                outcomes = dict(loaded.llm.extract_stream(items, **command.options))
            for number, (document, found) in enumerate(zip(batch, sources, strict=True)):
                if isinstance(found, IntaglioError):
                    emit(document, found)
                    continue
                outcome = outcomes[number]
                if not isinstance(outcome, IntaglioError):
                    outcome = found.in_extraction(outcome)
                emit(document, outcome)


@contextmanager
def _local_documents(info: "EngineInfo") -> Iterator["OfflineDocuments"]:
    """The reader of files on this machine."""
    from ..offline.offline_documents import OfflineDocuments  # the extra `server`

    with closing(OfflineDocuments(info)) as reader:
        yield reader


def _source(reader: "OfflineDocuments", document: Document) -> "OfflineSource | IntaglioError":
    """The text of a document, or the error of a file that cannot be read."""
    try:
        return reader.source(document.text, {"file": document.file})
    except IntaglioError as error:
        return error


async def _remote(
    command: ExtractCommand, url: str, schema: Any, documents: Sequence[Document], emit: Emit
) -> None:
    try:
        client = AsyncClient(url)
    except ValueError as error:
        raise CliError(str(error), Exit.USAGE) from None
    slots = asyncio.Semaphore(AT_ONCE)

    async def extract_one(document: Document) -> Outcome:
        async with slots:
            try:
                return await client.extract(
                    schema,
                    document.text,
                    model=command.model,
                    file=document.file,
                    **command.options,
                )
            except IntaglioError as error:
                return error

    async with client:
        tasks = [asyncio.create_task(extract_one(document)) for document in documents]
        try:
            for document, result in zip(documents, tasks, strict=True):
                with spinner(f"extracting {document.name}"):
                    outcome = await result
                emit(document, outcome)
        finally:
            for unfinished in tasks:
                unfinished.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


class _Writer:
    """Writes results to standard output or a file, notes to standard error; `end` is the exit code so far."""

    def __init__(self, command: ExtractCommand, found: Sequence[Document | Unreadable]) -> None:
        self.end = Exit.OK
        self._command = command
        self._many = len(found) > 1
        self._contract_printed = False
        self._unwritten = deque(found)
        self._cleanup = ExitStack()
        self._file: TextIO | None = None

    def __enter__(self) -> Self:
        if self._command.output is not None:
            self._file = self._cleanup.enter_context(replacing(self._command.output))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._cleanup.__exit__(kind, error, trace)

    def skip(self) -> None:
        """Write the errors of unreadable documents up to the next readable one."""
        while self._unwritten and isinstance(document := self._unwritten[0], Unreadable):
            self._unwritten.popleft()
            self._fail(document.name, document.error)

    def write(self, document: Document, outcome: Outcome) -> None:
        """Write the outcome of the next document. Raises `CliError` for a failure that all documents would share."""
        self.skip()
        self._write(document, outcome)
        self._unwritten.popleft()
        self.skip()

    def _write(self, document: Document, outcome: Outcome) -> None:
        if isinstance(outcome, IntaglioError):
            found = cli_error(outcome)
            assert found is not None, "every error of the SDK has a CliError"
            if found.exit is not Exit.FAILED:
                raise found
            self._fail(document.name, found)
            return
        self._print_contract(outcome.contract)
        if self._command.answer:
            self._line(_answer_line(document.name, outcome.raw) if self._many else outcome.raw)
        elif self._many:
            line: dict[str, Any] = {"document": document.name, "data": outcome.data}
            if any(outcome.contract.notes()):
                line["contract"] = outcome.raw["contract"]
            if outcome.warnings:
                line["warnings"] = [warning.model_dump() for warning in outcome.warnings]
            if outcome.fields:
                line["fields"] = outcome.raw["fields"]
            self._line(line)
        elif self._file is not None:
            text = compact(outcome.data) if self._command.as_json else pretty(outcome.data)
            self._file.write(text + "\n")
        else:
            write_json(outcome.data, raw=self._command.as_json)
        if outcome.fields and not (self._many or self._command.answer):
            errors().print(field_table(outcome.fields, document.text))
        for unread in outcome.document.notes if outcome.document else ():
            pages = f" (pages {', '.join(map(str, unread.pages))})" if unread.pages else ""
            note = f"{document.name}: {unread.kind}: {unread.message}{pages}"
            errors().print(note, style="yellow", markup=False)
        for warning in outcome.warnings:
            pointer, hint = warning.pointer or "/", f"; {warning.hint}" if warning.hint else ""
            note = f"{document.name}: {pointer} {warning.kind}: {warning.message}{hint}"
            errors().print(note, style="yellow", markup=False)
        errors().print(f"{document.name}: {summary(outcome)}", style="dim")

    def _print_contract(self, contract: Contract) -> None:
        """Print once which keywords of the schema are not enforced; it is the same for every document."""
        if not self._contract_printed:
            for note in contract.notes():
                errors().print(f"{self._command.schema}: {note}", style="yellow")
        self._contract_printed = True

    def _fail(self, name: str, found: CliError) -> None:
        self.end = Exit.FAILED
        show(found, name)
        if self._many:
            self._line({"document": name, "error": found.document()})

    def _line(self, value: Mapping[str, Any]) -> None:
        target = self._file or sys.stdout
        target.write(compact(value) + "\n")
        target.flush()


def _answer_line(name: str, answer: Mapping[str, Any]) -> dict[str, Any]:
    """A whole answer as one of several lines: `document` is the name as typed, `file` what was read of a file."""
    others = {key: value for key, value in answer.items() if key != "document"}
    read = answer.get("document")
    return {"document": name, **others, **({} if read is None else {"file": read})}


def summary(result: Extraction[Any]) -> str:
    """Validity, tokens and time of one result on one line."""
    usage, timings = result.usage, result.timings
    work = timings.prefill_ms + timings.decode_ms
    return (
        f"{'valid' if result.valid else 'INVALID'} · "
        f"{usage.prompt_tokens} tokens in, {usage.output_tokens} out · {work:.0f} ms of model work"
        f"{' · cut short to fit the budget: raise --max-tokens' if usage.budget_forced else ''}"
    )
