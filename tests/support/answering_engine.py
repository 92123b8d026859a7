"""An engine without a model, in a process of its own, that answers each constraint with tokens prepared for it.

It takes no time of its own: a measurement over it is one of the service. With `pace_s` it gives one token a step, and a
step takes that long, as a model would at any load.
"""

import time

import msgspec
from intaglio.engine.host.assembly import Assembly
from intaglio.engine.host.process import main
from intaglio.engine.host.supervisor import Launch
from intaglio.engine.types import Delta, Finish, Request, TokenLogprob, Usage

from tests.support.modelless_engine import ModellessEngine, assembled, engine_info, launched

BLOCKS = 1 << 20
SCORE = -0.25  # the log-probability of every token


class Answers(msgspec.Struct, frozen=True):
    """The tokens of the answer under each constraint, by its source, and of a request without one."""

    tokens: dict[str, tuple[int, ...]]
    free: tuple[int, ...] = ()
    pace_s: float = 0.0
    context_length: int = 8192


class AnsweringEngine(ModellessEngine[tuple[Request, tuple[int, ...], float]]):
    """Gives each request the tokens prepared for its constraint; an open request is (request, tokens, time)."""

    def __init__(self, answers: Answers) -> None:
        super().__init__(BLOCKS)
        self._answers = answers
        self._given: dict[str, int] = {}
        self._due = 0.0

    def submit(self, request: Request) -> None:
        source = None if request.constraint is None else request.constraint.source
        tokens = self._answers.free if source is None else self._answers.tokens[source]
        self._accept(request.id, (request, tokens, time.monotonic()))

    def step(self) -> list[Delta]:
        pace = self._answers.pace_s
        if pace:
            time.sleep(max(0.0, self._due - time.monotonic()))
            self._due = max(time.monotonic() + pace / 2, self._due + pace)
        batch, aborted = self._begin_step()
        self._count_step(len(batch))
        deltas = [self._delta(*entry, aborted=entry[0].id in aborted) for entry in batch]
        for delta in deltas:
            if delta.finish is not None:
                self._given.pop(delta.request_id, None)
        self._end_step(deltas)
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


def _scored(token: int) -> TokenLogprob:
    return TokenLogprob(token, SCORE, ((token, SCORE),))


def build(configuration: bytes) -> Assembly:
    answers = msgspec.json.decode(configuration, type=Answers)
    info = engine_info(model="answering", context_length=answers.context_length, blocks=BLOCKS)
    return assembled(AnsweringEngine(answers), info)


def answering(answers: Answers) -> Launch:
    """Start this engine in place of the real one."""
    return launched(run, msgspec.json.encode(answers))


def run() -> None:
    """The process of the engine."""
    raise SystemExit(main(build))
