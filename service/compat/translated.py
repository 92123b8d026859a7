"""An answer in another protocol, translated from the chunks or the body of an OpenAI answer.

Does: decode chunks, leave the counting and reading of parts to the form that wrote them. Does not: know the other
protocol: a `Translation` does.
"""

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import Any, Final, Protocol

import msgspec

from ..generation.generation_events import GenerationEvent
from ..generation.prepared_call import AnswerForm, LoadedModel, PreparedCall

_HEAD: Final = b"data: "
_DONE: Final = b"data: [DONE]\n\n"


def without_limit(call: PreparedCall, model: LoadedModel) -> PreparedCall:
    """The call with a budget of all tokens that the prompt leaves in the context."""
    left = model.info.most_tokens - max(map(len, call.spec.prompts))
    sampling = replace(call.spec.sampling, max_tokens=left)
    return replace(call, spec=replace(call.spec, sampling=sampling))


class Translation(Protocol):
    """The state of one answer's translation."""

    def observe(self, event: GenerationEvent) -> None:
        """Take what the OpenAI answer does not tell from an event, before its chunk comes."""
        ...

    def chunk(self, chunk: dict[str, Any]) -> Iterable[bytes]:
        """The lines or events for one chunk of an OpenAI stream. The last chunk has the usage and no choices."""
        ...

    def whole(self, body: dict[str, Any]) -> bytes:
        """The body for the body of an OpenAI answer."""
        ...


@dataclass(frozen=True, slots=True)
class TranslatedForm:
    """Writes answers of the form `inner` in another protocol."""

    inner: AnswerForm
    translation: Translation

    async def stream(
        self, events: AsyncGenerator[GenerationEvent, None]
    ) -> AsyncGenerator[bytes, None]:
        """The translated chunks."""
        async with aclosing(self.inner.stream(self._observed(events))) as chunks:
            async for chunk in chunks:
                if chunk != _DONE:
                    decoded = msgspec.json.decode(chunk.removeprefix(_HEAD))
                    for piece in self.translation.chunk(decoded):
                        yield piece

    async def whole(self, events: AsyncGenerator[GenerationEvent, None]) -> bytes:
        """The translated body."""
        body = await self.inner.whole(self._observed(events))
        return self.translation.whole(msgspec.json.decode(body))

    async def _observed(
        self, events: AsyncGenerator[GenerationEvent, None]
    ) -> AsyncGenerator[GenerationEvent, None]:
        """The events, each shown to the translation first."""
        async with aclosing(events):
            async for event in events:
                self.translation.observe(event)
                yield event
