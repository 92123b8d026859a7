"""An engine without a model, in a process of its own, that answers each constraint with tokens prepared for it.

It takes no time of its own: a measurement over it is one of the service. With `pace_s` it gives one token a step, and a
step takes that long, as a model would at any load.
"""

import os
import sys
import threading
import time

import msgspec
from intaglio.engine.host.assembly import Assembly
from intaglio.engine.host.messages import EngineInfo
from intaglio.engine.host.process import main
from intaglio.engine.host.supervisor import Launch
from intaglio.engine.metrics import Snapshot
from intaglio.engine.types import Delta, Finish, Request, TokenLogprob, Usage
from intaglio.grammar.api import CacheStats

BLOCKS = 1 << 20
SCORE = -0.25  # the log-probability of every token


class Answers(msgspec.Struct, frozen=True):
    """The tokens of the answer under each constraint, by its source, and of a request without one."""

    tokens: dict[str, tuple[int, ...]]
    free: tuple[int, ...] = ()
    pace_s: float = 0.0
    context_length: int = 8192


class AnsweringEngine:
    """Stands in for `intaglio.engine.loop.Engine`."""

    def __init__(self, answers: Answers) -> None:
        self._answers = answers
        self._changed = threading.Condition()
        self._open: dict[str, tuple[Request, tuple[int, ...], float]] = {}
        self._given: dict[str, int] = {}
        self._aborted: set[str] = set()
        self._steps = 0
        self._most = 0
        self._due = 0.0
        self._finished: dict[str, int] = {}

    def submit(self, request: Request) -> None:
        source = None if request.constraint is None else request.constraint.source
        tokens = self._answers.free if source is None else self._answers.tokens[source]
        with self._changed:
            self._open[request.id] = (request, tokens, time.monotonic())
            self._changed.notify_all()

    def abort(self, request_id: str) -> None:
        with self._changed:
            if request_id in self._open:
                self._aborted.add(request_id)
                self._changed.notify_all()

    def step(self) -> list[Delta]:
        pace = self._answers.pace_s
        if pace:
            time.sleep(max(0.0, self._due - time.monotonic()))
            self._due = max(time.monotonic() + pace / 2, self._due + pace)
        with self._changed:
            batch = list(self._open.values())
            aborted, self._aborted = self._aborted, set()
        self._steps += bool(batch)
        self._most = max(self._most, len(batch))
        deltas = [self._delta(*entry, aborted=entry[0].id in aborted) for entry in batch]
        with self._changed:
            for delta in deltas:
                if delta.finish is not None:
                    del self._open[delta.request_id]
                    self._given.pop(delta.request_id, None)
                    self._finished[delta.finish] = self._finished.get(delta.finish, 0) + 1
        return deltas

    def _delta(
        self, request: Request, tokens: tuple[int, ...], since: float, *, aborted: bool
    ) -> Delta:
        begin = self._given.get(request.id, 0)
        end = begin + 1 if self._answers.pace_s else len(tokens)
        self._given[request.id] = end
        wanted = request.sampling.logprobs is not None
        scores = tuple(map(_scored, tokens[begin:end])) if wanted else ()
        if not aborted and end < len(tokens):
            return Delta(request_id=request.id, tokens=tokens[begin:end], logprobs=scores)
        usage = Usage(
            len(request.prompt),
            min(end, len(tokens)),
            queue_s=time.monotonic() - since,
            budget=request.sampling.max_tokens,
        )
        return Delta(
            request_id=request.id,
            tokens=tokens[begin:end],
            logprobs=scores,
            finish=Finish.ABORT if aborted else Finish.STOP,
            usage=usage,
        )

    @property
    def has_work(self) -> bool:
        return bool(self._open)

    @property
    def open_requests(self) -> int:
        return len(self._open)

    def wait(self, timeout_s: float | None = None) -> None:
        with self._changed:
            self._changed.wait_for(lambda: bool(self._open), timeout_s)

    def check(self) -> None:
        return

    def metrics(self) -> Snapshot:
        return Snapshot(
            steps=self._steps,
            computed_tokens=0,
            prompt_tokens=0,
            output_tokens=0,
            forced_tokens=0,
            preemptions=0,
            most_sequences=self._most,
            finished=dict(self._finished),
            seconds={"forward": 0.0},
            parked=0,
            waiting=0,
            running=len(self._open),
            blocks=BLOCKS,
            free_blocks=BLOCKS - len(self._open),
            last_step=None,
        )


def _scored(token: int) -> TokenLogprob:
    return TokenLogprob(token, SCORE, ((token, SCORE),))


def build(configuration: bytes) -> Assembly:
    answers = msgspec.json.decode(configuration, type=Answers)
    info = EngineInfo(
        model="answering",
        context_length=answers.context_length,
        parameters=0,
        vocabulary=300,
        blocks=BLOCKS,
        block_size=16,
        device="none",
        dtype="none",
        pid=os.getpid(),
    )
    return Assembly(
        engine=AnsweringEngine(answers),
        info=info,
        grammar_stats=CacheStats,
        close=lambda: None,
    )


def answering(answers: Answers) -> Launch:
    """Start this engine in place of the real one."""
    return Launch((sys.executable, "-P", __file__), msgspec.json.encode(answers))


if __name__ == "__main__":
    raise SystemExit(main(build))
