"""Extraction from many texts by few calls. The synchronous form is generated from the asynchronous one.

Does: send texts in calls of a bounded size, several at a time, collect results as they come, send again what was lost.
Does not: order or count results (`streaming`).
"""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ._async_stream import read_events
from ._async_wire import AsyncWire
from ._parallel import gather_bounded
from .errors import IntaglioError
from .models import KEY_HEADER
from .sendable import refused_text
from .streaming import ManyResults

TEXTS_OF_A_CALL: Final = 64


class AsyncManyTexts:
    """One extraction from many texts. `body` is that of the request without its texts."""

    def __init__(
        self, wire: AsyncWire, body: Mapping[str, Any], results: ManyResults[Any], key: str | None
    ) -> None:
        self._wire = wire
        self._body = body
        self._results = results
        self._key = key

    async def run(self, texts: Sequence[str], at_once: int) -> None:
        """Extract from all texts, with about `at_once` in hand. Failures are among the results."""
        sendable = []
        for number, text in enumerate(texts):
            refusal = refused_text(text)
            if refusal is None:
                sendable.append(number)
            else:
                self._results.give_up([number], refusal)
        calls = [
            sendable[start : start + TEXTS_OF_A_CALL]
            for start in range(0, len(sendable), TEXTS_OF_A_CALL)
        ]

        async def call(numbers: Sequence[int]) -> None:
            await self._call(texts, numbers)

        await gather_bounded(call, calls, max(1, at_once // TEXTS_OF_A_CALL))

    async def _call(self, texts: Sequence[str], numbers: Sequence[int]) -> None:
        """Extract from the texts of these numbers, in one call and further ones for unfinished texts."""
        tries = 0
        while numbers:
            failure = await self._try(texts, numbers, tries)
            numbers, error = self._results.unfinished(numbers, failure)
            if error is None:
                return
            tries += 1
            pause = self._wire.retries.pause(tries, error)
            if pause is None:
                self._results.give_up(numbers, error)
                return
            await asyncio.sleep(pause)

    async def _try(
        self, texts: Sequence[str], numbers: Sequence[int], tries: int
    ) -> IntaglioError | None:
        """One call; the error that ended it as a whole."""
        body = {**self._body, "texts": [texts[number] for number in numbers], "stream": True}
        key = {KEY_HEADER: f"{self._key}.{numbers[0]}.{tries}"} if self._key else {}
        try:
            async with self._wire.post("/v1/extract", body, max_retries=0, headers=key) as answer:
                self._results.begin(numbers, answer.headers.get("x-request-id"))
                async for event in read_events(answer, self._wire.base_url):
                    self._results.add(numbers, event)
        except IntaglioError as error:
            return error
        return None
