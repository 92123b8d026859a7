"""A generator of deltas that a test writes down, with a model whose tokens are the bytes."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import aclosing
from functools import cache
from itertools import pairwise

from intaglio.engine.api import (
    ChatTemplate,
    Delta,
    Failure,
    Finish,
    Request,
    Tokenizer,
    TokenLogprob,
    Usage,
)
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.generation.generate import generate
from intaglio.service.generation.generation_events import GenerationEvent
from intaglio.service.generation.generation_spec import GenerationSpec

from tests.support.tiny_checkpoint import byte_tokenizer

END = 257


@cache
def byte_model() -> TextModel:
    """A text model without weights: tokens 0 to 255 are the bytes."""
    tokenizer = Tokenizer(byte_tokenizer(), (END,))
    return TextModel(tokenizer, ChatTemplate(tokenizer), tokenizer.vocabulary())


Answer = Callable[[Request], Sequence[Delta]]


def answer(
    request: Request,
    text: str | bytes,
    cuts: Sequence[int] = (),
    finish: Finish = Finish.STOP,
    failure: Failure | None = None,
) -> list[Delta]:
    """Deltas that spell `text`, divided before each of `cuts`."""
    tokens = tuple(text.encode() if isinstance(text, str) else text)
    edges = [0, *sorted(cut % (len(tokens) + 1) for cut in cuts), len(tokens)]
    parts = [tokens[begin:end] for begin, end in pairwise(edges)]
    usage = Usage(len(request.prompt), len(tokens))
    asked = request.sampling.logprobs
    deltas = []
    for number, part in enumerate(parts):
        last = number == len(parts) - 1
        scores = [
            TokenLogprob(token, -token / 64, ((token, -0.5),) * (asked or 0)) for token in part
        ]
        deltas.append(
            Delta(
                request_id=request.id,
                tokens=part,
                logprobs=() if asked is None else tuple(scores),
                finish=finish if last else None,
                usage=usage if last else None,
                error=failure if last else None,
            )
        )
    return deltas


class WrittenBackend:
    """Answers each request with what `answer` returns for it, a delta a turn of the event loop."""

    def __init__(self, answer: Answer) -> None:
        self._answer = answer
        self.asked: list[Request] = []
        self.closed: list[str] = []
        self.delivered = 0

    async def generate(
        self, request: Request, *, whole: bool = False
    ) -> AsyncGenerator[Delta, None]:
        self.asked.append(request)
        try:
            for delta in self._answer(request):
                await asyncio.sleep(0)
                self.delivered += 1
                yield delta
        finally:
            self.closed.append(request.id)


async def inline(work: Callable[[], None]) -> None:
    """Runs work in the calling thread, instead of another one."""
    work()


async def collected(backend: WrittenBackend, spec: GenerationSpec) -> list[GenerationEvent]:
    """All events of a generation."""
    async with aclosing(generate(backend, byte_model(), spec, inline)) as events:
        return [event async for event in events]
