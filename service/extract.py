"""One extraction, from a schema and a text to a checked result. HTTP and the offline `LLM` share every line of it.

Does: before the engine, find the schema, write and count the prompt, settle the budget; after it, read the
output, check it against the schema by itself, and make a result. Does not: generate.
"""

import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self
from uuid import uuid4

from ..engine.api import (
    ChatTemplate,
    Delta,
    Detokenizer,
    EngineInfo,
    EngineStopped,
    Failure,
    Finish,
    OutputLimits,
    Request,
    Tokenizer,
    TooLong,
)
from ..engine.api import Usage as EngineUsage
from ..grammar.api import Constraint, InvalidJson, Verdict, Vocabulary, parse_json
from ..schemas import catalogue
from ..schemas.contract import Contract
from ..schemas.problem import Detail
from ..schemas.wire import (
    AnswerWarning,
    ExtractOptions,
    ExtractRequest,
    ExtractResult,
    Timings,
    Usage,
)
from .budget import room
from .contract import contract_of, demand_known
from .cuts import cut_warnings
from .errors import (
    DeadlineExceeded,
    Incomplete,
    InvalidBody,
    InvalidOutput,
    UnknownModel,
    UnknownSchema,
    failed,
)
from .nulls import null_warnings, nullable
from .prompt import BRIEF, extraction_messages
from .translate import extraction_constraint, sampling

MOST_OUTPUT_DEPTH = 512

# Anything but white space, control and format characters, fillers and the mark of bytes that were lost.
_READABLE = re.compile(
    r"[^\s\x00-\x1f\x7f-\xa0\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffd\U000e0000-\U000e0fff]"
)


