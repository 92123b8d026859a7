"""One extraction, from a schema and a text to a validated result. HTTP and the offline `LLM` share all of this code.

Does: before generation, resolve the schema, build and count the prompt, set the budget; after it, parse the output,
validate it independently and build the result. Does not: generate.
"""

import re
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal
from uuid import uuid4

from intaglio.engine.api import (
    AdapterRef,
    EngineInfo,
    OutputLimits,
    Request,
)
from intaglio.engine.api import Usage as EngineUsage
from intaglio.grammar.api import Constraint, Verdict
from intaglio.schemas import catalogue
from intaglio.schemas.extraction.contract import Contract
from intaglio.schemas.extraction.grounding import FieldReport
from intaglio.schemas.extraction.images import ImageReading
from intaglio.schemas.extraction.requests import ExtractOptions, ExtractRequest
from intaglio.schemas.extraction.results import AnswerWarning, ExtractResult, Timings, Usage
from intaglio.schemas.json_pointer import pointer_of
from intaglio.schemas.problem import Detail

from ..adapters.adapter_registry import FindAdapter, no_adapter
from ..calibration.calibration_file import calibrated_fields
from ..documents.seen_image import SeenImage
from ..errors import (
    InvalidBody,
    UnknownModel,
    UnknownSchema,
)
from ..grounding.agreement import agreeing_fields
from ..grounding.field_reports import NO_REPORT, ReportRequest, field_reports
from ..grounding.leaf_confidence import ScoredOutput
from ..grounding.verbatim_reports import verbatim_reports
from .answer_value import checked_value, output_value
from .draft_text import FREE_TOKENS, require_followed
from .early_endings import cut_warnings
from .enforcement import contract_of, require_known_keywords
from .engine_output import EngineOutput, require_complete
from .examples import check_examples
from .fitting import PromptFitter
from .nulls import null_warnings, nullable
from .prompt import PromptParts, parts_of
from .prompt_images import require_no_verbatim, with_images
from .text_model import TextModel
from .translate import extraction_constraint, sampling
from .utc_offsets import offset_warnings
from .verbatim_schema import verbatim_schema

# Any character except white space, control and format characters, fillers and the replacement character.
_READABLE = re.compile(
    r"[^\s\x00-\x1f\x7f-\xa0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffd\U000e0000-\U000e0fff]"
)

SchemaValue = dict[str, Any] | bool
SchemaSource = SchemaValue | str
"""A schema, or the name of one."""


@dataclass(frozen=True, slots=True)
class ParsedExtraction:
    """A parsed and well-formed request. A separate process examines its schema; `contract` is the result.

    `strict` is the schema as requested if `schema`, which the answer must meet, also allows null.
    """

    body: ExtractRequest
    parts: PromptParts
    schema: Mapping[str, Any] | bool
    constraint: Constraint
    started: float
    strict: Mapping[str, Any] | bool | None = None
    contract: Contract | None = None
    adapter: AdapterRef | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """An extraction that is ready for the engine; `strict` as in `ParsedExtraction`, `document` its text, `images` what
    the model sees besides it.

    `free_tokens` is the budget of a free reading that is to come before `request`, `free_usage` the count of one that
    has come. `deadline_s` is that of all readings, from `started`.
    """

    request: Request
    schema: Mapping[str, Any] | bool
    contract: Contract
    started: float
    strict: Mapping[str, Any] | bool | None = None
    report: ReportRequest = NO_REPORT
    document: str = ""
    free_tokens: int | None = None
    free_usage: EngineUsage | None = None
    deadline_s: float | None = None
    images: tuple[ImageReading, ...] = ()

    @property
    def source(self) -> str | None:
        """The document that verbatim strings must occur in; None if the schema has none."""
        return None if self.request.constraint is None else self.request.constraint.document


