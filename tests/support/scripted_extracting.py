"""An extractor without a model: the text of a row determines its outcome.

`FAIL code` is an error that trying again does not mend, `FLAKY n` one that n tries pass, `AWAY n` a service that is out
of reach for the first n calls of all, `BAD SCHEMA` a schema that is refused. Any other text has a result, which is a
function of the text alone. Rows that are asked for together come back in another order.
"""

import random
import time
from collections import Counter
from collections.abc import Generator, Iterator
from itertools import islice
from typing import Any

from intaglio.schemas.extraction.results import Timings, Usage
from intaglio.service.client import APIStatusError, ConnectionFailed, Extraction, IntaglioError
from intaglio.service.client.errors import ErrorAnswer
from intaglio.service.jobs.backends import Finished, Task

SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "size": {"type": "integer"},
        "share": {"type": "number"},
        "even": {"type": "boolean"},
        "words": {"type": "array", "items": {"type": "string"}},
        "place": {
            "type": "object",
            "properties": {"city": {"type": ["string", "null"]}},
            "additionalProperties": False,
        },
    },
    "required": ["name", "size", "share", "even", "words", "place"],
    "additionalProperties": False,
}


def data_of(text: str) -> dict[str, Any]:
    """The result of a text."""
    return {
        "name": text[:12],
        "size": len(text),
        "share": len(text) / 8,
        "even": len(text) % 2 == 0,
        "words": text.split()[:3],
        "place": {"city": None if len(text) % 3 else text[-5:]},
    }


def refusal(code: str, *, status: int = 400, retryable: bool = False) -> APIStatusError:
    """An error as the service sends it."""
    answer = ErrorAnswer(status, f"scripted: {code}", code=code, retryable=retryable)
    return APIStatusError(answer)


class Scripted:
    """Stands in for an engine; `delay_s` is what each batch of at most `at_once` rows takes."""

    model = "scripted"
    reads_images = False

    def __init__(self, delay_s: float = 0.0, at_once: int = 16, seed: int = 0) -> None:
        self._delay = delay_s
        self._at_once = at_once
        self._random = random.Random(seed)
        self.tries: Counter[str] = Counter()
        self.calls = 0
        self.most_in_hand = 0
        self.schemas: list[Any] = []

    def extract(self, tasks: Iterator[Task | None]) -> Generator[Finished, None, None]:
        while True:
            batch = []
            for task in islice(tasks, self._at_once):
                if task is None:
                    break
                batch.append(task)
            if not batch:
                return
            self.most_in_hand = max(self.most_in_hand, len(batch))
            time.sleep(self._delay)
            self._random.shuffle(batch)
            for task in batch:
                yield task.claim, self.outcome_of(task)

    def outcome_of(self, task: Task) -> Extraction[Any] | IntaglioError:
        text = task.claim.text
        self.calls += 1
        self.tries[task.claim.id] += 1
        self.schemas.append(task.schema)
        order, _, rest = text.partition(" ")
        if order == "FAIL":
            return refusal(rest)
        if order == "FLAKY" and self.tries[task.claim.id] <= int(rest.split()[0]):
            return refusal("internal_error", status=500, retryable=True)
        if order == "AWAY" and self.calls <= int(rest.split()[0]):
            return ConnectionFailed("scripted: out of reach")
        if text == "BAD SCHEMA":
            return refusal("unsupported_schema")
        data = data_of(text)
        usage = Usage(prompt_tokens=len(text), output_tokens=7, total_tokens=len(text) + 7)
        timings = Timings(queue_ms=0, prefill_ms=1, decode_ms=len(text), total_ms=1)
        return Extraction(
            data=data,
            valid=True,
            finish="stop",
            usage=usage,
            timings=timings,
            id="x",
            model=self.model,
            request_id=None,
            raw={},
        )
