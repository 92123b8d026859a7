"""The offline engine for Python programs: `LLM("path/to/model").extract(schema, text)`.

Does: offer the extractions of `Client`, with the same results and errors, over an engine in this process; and plain
generation. Does not: serve other processes or use the network.
"""

import threading
from collections.abc import Generator, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import TracebackType, UnionType
from typing import Any, Literal, Self, TypeVar, Unpack, overload
from uuid import uuid4

from intaglio.engine.api import (
    BlockReport,
    EngineConfig,
    EngineInfo,
    Finish,
    LocalEngine,
    Request,
    SamplingParams,
    SchemaGate,
    TokenLogprob,
    Usage,
    model_folder,
)
from intaglio.grammar.api import Constraint
from intaglio.schemas.extraction.contract import Contract
from pydantic import TypeAdapter

from ..adapters.adapter_registry import AdapterRegistry
from ..client.errors import IntaglioError
from ..client.models import Extraction, FileOptions, GuidanceOptions
from ..documents.seen_image import SeenText
from ..extraction.enforcement import contract_of
from ..extraction.engine_output import EngineOutput
from ..extraction.extract import Extractor
from ..extraction.failures import request_error
from ..extraction.text_model import TextModel
from ..http.sdk_errors import sdk_errors
from .load_errors import sdk_load_errors
from .offline_documents import OfflineDocuments
from .running_items import Items, RunningItems

T = TypeVar("T")
K = TypeVar("K")


@dataclass(frozen=True, slots=True)
class Completion:
    """One generated text. `tokens` are its ids without the end token; `logprobs` are present if requested.

    `contract` lists the enforced keywords if the constraint is a JSON Schema.
    """

    text: str
    tokens: tuple[int, ...]
    finish: Finish
    usage: Usage
    logprobs: tuple[TokenLogprob, ...] = ()
    contract: Contract = field(default_factory=Contract)


