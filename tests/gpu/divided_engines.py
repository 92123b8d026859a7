"""A small model on one GPU and divided among two: the same tokens, and what happens when a process dies.

Does: build engines that start in seconds, one at a time, and tell on the standard error what they are doing and when,
so that a run that does not end says where. Does not: choose how the model is divided; tests do.
"""

import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from intaglio.engine.config import EngineConfig
from intaglio.engine.host.build_engine import build
from intaglio.engine.loop import Engine
from intaglio.engine.model.checkpoint import model_folder
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.engine.types import Finish, Request, SamplingParams
from intaglio.grammar.api import Constraint, Kind

from tests.gpu.test_engine import SCHEMA, agreement, run, texts
from tests.support.live_processes import commands

SETTINGS: dict[str, Any] = {
    "device": "cuda",
    "dtype": "float32",  # so that the way tokens are batched tips few scales
    "max_running": 8,  # five sizes are captured
    "max_batched_tokens": 256,
    "max_context": 2048,
    "num_blocks": 600,
    "grammar_store": "off",
    "tp_any_size": True,
}
LONG = 8
"""Requests that run while a process is killed."""


class Progress:
    """Lines with the seconds since the first."""

    def __init__(self) -> None:
        self._began = time.monotonic()

    def __call__(self, what: str) -> None:
        print(f"{time.monotonic() - self._began:7.2f} s  {what}", file=sys.stderr, flush=True)


@contextmanager
def engine(say: Progress, **settings: Any) -> Iterator[Engine]:
    say(f"building an engine with {settings}")
    assembly = build(EngineConfig.load({"model": str(model_folder()), **SETTINGS, **settings}, {}))
    assert isinstance(assembly.engine, Engine)
    say(f"built: {assembly.info.start_s}")
    try:
        yield assembly.engine
    finally:
        say("closing the engine")
        assembly.close()
        say("closed")


def requests() -> list[Request]:
    """Free and constrained ones, greedy, drawn and truncated; one prompt takes several steps."""
    tokenizer = Tokenizer.load(model_folder())
    found = []
    for i, text in enumerate(texts(24)):
        constrained = i % 2 == 0
        sampling = SamplingParams(
            max_tokens=80 if constrained else 5 + 2 * i,
            temperature=float(i % 3 > 0),
            top_p=0.9 if i % 5 == 4 else 1.0,
            seed=i,
            ignore_eos=not constrained,
        )
        prompt = tuple(tokenizer.encode(text * (4 if i == 7 else 1)))
        constraint = Constraint(Kind.JSON_SCHEMA, json.dumps(SCHEMA)) if constrained else None
        found.append(Request(id=str(i), prompt=prompt, sampling=sampling, constraint=constraint))
    assert max(len(request.prompt) for request in found) > 2 * SETTINGS["max_batched_tokens"]
    return found


def compare_and_kill(say: Progress, **divided: object) -> None:
    """Compare the tokens of a divided model with those of one GPU, then kill its other process within a step.

    One engine of each kind, because a start compiles all kernels.
    """
    asked = requests()
    with engine(say, grammar_device="off") as whole:
        expected = run(whole, asked)
        say(f"{len(expected)} requests ended on one GPU")
    with engine(say, **divided) as several:
        for turn in ("cold", "with prompts from the cache"):
            found = run(several, asked)
            say(f"{len(found)} requests ended on two GPUs, {turn}")
            differing = [name for name in expected if found[name] != expected[name]]
            assert agreement(found, expected) >= 0.95, f"more than a near tie differs: {differing}"
        _kill(say, several)


def _kill(say: Progress, several: Engine) -> None:
    free = SamplingParams(max_tokens=1500, ignore_eos=True)
    for number in range(LONG):
        several.submit(Request(id=f"long{number}", prompt=(7, 8, 9), sampling=free))
    deltas = [delta for _ in range(20) for delta in several.step()]
    say(f"{len(deltas)} deltas of {LONG} long requests")
    below = commands()
    (rank,) = [child for child in below if any("rank_process" in part for part in below[child])]
    rank.kill()
    say("killed the other process")
    while several.open_requests:
        deltas += several.step()
    say("all requests have ended")
    ends = [delta for delta in deltas if delta.finish is not None]
    assert {end.finish for end in ends} == {Finish.ERROR}
    assert {end.error.code for end in ends if end.error} == {"engine_lost"}
    assert len(ends) == LONG
