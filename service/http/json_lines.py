"""A response of JSON lines, as Ollama streams answers.

Does: send lines as they come, as `EventStream` sends events. Does not: send comments in silence, which JSON lines do
not have.
"""

from contextlib import AsyncExitStack
from typing import Final

from .generation_call import ErrorEvent
from .sse import EventStream, StartedEvents

_NEVER_S: Final = 1e8


class JsonLines(EventStream):
    """A stream of lines, each with its line feed."""

    media_type = "application/x-ndjson"

    def __init__(
        self, lines: StartedEvents, failed: ErrorEvent, held: AsyncExitStack | None = None
    ) -> None:
        super().__init__(lines, failed, held, keep_alive_s=_NEVER_S)