class LLM:
    """A model loaded in this process. Use it as a context manager, or call `close`. Threads take turns.

    `model` is the folder of a checkpoint; None selects the included small model. `calibration` is a file that
    `intaglio calibrate` wrote for this model; by default `calibration.json` in the folder, if there is one. `settings`
    are those of `intaglio.engine.config`, such as `max_context` or `num_blocks`. `adapters` are folders of LoRA
    adapters by name, which the option `adapter` of a call chooses.

    Raises:
        ModelError: the checkpoint is unusable.
        ConfigError: a setting is unknown or invalid. Both are errors of the SDK, `IntaglioError`.
    """

    def __init__(
        self,
        model: str | Path | None = None,
        *,
        calibration: str | Path | None = None,
        adapters: Mapping[str, str | Path] | None = None,
        **settings: object,
    ) -> None:
        named = {name: str(path) for name, path in (adapters or {}).items()}
        if named:
            settings = {"max_adapters": len(named), **settings}
        with sdk_load_errors():
            folder = model_folder(model)
            config = EngineConfig.load({**settings, "model": str(folder)})
            text = TextModel.load(folder, None if calibration is None else Path(calibration))
            self._engine = LocalEngine.build(config)
        self._schema_gate = SchemaGate.open(
            config.grammar, text.vocabulary, text.tokenizer.canonical, server=False
        )
        registry = AdapterRegistry(self._engine.info)
        try:
            with sdk_errors():
                registry.fix(named)
        except IntaglioError:
            self._engine.close()
            raise
        self._adapters = registry
        self._extractor = Extractor(text, self._engine.info, registry.find)
        self._documents = OfflineDocuments(self._engine.info)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def info(self) -> EngineInfo:
        """Facts about the loaded model."""
        return self._engine.info

    @property
    def reads_images(self) -> bool:
        """Whether the model reads images."""
        return self.info.images is not None

    def seen(
        self, text: str, images: Sequence[bytes], document: tuple[str, bytes] | None
    ) -> Future[SeenText]:
        """Images before a text, or the document of a name and bytes, as an item of `extract_stream` takes them."""
        return self._documents.seen(text, images, document)

    def computed_by(self, adapter: str | None = None) -> str:
        """The name of the model; with an adapter also its name and a digest of its files.

        Raises:
            NotFound: there is no such adapter.
        """
        with sdk_errors():
            return self._adapters.computed_by(adapter)

    def check(self) -> BlockReport:
        """Check the invariants of the engine and count its blocks."""
        return self._engine.check()

    def close(self) -> None:
        """Unload the model; safe to call twice."""
        self._documents.close()
        self._schema_gate.close()
        self._engine.close()

    def generate(
        self,
        prompts: str | Iterable[str],
        sampling: SamplingParams | None = None,
        *,
        constraint: Constraint | None = None,
        adapter: str | None = None,
    ) -> list[Completion]:
        """Continue each prompt, all in one batch; results are in the order of the prompts.

        Prompts are used as they are, without a chat template. The text ends before a stop string.

        Raises:
            TypeError: a prompt is not a str.
            IntaglioError: a request was refused or failed; the others were aborted.
        """
        texts = [prompts] if isinstance(prompts, str) else list(prompts)
        mistyped = next((text for text in texts if not isinstance(text, str)), None)
        if mistyped is not None:
            raise TypeError(f"prompts must be a str or several, not of {type(mistyped).__name__}")
        with sdk_errors():
            chosen = None if adapter is None else self._adapters.require(adapter, "adapter")
        sampling = sampling or SamplingParams()
        contract = Contract()
        if constraint is not None:
            with sdk_errors():
                contract = contract_of(self._schema_gate.admit(constraint).coverage)
        encode = self._extractor.text.tokenizer.encode
        requests = [
            Request(
                id=uuid4().hex,
                prompt=encode(text),
                sampling=sampling,
                constraint=constraint,
                adapter=chosen,
            )
            for text in texts
        ]
        streams = {request.id: _Text(self._extractor.text, sampling.stop) for request in requests}
        with sdk_errors(), closing(self._engine.generate(requests)) as deltas:
            for delta in deltas:
                stream = streams[delta.request_id]
                stream.output.add(delta)
                stream.push(delta.tokens)
                stream.logprobs.extend(delta.logprobs)
                if stream.stopped and delta.finish is None:
                    self._engine.abort(delta.request_id)
            return [streams[request.id].completion(contract) for request in requests]

    @overload
    def extract(
        self,
        schema: type[T] | TypeAdapter[T],
        text: str | None = None,
        **options: Unpack[FileOptions],
    ) -> Extraction[T]: ...

    @overload
    def extract(
        self,
        schema: Mapping[str, Any] | bool | str | UnionType,
        text: str | None = None,
        **options: Unpack[FileOptions],
    ) -> Extraction[Any]: ...

    def extract(
        self, schema: Any, text: str | None = None, **options: Unpack[FileOptions]
    ) -> Extraction[Any]:
        """Extract the data that `schema` describes from `text`, from `images`, or from the document in `file`; like
        `Client.extract`, with the same errors.
        """
        given = self._documents.source(text, options)
        ((_, result),) = self.extract_stream([(None, schema, given.content)], **given.options)
        if isinstance(result, IntaglioError):
            raise result
        return given.in_extraction(result)

    @overload
    def extract_many(
        self,
        schema: type[T] | TypeAdapter[T],
        texts: Iterable[str],
        *,
        return_errors: Literal[False] = False,
        **options: Unpack[GuidanceOptions],
    ) -> list[Extraction[T]]: ...

    @overload
    def extract_many(
        self,
        schema: Mapping[str, Any] | bool | str | UnionType,
        texts: Iterable[str],
        *,
        return_errors: Literal[False] = False,
        **options: Unpack[GuidanceOptions],
    ) -> list[Extraction[Any]]: ...

    @overload
    def extract_many(
        self,
        schema: type[T] | TypeAdapter[T],
        texts: Iterable[str],
        *,
        return_errors: Literal[True],
        **options: Unpack[GuidanceOptions],
    ) -> list[Extraction[T] | IntaglioError]: ...

    @overload
    def extract_many(
        self,
        schema: Mapping[str, Any] | bool | str | UnionType,
        texts: Iterable[str],
        *,
        return_errors: Literal[True],
        **options: Unpack[GuidanceOptions],
    ) -> list[Extraction[Any] | IntaglioError]: ...

    def extract_many(
        self,
        schema: Any,
        texts: Iterable[str],
        *,
        return_errors: bool = False,
        **options: Unpack[GuidanceOptions],
    ) -> list[Any]:
        """Run `extract` for each of `texts`, all in one batch; results are in the order of the texts.

        With `return_errors`, the error of a failed text takes the place of its result; otherwise the first error is
        raised and the rest is aborted.

        Raises:
            TypeError: `texts` is a single text or not a collection of texts.
            IntaglioError: the first failure.
        """
        if isinstance(texts, str | bytes | bytearray | Mapping):
            raise TypeError(
                f"texts must be several texts, such as a list, not a {type(texts).__name__}: "
                "for one document call extract(), or give [text]"
            )
        items = ((index, schema, text) for index, text in enumerate(texts))
        results: dict[int, Any] = {}
        for index, outcome in self.extract_stream(items, **options):
            if isinstance(outcome, IntaglioError) and not return_errors:
                raise outcome
            results[index] = outcome
        return [results[index] for index in range(len(results))]

    def extract_stream(
        self,
        items: Items[K],
        *,
        at_once: int = 512,
        **options: Unpack[GuidanceOptions],
    ) -> Generator[tuple[K, Extraction[Any] | IntaglioError], None, None]:
        """Run `extract` for any number of (key, schema, content) items, of texts or what `seen` gives; yields (key,
        result or error) in order of completion.

        Items are drawn as others end, to keep `at_once` in the engine. A None item means that no other is available
        now; the stream ends if the engine is empty then. Closing the stream early aborts the rest.
        """
        running = RunningItems[K](self._extractor, self._schema_gate, self._engine.abort, at_once)
        requests = running.requests(items, options)
        with sdk_errors(), closing(self._engine.generate(requests, at_once=at_once)) as deltas:
            for delta in deltas:
                yield from running.refused()
                outcome = running.take(delta)
                if outcome is not None:
                    yield outcome
        yield from running.refused()


