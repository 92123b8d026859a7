"""A request of any protocol that is ready to be generated, and the form of its answer.

Does: define the values between the code of a protocol and the code that runs generations. Does not: run them
(`service/http/generation_call.py`).
"""

from collections.abc import AsyncGenerator, Callable
from dataclasses import dataclass
from typing import Protocol

from intaglio.engine.api import EngineInfo

from ..adapters.adapter_registry import FindAdapter, no_adapter
from ..dialects.stated import Stated
from ..extraction.text_model import TextModel
from ..images.image_intake import ImageIntake
from ..tools.tool_format import ToolFormat
from .generation_events import GenerationEvent
from .generation_spec import GenerationSpec


@dataclass(frozen=True, slots=True)
class LoadedModel:
    """The loaded model as protocols see it: tokenizer and template, facts, and the version of the service.

    `tools` is the wire format in which it calls tools, `images` reads images for it, `adapters` finds its adapters by
    name.
    """

    text: TextModel
    info: EngineInfo
    version: str
    tools: ToolFormat
    images: ImageIntake
    adapters: FindAdapter = no_adapter


class AnswerForm(Protocol):
    """Writes the events of a generation in the form of a protocol. Closes `events` in the end."""

    def stream(self, events: AsyncGenerator[GenerationEvent, None]) -> AsyncGenerator[bytes, None]:
        """The encoded events of a streamed answer. The first one comes after the first of `events`."""
        ...

    async def whole(self, events: AsyncGenerator[GenerationEvent, None]) -> bytes:
        """The body of an answer that is not streamed."""
        ...


@dataclass(frozen=True, slots=True)
class PreparedCall:
    """A generation to run once its constraint, if there is one, has been examined.

    `failed` encodes the error that ends its stream; None: as the path does for all.
    """

    spec: GenerationSpec
    form: AnswerForm
    stream: bool = False
    stated: Stated | None = None
    failed: Callable[[Exception], bytes] | None = None