@dataclass(frozen=True, slots=True)
class TextModel:
    """The half of a model that turns text into tokens and back. It needs no weights."""

    tokenizer: Tokenizer
    chat: ChatTemplate
    vocabulary: Vocabulary

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Read tokenizer and chat template of a checkpoint.

        Raises:
            ModelError: one of them is missing or cannot be used.
        """
        tokenizer = Tokenizer.load(folder)
        return cls(tokenizer, ChatTemplate.load(folder, tokenizer), tokenizer.vocabulary())

    def detokenizer(self, stop: tuple[str, ...] = ()) -> Detokenizer:
        """What turns the tokens of one output into text, up to a stop string."""
        return Detokenizer(self.vocabulary, stop)

    def text(self, tokens: Sequence[int]) -> str:
        """The text of a whole output."""
        detokenizer = self.detokenizer()
        return detokenizer.push(tokens) + detokenizer.finish()


@dataclass(frozen=True, slots=True)
class Asked:
    """An extraction that was understood. What its constraint demands is not known yet: that is examined elsewhere.

    `strict` is the schema that was asked for, where `schema`, which the answer has to meet, takes null beside it.
    """

    body: ExtractRequest
    schema: Mapping[str, Any] | bool
    constraint: Constraint
    began: float
    strict: Mapping[str, Any] | bool | None = None


@dataclass(frozen=True, slots=True)
class Prepared:
    """An extraction that is ready for the engine; `strict` as in `Asked`."""

    request: Request
    schema: Mapping[str, Any] | bool
    contract: Contract
    began: float
    strict: Mapping[str, Any] | bool | None = None


@dataclass(slots=True)
class Output:
    """What the engine has said of one request so far. `first_token_s` is the time from the start to the first token."""

    began: float = field(default_factory=time.perf_counter)
    tokens: list[int] = field(default_factory=list)
    first_token_s: float | None = None
    finish: Finish | None = None
    usage: EngineUsage | None = None
    error: Failure | None = None

    def add(self, delta: Delta) -> None:
        """Take the next delta of the request."""
        if delta.tokens and self.first_token_s is None:
            self.first_token_s = time.perf_counter() - self.began
        self.tokens.extend(delta.tokens)
        self.finish, self.usage, self.error = delta.finish, delta.usage, delta.error


class Extractor:
    """Prepares and concludes extractions for one loaded model. May be shared by threads."""

    def __init__(self, text: TextModel, info: EngineInfo) -> None:
        self._text = text
        self._info = info
        # The last token of an output is picked and never computed, so it needs no place in the cache.
        self._room = min(info.context_length, info.blocks * info.block_size + 1)

    @property
    def text(self) -> TextModel:
        """Tokenizer and template of the model."""
        return self._text

    def ask(self, body: ExtractRequest) -> Asked:
        """What can be refused without a look into the schema.

        Raises:
            InvalidBody: there is nothing to read in the text.
            UnknownModel, UnknownSchema: a name is not known.
        """
        began = time.perf_counter()
        if _READABLE.search(body.text) is None:
            raise InvalidBody(
                "text has no readable characters",
                param="text",
                hint="it holds nothing but white space or control characters: is it the right document?",
                details=(Detail(pointer="/text", reason="has no readable characters"),),
            )
        if body.model is not None and body.model != self._info.model:
            raise UnknownModel(
                f"no model {body.model!r} is loaded",
                param="model",
                hint=f"the model here is {self._info.model!r}; or leave the field out",
                details=(Detail(pointer="/model", reason="not loaded"),),
            )
        schema = find_schema(body.schema_)
        strict = None
        if body.options.not_stated == "null":
            schema, strict = nullable(schema), schema
        return Asked(body, schema, extraction_constraint(schema, body.options), began, strict)

    def prepare(self, asked: Asked, verdict: Verdict) -> Prepared:
        """What else can be refused before the engine is asked; `verdict` is that on the constraint.

        Raises:
            GrammarError: the constraint cannot be used, or has unknown keywords where the request wants none.
            TooLong: prompt and budget do not fit.
        """
        if verdict.error is not None:
            raise verdict.error
        body, schema = asked.body, asked.schema
        contract = contract_of(verdict.coverage)
        if body.options.strict_schema:
            demand_known(contract)
        prompt = self._prompt(schema if isinstance(schema, dict) else {}, body)
        most = self._budget(len(prompt), body.options.max_tokens)
        request = Request(
            id=uuid4().hex,
            prompt=prompt,
            sampling=sampling(body.options, most),
            constraint=asked.constraint,
            limits=OutputLimits(self._room_for(asked)),
            priority=body.options.priority,
            deadline=body.options.deadline_s,
        )
        return Prepared(request, schema, contract, asked.began, asked.strict)

    def conclude(self, prepared: Prepared, output: Output) -> ExtractResult:
        """The result of a finished output.

        Raises:
            Incomplete, DeadlineExceeded, InvalidOutput, EngineStopped: there is none; nothing of the output is told.
            GrammarError, EngineError, GenerationFailed: what the engine's failure stands for.
        """
        # It takes most of a second to load, for which nobody should wait who only starts a server.
        from .validate import check

        usage = self._complete(prepared, output)
        text = self._text.text(output.tokens)
        try:
            data = parse_json(text, depth=MOST_OUTPUT_DEPTH)
            digits = parse_json(text, depth=MOST_OUTPUT_DEPTH, exact=True)
        except InvalidJson:
            raise InvalidOutput(
                "the output is not JSON",
                hint="this is a defect of the service: please report it with the schema",
            ) from None
        check(digits, prepared.schema)  # as written: floats would lose what multiples are told by
        return ExtractResult(
            id=f"ext_{prepared.request.id}",
            model=self._info.model,
            data=data,
            usage=Usage(
                prompt_tokens=usage.prompt_tokens,
                output_tokens=usage.output_tokens,
                total_tokens=usage.prompt_tokens + usage.output_tokens,
                forced_tokens=usage.forced_tokens,
                budget_forced=usage.budget_forced,
                budget=usage.budget,
                budget_from=_set_by(prepared.request, usage.budget),
            ),
            timings=Timings(
                queue_ms=_ms(usage.queue_s),
                prefill_ms=_ms(usage.prefill_s),
                decode_ms=_ms(usage.decode_s),
                total_ms=_ms(time.perf_counter() - prepared.began),
            ),
            contract=prepared.contract,
            warnings=self._warnings(prepared, output, digits),
        )

    def _warnings(
        self, prepared: Prepared, output: Output, digits: Any
    ) -> tuple[AnswerWarning, ...]:
        """What the validity of an answer, with its numbers as written, does not tell."""
        texts, cuts = self._text.vocabulary.tokens, output.usage.cuts if output.usage else ()
        unstated = () if prepared.strict is None else null_warnings(digits, prepared.strict)
        return (*cut_warnings(output.tokens, texts, cuts), *unstated)

    def _room_for(self, asked: Asked) -> int | None:
        """Tokens beyond the shortest answer, where the caller has not said how many it may take."""
        if asked.body.options.max_tokens is not None:
            return None
        return room(asked.schema, len(self._text.tokenizer.encode(asked.body.text)))

    def _budget(self, prompt: int, wanted: int | None) -> int:
        """Tokens the output may take at most: as asked, or all that is left."""
        left = self._room - prompt
        if wanted is not None and wanted > left:
            raise TooLong(
                f"{prompt} prompt tokens and max_tokens {wanted} make {prompt + wanted}; "
                f"the model takes {self._room}",
                where="options.max_tokens",
                hint=f"set max_tokens to {left} at most, or shorten the text",
            )
        return wanted or left

    def _prompt(self, schema: dict[str, Any], body: ExtractRequest) -> tuple[int, ...]:
        """The tokens of a prompt, with as much of the schema as leaves room for the answer.

        Raises:
            TooLong: there is no room in any case.
        """
        usual = extraction_messages(schema, body.text)
        prompt = self._text.chat.encode(usual.messages, usual.variables)
        over = len(prompt) + (body.options.max_tokens or 1) - self._room
        if over <= 0:
            return prompt
        brief = extraction_messages(schema, body.text, BRIEF)
        shapes = usual.variables["schema"], brief.variables["schema"]
        most_saved = len(shapes[0].encode()) - len(shapes[1].encode())  # tokens; none is empty
        if most_saved >= over:
            prompt = self._text.chat.encode(brief.messages, brief.variables)
        if len(prompt) >= self._room:
            raise self._too_long(len(prompt), shapes[1] if most_saved >= over else shapes[0])
        return prompt

    def _too_long(self, prompt: int, outline: str) -> TooLong:
        """Why a prompt leaves no room for an answer: the part that takes more is the one to shorten."""
        shape = len(self._text.tokenizer.encode(outline))
        found = (
            f"the schema makes {shape} tokens and the text {prompt - shape}; "
            f"the model takes {self._room} with its answer"
        )
        over = prompt - self._room + 1
        if prompt - shape >= shape:
            hint = f"shorten the text by at least {over} tokens, or split it"
            return TooLong(found, where="text", hint=hint)
        hint = (
            f"shorten the schema by at least {over} tokens, by fewer properties or shorter descriptions; "
            "or ask for its parts one after the other"
        )
        return TooLong(found, where="schema", hint=hint)

    def _complete(self, prepared: Prepared, output: Output) -> EngineUsage:
        """The usage of an output that ended by itself; any other end is an error."""
        budget = prepared.request.sampling.max_tokens
        if output.finish is Finish.ERROR and output.error is not None:
            raise failed(output.error)
        if output.finish is Finish.LENGTH:
            most = self._room - len(prepared.request.prompt)
            raise Incomplete(
                f"the answer was not complete after {budget} tokens",
                param="options.max_tokens",
                hint=f"raise max_tokens (up to {most} for this text)"
                if budget < most
                else "shorten the text, or bound the schema's strings and arrays",
            )
        if output.finish is Finish.DEADLINE:
            raise DeadlineExceeded(
                f"the answer was not complete after {prepared.request.deadline:g} s",
                param="options.deadline_s",
                hint="raise deadline_s, or try again when the service is less busy",
            )
        if output.finish is not Finish.STOP or output.usage is None:
            raise EngineStopped("the engine gave the request up", hint="try again")
        return output.usage


def catalogue_constraints() -> Iterator[Constraint]:
    """What extractions with the schemas of the catalogue ask for, as a rule."""
    for name in catalogue.names():
        yield extraction_constraint(catalogue.get(name).schema, ExtractOptions())


def find_schema(given: dict[str, Any] | bool | str) -> dict[str, Any] | bool:
    """The schema, or the one of that name in the catalogue.

    Raises:
        UnknownSchema: there is none.
    """
    if not isinstance(given, str):
        return given
    try:
        return catalogue.get(given).schema
    except catalogue.UnknownSchema as unknown:
        known = unknown.matches or catalogue.names()
        raise UnknownSchema(
            f"the catalogue has no schema {given[:80]!r}",
            param="schema",
            hint=f"{'did you mean' if unknown.matches else 'there are'} {', '.join(known)}",
            details=(Detail(pointer="/schema", reason="no schema of that name"),),
        ) from None


def _set_by(request: Request, budget: int) -> Literal["max_tokens", "default", "context"]:
    """Who set the budget of an answer."""
    if request.limits is None or request.limits.room is None:
        return "max_tokens"
    return "default" if budget < request.sampling.max_tokens else "context"


def _ms(seconds: float) -> float:
    return round(seconds * 1000, 3)
