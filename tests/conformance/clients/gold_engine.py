"""A scripted engine that answers by a rule for the prompt, in the form that the request's constraint requires.

A rule has a text that the prompt contains and the answer for it; the last rule in the list that applies and that the
constraint lets through is taken. Without one, the answer is the shortest that the constraint lets through, or a
greeting. Tokens are bytes, several to a step. Log-probabilities are made up and equal for equal tokens.
"""

import os
import sys
import threading
from collections.abc import Iterator
from functools import cache

import msgspec
from intaglio.engine.api import Launch
from intaglio.engine.errors import InvalidRequest
from intaglio.engine.host.assembly import Assembly
from intaglio.engine.host.messages import EngineInfo
from intaglio.engine.host.process import main
from intaglio.engine.metrics import Snapshot
from intaglio.engine.types import Delta, Finish, Request, TokenLogprob, Usage
from intaglio.grammar.api import (
    CacheStats,
    CompiledGrammar,
    Compiler,
    Constraint,
    Violation,
    Vocabulary,
)

END = 257
STEP = 16
ROOM = 1 << 17
VOCABULARY = Vocabulary((*(bytes([byte]) for byte in range(256)), None, None, None), (END,), 300)
GREETING = "Hello! How can I help you today?"


class Rule(msgspec.Struct, frozen=True):
    """The answer to prompts that contain `when`."""

    when: str
    answer: str


class Gold(msgspec.Struct, frozen=True):
    """The name of the model and its rules."""

    model: str
    rules: list[Rule] = []


@cache
def compiled(constraint: Constraint) -> CompiledGrammar:
    return Compiler(VOCABULARY, tuple).compile(constraint)


def fits(constraint: Constraint, answer: bytes) -> bool:
    """Whether a constraint lets an answer through."""
    matcher = compiled(constraint).matcher()
    try:
        for token in (*answer, END):
            matcher.accept(token)
    except Violation:
        return False
    return True


def answer_of(rules: list[Rule], request: Request) -> bytes:
    """The whole answer to a request."""
    prompt = bytes(token for token in request.prompt if token < 256).decode(errors="replace")
    answers = [rule.answer.encode() for rule in reversed(rules) if rule.when in prompt]
    if request.constraint is None:
        return answers[0] if answers else GREETING.encode()
    found = next((one for one in answers if fits(request.constraint, one)), None)
    if found is None:
        way = compiled(request.constraint).matcher().closing() or ()
        found = bytes(token for token in way if token < 256)
    return found


class Running:
    """A request and what has been said of its answer."""

    def __init__(self, request: Request, answer: bytes) -> None:
        limit = request.sampling.max_tokens
        self.request = request
        self.tokens = answer[:limit]
        self.finish = Finish.STOP if len(answer) <= limit else Finish.LENGTH
        self.said = 0


class GoldEngine:
    """Stands in for `intaglio.engine.loop.Engine`."""

    def __init__(self, rules: list[Rule]) -> None:
        self._rules = rules
        self._changed = threading.Condition()
        self._open: dict[str, Running] = {}
        self._aborted: set[str] = set()

    def submit(self, request: Request) -> None:
        running = Running(request, answer_of(self._rules, request))
        with self._changed:
            if request.id in self._open:
                raise InvalidRequest(f"the id {request.id!r} is in use")
            self._open[request.id] = running
            self._changed.notify_all()

    def abort(self, request_id: str) -> None:
        with self._changed:
            if request_id in self._open:
                self._aborted.add(request_id)
                self._changed.notify_all()

    def step(self) -> list[Delta]:
        with self._changed:
            batch = list(self._open.values())
            aborted, self._aborted = self._aborted, set()
        deltas = list(self._deltas(batch, aborted))
        with self._changed:
            for delta in deltas:
                if delta.finish is not None:
                    del self._open[delta.request_id]
        return deltas

    def _deltas(self, batch: list[Running], aborted: set[str]) -> Iterator[Delta]:
        for one in batch:
            request = one.request
            tokens = tuple(one.tokens[one.said : one.said + STEP])
            one.said += len(tokens)
            finish = one.finish if one.said == len(one.tokens) else None
            if request.id in aborted:
                finish, tokens = Finish.ABORT, ()
            usage = Usage(len(request.prompt), one.said) if finish else None
            scores = () if request.sampling.logprobs is None else tuple(map(_scored, tokens))
            yield Delta(
                request_id=request.id, tokens=tokens, logprobs=scores, finish=finish, usage=usage
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
            steps=0,
            computed_tokens=0,
            prompt_tokens=0,
            output_tokens=0,
            forced_tokens=0,
            preemptions=0,
            most_sequences=0,
            finished={},
            seconds={},
            parked=0,
            waiting=0,
            running=len(self._open),
            blocks=ROOM // 16,
            free_blocks=ROOM // 16 - len(self._open),
            last_step=None,
        )


def _scored(token: int) -> TokenLogprob:
    return TokenLogprob(token, -0.25, ((token, -0.25), ((token + 1) % 256, -1.5)))


def build(configuration: bytes) -> Assembly:
    gold = msgspec.json.decode(configuration, type=Gold)
    info = EngineInfo(
        model=gold.model,
        context_length=ROOM,
        parameters=0,
        vocabulary=300,
        blocks=ROOM // 16,
        block_size=16,
        device="none",
        dtype="none",
        pid=os.getpid(),
    )
    return Assembly(
        engine=GoldEngine(gold.rules), info=info, grammar_stats=CacheStats, close=lambda: None
    )


def launch(gold: Gold) -> Launch:
    """Start this engine in place of the real one."""
    return Launch((sys.executable, "-P", __file__), msgspec.json.encode(gold))


if __name__ == "__main__":
    raise SystemExit(main(build))
