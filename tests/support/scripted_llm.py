"""What a worker of a cluster may hold instead of a model: an `LLM` whose answers are a function of the text."""

import time
from collections.abc import Generator, Iterable
from itertools import islice
from types import SimpleNamespace
from typing import Any

from intaglio.service.client import Extraction
from intaglio.service.jobs.backends import Task
from intaglio.service.jobs.records.row import Claim

from tests.support.scripted_extracting import Scripted


class ScriptedLLM:
    """As `intaglio.LLM`, as far as workers use it."""

    def __init__(self, delay_s: float) -> None:
        self._scripted = Scripted()
        self._delay_s = delay_s
        self.reads_images = False

    def seen(self, *_: Any) -> Any:
        """Not asked of a model that reads no images."""
        raise AssertionError("the model reads no images")

    def computed_by(self, adapter: str | None = None) -> str:
        """The name of the model, and that of an adapter."""
        return "scripted" if adapter is None else f"scripted+{adapter}"

    def extract_stream(
        self, items: Iterable[Any], *, at_once: int, **_: Any
    ) -> Generator[Any, None, None]:
        """Every item with its outcome."""
        coming = iter(items)
        while batch := [item for item in islice(coming, min(at_once, 8)) if item is not None]:
            time.sleep(self._delay_s)
            for key, schema, text in batch:
                task = Task(Claim(0, str(key), text, None, 1, 1), schema)
                outcome = self._scripted.outcome_of(task)
                if isinstance(outcome, Extraction):
                    raw = {
                        "id": "x",
                        "model": "scripted",
                        "data": outcome.data,
                        "usage": outcome.usage.model_dump(),
                        "timings": outcome.timings.model_dump(),
                    }
                    yield key, SimpleNamespace(raw=raw)
                else:
                    yield key, outcome


def make() -> ScriptedLLM:
    """Make a fast engine."""
    return ScriptedLLM(0.005)


def make_slow() -> ScriptedLLM:
    """Make an engine that takes seconds for a thousand rows, however fast the machine."""
    return ScriptedLLM(0.05)