class Extractor:
    """Prepares and finishes extractions for one loaded model. Safe to share between threads."""

    def __init__(
        self, text: TextModel, info: EngineInfo, adapters: FindAdapter = no_adapter
    ) -> None:
        """`adapters` finds the adapters that a request may name in place of the model."""
        self._text = text
        self._info = info
        self._adapters = adapters
        chat = text.chat.without_reasoning()
        self.fitter = PromptFitter(text.tokenizer, chat, info.most_tokens)

    @property
    def text(self) -> TextModel:
        """Tokenizer and chat template of the model."""
        return self._text

    def parse(
        self,
        body: ExtractRequest,
        find: Callable[[SchemaSource], SchemaValue] | None = None,
        images: tuple[SeenImage, ...] = (),
    ) -> ParsedExtraction:
        """Check everything in a request that does not depend on the contents of the schema.

        `find` resolves the names of schemas, by default those of the catalogue. `images` are those of the request or
        its document, decoded.

        Raises:
            InvalidBody: the text has no readable characters, the model reads no examples, or the engine follows no
                drafts.
            UnknownModel, UnknownSchema: the model or schema name is unknown.
        """
        started = time.perf_counter()
        parts = parts_of(body, images)
        if body.texts is None:
            self._check_document(parts)
        self._check_examples_readable(parts)
        if body.options.draft:
            require_followed(self._info, "options.draft")
        adapter = None
        if body.model is not None and body.model != self._info.model:
            adapter = self._adapters(body.model)
        if body.model not in (None, self._info.model) and adapter is None:
            raise UnknownModel(
                f"no model {body.model!r} is loaded",
                param="model",
                hint=f"the loaded model is {self._info.model!r}; or omit the field",
                details=(Detail(pointer="/model", reason="not loaded"),),
            )
        schema = (find or find_schema)(body.schema_)
        if body.options.grounding == "verbatim":
            schema = verbatim_schema(schema)
        strict = None
        if body.options.not_stated == "null":
            schema, strict = nullable(schema), schema
        constraint = extraction_constraint(schema, body.options)
        return ParsedExtraction(body, parts, schema, constraint, started, strict, adapter=adapter)

    def _check_document(self, parts: PromptParts) -> None:
        """Return if there is something to extract from.

        Raises:
            InvalidBody: the document has no readable characters.
        """
        if not parts.images and _READABLE.search(parts.document) is None:
            where = "/" + parts.part.replace(".", "/")
            raise InvalidBody(
                f"no readable characters in {parts.part}",
                param=parts.part,
                hint="it holds only white space or control characters: is it the right document?",
                details=(Detail(pointer=where, reason="no readable characters"),),
            )

    def _check_examples_readable(self, parts: PromptParts) -> None:
        if parts.examples and not self._text.chat.reads_messages:
            raise InvalidBody(
                f"the model {self._info.model!r} reads no examples",
                param="examples",
                hint="its prompt consists of a schema and a document; describe the properties of the schema instead",
                details=(Detail(pointer="/examples", reason="not read by this model"),),
            )

    def examined(self, parsed: ParsedExtraction, verdict: Verdict) -> ParsedExtraction:
        """`parsed` with its contract, once the shared parts of a request, schema and examples, are checked.

        Raises:
            GrammarError: the constraint is unusable, or has unknown keywords and the request forbids them.
            InvalidBody: the data of an example is not valid under the schema.
        """
        if verdict.error is not None:
            raise verdict.error
        contract = contract_of(verdict.coverage)
        if parsed.body.options.strict_schema:
            require_known_keywords(contract)
        check_examples(parsed.body.examples, parsed.schema)
        return replace(parsed, contract=contract)

    def prepare(self, parsed: ParsedExtraction) -> Prepared:
        """Build the engine's request for an examined extraction.

        Raises:
            InvalidBody: the text has no readable characters.
            TooLong: prompt and budget do not fit the context.
        """
        if parsed.contract is None:
            raise ValueError("the schema was not examined")
        self._check_document(parsed.parts)
        body, schema = parsed.body, parsed.schema
        prompt = self.fitter.encode(
            schema if isinstance(schema, dict) else {}, parsed.parts, body.options.max_tokens
        )
        room = self._default_room(parsed)
        constraint = parsed.constraint.about(parsed.parts.document)
        seen = with_images(prompt, parsed.parts.images, self._info.images, parsed.parts.part)
        require_no_verbatim(constraint, seen.images)
        request = self.engine_request(body.options, constraint, seen.tokens, room)
        request = replace(request, adapter=parsed.adapter, images=seen.images)
        report = ReportRequest.of(parsed.parts.document, body.options)
        options = body.options
        return Prepared(
            request,
            schema,
            parsed.contract,
            parsed.started,
            parsed.strict,
            report,
            parsed.parts.document,
            free_tokens=options.draft_max_tokens or FREE_TOKENS if options.draft else None,
            deadline_s=options.deadline_s,
            images=seen.readings,
        )

    def engine_request(
        self,
        options: ExtractOptions,
        constraint: Constraint,
        prompt: tuple[int, ...],
        room: int | None,
    ) -> Request:
        """The engine's request; `room` as in `OutputLimits`. Raises `TooLong` if the requested budget does not fit."""
        limit = self.fitter.budget(len(prompt), options.max_tokens)
        return Request(
            id=uuid4().hex,
            prompt=prompt,
            sampling=sampling(options, limit),
            constraint=constraint,
            limits=OutputLimits(room),
            priority=options.priority,
            deadline=options.deadline_s,
        )

    def finish_extraction(
        self, prepared: Prepared, output: EngineOutput, second: EngineOutput | None = None
    ) -> ExtractResult:
        """Validate a finished output and build the result; `second` is that of a second reading.

        Raises:
            Incomplete, RequestDeadlineExceeded, InvalidOutput, EngineStopped: there is no valid output.
            GrammarError, EngineError, GenerationFailed: the engine reported a failure.
        """
        usage = require_complete(prepared.request, output, self.fitter.capacity)
        text = self._text.text(output.tokens)
        data, digits = checked_value(text, prepared.schema, prepared.source)
        scored = ScoredOutput(output.logprobs, self._text.vocabulary.tokens, usage.cuts)
        found = _fields(prepared, digits, scored)
        fields = calibrated_fields(found, self._text.calibration, data, prepared.schema)
        free = prepared.free_usage
        both = [usage] if free is None else [free, usage]
        if second is not None:
            both.append(require_complete(prepared.request, second, self.fitter.capacity))
            again = output_value(self._text.text(second.tokens), exact=True)
            fields = agreeing_fields(fields, digits, again)
        return ExtractResult(
            id=f"ext_{prepared.request.id}",
            model=self._info.model
            if prepared.request.adapter is None
            else prepared.request.adapter.name,
            data=data,
            usage=Usage(
                prompt_tokens=sum(one.prompt_tokens for one in both),
                output_tokens=sum(one.output_tokens for one in both),
                total_tokens=sum(one.prompt_tokens + one.output_tokens for one in both),
                forced_tokens=sum(one.forced_tokens for one in both),
                budget_forced=usage.budget_forced,
                budget=usage.budget,
                budget_from=_budget_source(prepared.request, usage.budget),
                draft_tokens=0 if free is None else free.output_tokens,
                accepted_tokens=usage.accepted_tokens,
            ),
            timings=Timings(
                queue_ms=_ms(sum(one.queue_s for one in both)),
                prefill_ms=_ms(sum(one.prefill_s for one in both)),
                decode_ms=_ms(sum(one.decode_s for one in both)),
                total_ms=_ms(time.perf_counter() - prepared.started),
            ),
            contract=prepared.contract,
            warnings=self._warnings(prepared, output, digits),
            fields=fields,
            images=prepared.images,
        )

    def _warnings(
        self, prepared: Prepared, output: EngineOutput, digits: Any
    ) -> tuple[AnswerWarning, ...]:
        """The warnings of an answer: early ends, nulls and offsets. `digits` is the data with numbers as written."""
        texts, cuts = self._text.vocabulary.tokens, output.usage.cuts if output.usage else ()
        unstated = (
            ()
            if prepared.strict is None
            else null_warnings(digits, prepared.strict, prepared.source)
        )
        invented = offset_warnings(digits, prepared.schema, prepared.document)
        return (*cut_warnings(output.tokens, texts, cuts), *unstated, *invented)

    def _default_room(self, parsed: ParsedExtraction) -> int | None:
        """Tokens beyond the shortest answer if the request sets no `max_tokens`."""
        if parsed.body.options.max_tokens is not None:
            return None
        return self.fitter.default_room(parsed.schema, parsed.parts)