class _Text:
    """The growing text of one prompt."""

    def __init__(self, model: TextModel, stop: tuple[str, ...]) -> None:
        self.output = EngineOutput()
        self.logprobs: list[TokenLogprob] = []
        self._text = ""
        self._detokenizer = model.detokenizer(stop)

    @property
    def stopped(self) -> bool:
        return self._detokenizer.stopped is not None

    def push(self, tokens: tuple[int, ...]) -> None:
        self._text += self._detokenizer.push(tokens)

    def completion(self, contract: Contract) -> Completion:
        output = self.output
        if output.error is not None:
            raise request_error(output.error, "max_tokens")
        assert output.finish is not None
        assert output.usage is not None
        text = self._text + self._detokenizer.finish()
        finish = Finish.STOP if self.stopped else output.finish
        tokens, logprobs = tuple(output.tokens), tuple(self.logprobs)
        return Completion(text, tokens, finish, output.usage, logprobs, contract)


_LOADING = threading.Lock()


def _embedded() -> LLM:
    with _LOADING:  # without the lock, threads that start together would each load the model
        return _load_embedded()


@cache
def _load_embedded() -> LLM:
    return LLM()


@overload
def extract(
    schema: type[T] | TypeAdapter[T], text: str, **options: Unpack[GuidanceOptions]
) -> Extraction[T]: ...


@overload
def extract(
    schema: Mapping[str, Any] | bool | str | UnionType,
    text: str,
    **options: Unpack[GuidanceOptions],
) -> Extraction[Any]: ...


def extract(schema: Any, text: str, **options: Unpack[GuidanceOptions]) -> Extraction[Any]:
    """`LLM().extract` with the included model, which is loaded on the first call and cached."""
    return _embedded().extract(schema, text, **options)
