"""Sends one request and times its answer.

Does: read answers and streams of events, and name what went wrong. Does not: decide when to send (`load_loops`) or
judge outputs (`load_summary`).
"""

import itertools
import json
import time
from collections.abc import AsyncIterator
from dataclasses import replace

import httpx2

from .load_plan import LoadPlan
from .protocols import PROTOCOLS, Answer
from .timed_request import TimedRequest
from .workload import LoadTask

_DONE = "[DONE]"


class Sender:
    """Sends documents of one workload in one protocol. `began` is the start of the run, by `time.perf_counter`."""

    def __init__(
        self, http: httpx2.AsyncClient, plan: LoadPlan, tasks: tuple[LoadTask, ...], began: float
    ) -> None:
        self._http = http
        self._plan = plan
        self._tasks = tasks
        self._protocol = PROTOCOLS[plan.protocol]
        self._began = began

    async def send(self, document: int, arrived: float) -> TimedRequest:
        """Send document number `document`; `arrived` is when the request came about, by `time.perf_counter`."""
        task = self._tasks[document % len(self._tasks)]
        if self._plan.unique:
            task = replace(task, text=f"Document {self._plan.seed}-{document}.\n{task.text}")
        answer, moments = Answer(), list[float]()
        try:
            code = await self._ask(task, answer, moments)
        except httpx2.TimeoutException:
            code = "client_timeout"
        except httpx2.TransportError as error:
            code = type(error).__name__
        except (ValueError, KeyError, TypeError, IndexError) as error:
            code = f"unreadable_answer_{type(error).__name__}"
        ended = time.perf_counter()
        return TimedRequest(
            document=document % len(self._tasks),
            at=arrived - self._began,
            seconds=ended - arrived,
            code=code,
            output=answer.output,
            first_s=moments[0] - arrived if moments else None,
            gaps=tuple(after - before for before, after in itertools.pairwise(moments)),
            prompt_tokens=answer.prompt_tokens,
            output_tokens=answer.output_tokens,
        )

    async def _ask(self, task: LoadTask, answer: Answer, moments: list[float]) -> str:
        """Fill `answer`, and `moments` with the times of its parts; returns the code of the outcome."""
        body = self._protocol.body(self._plan, task)
        async with self._http.stream("POST", self._protocol.path, json=body) as response:
            if response.status_code != 200:
                return _error_code(response.status_code, await response.aread())
            if not self._plan.stream:
                self._protocol.read(json.loads(await response.aread()), answer)
            else:
                async for event in _events(response.aiter_lines()):
                    if self._protocol.read_event(event, answer):
                        moments.append(time.perf_counter())  # noqa: PERF401  clearer as a loop
        return answer.error or ("ok" if answer.is_complete else "cut_off")


async def _events(lines: AsyncIterator[str]) -> AsyncIterator[dict[str, object]]:
    """The data of server-sent events, each of which is one line of JSON."""
    async for line in lines:
        if line.startswith("data:"):
            data = line.removeprefix("data:").strip()
            if data != _DONE:
                yield json.loads(data)


def _error_code(status: int, body: bytes) -> str:
    try:
        return f"{status} {json.loads(body)['error']['code']}"
    except (ValueError, KeyError, TypeError):
        return str(status)