def _fields(prepared: Prepared, digits: Any, output: ScoredOutput) -> dict[str, FieldReport]:
    """The reports that the request asked for, with the places of verbatim strings."""
    from .validate import verbatim_values

    found = field_reports(prepared.report, digits, prepared.schema, output)
    if prepared.report.grounding == "off" or prepared.source is None:
        return found
    values = {pointer_of(place): text for place, text in verbatim_values(digits, prepared.schema)}
    return verbatim_reports(found, values, prepared.source)


def catalogue_constraints() -> Iterator[Constraint]:
    """The constraints of the catalogue's schemas with default options, to be compiled ahead."""
    for name in catalogue.names():
        yield extraction_constraint(catalogue.get(name).schema, ExtractOptions())


def find_schema(given: SchemaSource) -> SchemaValue:
    """The schema itself, or the catalogue schema of that name.

    Raises:
        UnknownSchema: the catalogue has no schema of that name.
    """
    if not isinstance(given, str):
        return given
    try:
        return catalogue.get(given).schema
    except catalogue.UnknownSchema as unknown:
        known = unknown.matches or catalogue.names()
        listed = f"{'did you mean' if unknown.matches else 'there are'} {', '.join(known)}"
        raise UnknownSchema(
            f"the catalogue has no schema {given[:80]!r}",
            param="schema",
            hint=catalogue.not_a_name(given) or listed,
            details=(Detail(pointer="/schema", reason="no schema of that name"),),
        ) from None


def _budget_source(request: Request, budget: int) -> Literal["max_tokens", "default", "context"]:
    """The origin of an answer's budget."""
    if request.limits is None or request.limits.room is None:
        return "max_tokens"
    return "default" if budget < request.sampling.max_tokens else "context"


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
