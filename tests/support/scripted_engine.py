"""A scripted engine in a process of its own: its output is the text that the prompt requests.

The prompt is read as bytes, and of those what stands between the last `<<` and `>>`, if that is there. `echo TEXT`
answers TEXT, one byte a step; `slow TEXT` the same in steps of `pace_s`; `hold PATH` answers 1 once that file exists,
and `hold` never; `die` ends the process as a fault of native code would; `break` raises inside a step; `stall` never
comes back from one; `fail CODE` ends with that failure; `late` ends by its deadline; `seed` answers the seed of the
request; `force TEXT` answers TEXT as if its budget had completed it. The log-probability of a token is -byte / 64, its
masked share byte / 256. One block of its pretended memory is held for each open request.
"""

import os
import signal
import sys
import time
from dataclasses import replace
from pathlib import Path

import msgspec
from intaglio.engine.errors import InternalError, InvalidRequest, ModelError
from intaglio.engine.host.assembly import Assembly
from intaglio.engine.host.process import main
from intaglio.engine.host.supervisor import Launch
from intaglio.engine.metrics import Snapshot
from intaglio.engine.types import Delta, Failure, Finish, Request, TokenLogprob, Usage

from tests.support.modelless_engine import ModellessEngine, assembled, engine_info, launched

BLOCKS = 256


class Script(msgspec.Struct, frozen=True):
    """How the process behaves. While the file `load_while` exists it loads; with `crash_while`, loading crashes.

    It serves `batch` requests at once, in order of arrival; 0 = all.
    """

    model: str = "scripted"
    pace_s: float = 0.05
    batch: int = 0
    load_while: str | None = None
    unusable: str | None = None
    crash_while: str | None = None
    draft_sources: tuple[str, ...] = ()


def told(request: Request) -> bytes:
    """The order in a prompt."""
    text = bytes(token for token in request.prompt if token < 256)
    return text.rpartition(b"<<")[2].partition(b">>")[0]


def scores(request: Request, tokens: tuple[int, ...]) -> tuple[TokenLogprob, ...]:
    """The log-probabilities of tokens, where a request asks for them."""
    asked = request.sampling.logprobs
    if asked is None:
        return ()
    return tuple(
        TokenLogprob(
            t,
            -t / 64,
            tuple(((t + i) % 256, -(t + i) / 64) for i in range(asked)),
            t / 256 if request.sampling.masked_share else None,
        )
        for t in tokens
    )


class ScriptedEngine(ModellessEngine[tuple[Request, list[int]]]):
    """Follows the order in each prompt; an open request is (request, tokens of the answer so far)."""

    def __init__(self, pace_s: float, batch: int = 0) -> None:
        super().__init__(BLOCKS)
        self._pace = pace_s
        self._batch = batch

    def submit(self, request: Request) -> None:
        if request.id in self._open:
            raise InvalidRequest(f"the id {request.id!r} is in use")
        self._accept(request.id, (request, []))

    def step(self) -> list[Delta]:
        opened, aborted = self._begin_step()
        batch = opened[: self._batch or None]
        if not batch:
            return []
        deltas = []
        self._count_step(len(batch))
        if any(told(request).startswith((b"slow", b"hold")) for request, _ in batch):
            time.sleep(self._pace)
        for request, said in batch:
            order, _, text = told(request).partition(b" ")
            held = order == b"hold" and not (text and Path(os.fsdecode(text)).exists())
            if order == b"hold":
                text = b"1"
            if order == b"seed":
                text = str(request.sampling.seed).encode()
            if order == b"die":
                os.kill(os.getpid(), signal.SIGABRT)
            if order == b"break":
                raise InternalError("as told")
            if order == b"stall":
                time.sleep(3600)
            finish: Finish | None = None
            error: Failure | None = None
            tokens: tuple[int, ...] = ()
            if order in (b"fail", b"late"):
                finish = Finish.DEADLINE if order == b"late" else Finish.ERROR
                if order == b"fail":
                    error = Failure(text.decode(), "as told", hint="tell it otherwise")
            elif request.id in aborted:
                finish = Finish.ABORT
            else:
                tokens = (text[len(said)],) if len(said) < len(text) and not held else ()
                said.extend(tokens)
                if len(said) == len(text):
                    finish = Finish.STOP
                elif len(said) == request.sampling.max_tokens:
                    finish = Finish.LENGTH
            usage = None
            if finish:
                forced = order == b"force"
                usage = Usage(len(request.prompt), len(said), budget_forced=forced)
            deltas.append(
                Delta(
                    request_id=request.id,
                    tokens=tokens,
                    logprobs=scores(request, tokens),
                    finish=finish,
                    usage=usage,
                    error=error,
                )
            )
        self._end_step(deltas)
        return deltas

    def metrics(self) -> Snapshot:
        return replace(super().metrics(), computed_tokens=self._steps)


def build(configuration: bytes) -> Assembly:
    script = msgspec.json.decode(configuration, type=Script)
    while script.load_while is not None and Path(script.load_while).exists():
        time.sleep(0.02)
    if script.unusable is not None:
        raise ModelError(script.unusable, hint="use another")
    if script.crash_while is not None and Path(script.crash_while).exists():
        sys.exit("cannot build yet")
    info = engine_info(model=script.model, blocks=BLOCKS, draft_sources=script.draft_sources)
    return assembled(ScriptedEngine(script.pace_s, script.batch), info)


def launch(script: Script | None = None) -> Launch:
    """Start this engine in place of the real one."""
    return launched(run, msgspec.json.encode(script or Script()))


def is_run_by(command: list[str]) -> bool:
    """Whether the command line of a process is that of this engine."""
    return any(f"from {__name__} import" in word for word in command)


def run() -> None:
    """The process of the engine."""
    raise SystemExit(main(build))
