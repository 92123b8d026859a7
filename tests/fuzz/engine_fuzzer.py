"""`python -m tests.fuzz.engine_fuzzer --minutes 120`: random requests to the engine itself.

Messages go over the sockets of a real engine process, without the service that would have judged them; and Python
values go to an engine in this process, without the message format that would have judged their types. The process must
never die, and each request that has an id must end exactly once. Prints the seed, which `--seed` repeats.
"""

import argparse
import json
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

import msgspec
import psutil
import zmq
from intaglio.engine.config import EngineConfig
from intaglio.engine.errors import EngineError
from intaglio.engine.host.local import LocalEngine
from intaglio.engine.host.messages import Check, Checked, Deltas, Event, Join, Joined, encode, event
from intaglio.engine.host.process import ANSWERS, COMMANDS, EVENTS
from intaglio.engine.types import Delta, Request, SamplingParams
from intaglio.grammar.api import Constraint, KeyOrder, Kind, Whitespace

from tests.fuzz.effort import Effort, Enough
from tests.fuzz.values import Dice, good_request, spoil
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PATIENCE_S = 300.0
AT_ONCE = 48
ENTRY = """
import faulthandler, signal
faulthandler.register(signal.SIGUSR1, all_threads=True)
from intaglio.engine.host.process import main
raise SystemExit(main())
"""


@dataclass
class Tally:
    """The outcomes of the requests, and how many ended in each way."""

    sent: int = 0
    ends: Counter[str] = field(default_factory=Counter)

    def ended(self, delta: Delta) -> None:
        assert delta.finish is not None
        self.ends[delta.error.code if delta.error else str(delta.finish)] += 1


class EngineProcess:
    """An engine's process and the sockets to it, as a supervisor and a client would have them."""

    def __init__(self, config: EngineConfig, folder: Path) -> None:
        self._context = zmq.Context()
        self._commands = self._context.socket(zmq.PUSH)
        self._events = self._context.socket(zmq.PULL)
        self._answers = self._context.socket(zmq.DEALER)
        self._answers.routing_id = b"fuzz"
        self._events.bind(f"ipc://{folder / EVENTS}")
        self._commands.connect(f"ipc://{folder / COMMANDS}")
        self._answers.connect(f"ipc://{folder / ANSWERS}")
        self._poller = zmq.Poller()
        self._poller.register(self._events, zmq.POLLIN)
        self._poller.register(self._answers, zmq.POLLIN)
        self._popen = subprocess.Popen(
            [sys.executable, "-P", "-c", ENTRY, str(folder.parent), folder.name],
            stdin=subprocess.PIPE,
        )
        assert self._popen.stdin is not None
        self._popen.stdin.write(msgspec.json.encode(config) + b"\n")
        self._popen.stdin.flush()

    def __enter__(self) -> Self:
        self.send(encode(Join()))
        while not isinstance(self.receive(), Joined):  # not answered before the engine is ready
            self.send(encode(Join()))
        return self

    def __exit__(self, *_: object) -> None:
        assert self._popen.stdin is not None
        self._popen.stdin.close()
        self._popen.kill()
        self._popen.wait()
        self._context.destroy(linger=0)

    @property
    def megabytes(self) -> int:
        """The resident memory of the process."""
        return int(psutil.Process(self._popen.pid).memory_info().rss / 2**20)

    def send(self, message: bytes) -> None:
        self._commands.send_multipart((b"fuzz", message))

    def receive(self) -> Event:
        """The next event. An engine that has died, or sends nothing for `PATIENCE_S`, is a finding."""
        end = time.monotonic() + PATIENCE_S
        while not (told := self._poll()):
            if self._popen.poll() is not None:
                raise AssertionError(f"the engine died: {self._popen.returncode}")
            if time.monotonic() > end:
                self._popen.send_signal(signal.SIGUSR1)  # it writes where its threads are
                time.sleep(5.0)
                raise AssertionError("the engine is silent")
        return event(told)

    def _poll(self) -> bytes:
        """The next message with content; empty if there is none."""
        for socket, _ in self._poller.poll(500):
            return bytes(socket.recv())
        return b""

    def check(self) -> None:
        """Every invariant holds, and nothing is held for a request that is over."""
        self.send(encode(Check(1)))
        while True:
            told = self.receive()
            if isinstance(told, Checked):
                assert told.report.clean, told.report
                return


def damaged(dice: Dice, message: bytes) -> bytes:
    """The message; sometimes truncated, changed, or replaced by noise."""
    if dice.often(0.03):
        return message[: dice.randrange(len(message))]
    if dice.often(0.03):
        at = dice.randrange(len(message))
        return message[:at] + bytes([dice.randrange(256)]) + message[at + 1 :]
    if dice.often(0.02):
        return dice.randbytes(dice.choice((0, 1, 30)))
    return message


def over_messages(engine: EngineProcess, dice: Dice, enough: Enough, vocabulary: int) -> Tally:
    """Send enough messages; return once every request that could be read has ended."""
    tally, waiting = Tally(), dict[str, bool]()
    while not enough(tally.sent) or any(waiting.values()):
        while not enough(tally.sent) and len(waiting) < AT_ONCE:
            name = f"{tally.sent}-{dice.choice(('a', 'é', '😀'))}"
            request = good_request(dice, name, vocabulary)
            if dice.often(0.7):
                request = spoil(dice, request)
            message = msgspec.msgpack.encode({"type": "submit", "request": request})
            given = damaged(dice, message)
            tally.sent += 1
            engine.send(given)
            intact = given == message
            if intact:
                waiting[name] = True
            if intact and dice.often(0.05):
                engine.send(msgspec.msgpack.encode({"type": "abort", "request_id": name}))
            if dice.often(0.02):
                engine.send(msgspec.msgpack.encode({"type": "abort", "request_id": dice.number()}))
        told = engine.receive()
        for delta in told.items if isinstance(told, Deltas) else ():
            if delta.finish is not None and delta.request_id in waiting:
                del waiting[delta.request_id]
                tally.ended(delta)
            elif delta.finish is not None:
                tally.ends["of a changed message"] += 1
    return tally


def as_values(dice: Dice, fields: dict[str, Any]) -> Request:
    """`fields` as the values of Python that a caller in this process could pass."""
    kinds = {"kind": Kind, "whitespace": Whitespace, "key_order": KeyOrder}
    given = dict(fields)
    for name, kind in (("sampling", SamplingParams), ("constraint", Constraint)):
        inner = given.get(name)
        if not isinstance(inner, dict):
            continue
        known = {str(k): v for k, v in inner.items() if str(k) in kind.__dataclass_fields__}
        if kind is Constraint:
            known = {"kind": "regex", "source": "a"} | known
            for name_of, members in kinds.items():
                if known.get(name_of) in list(members):
                    known[name_of] = members(known[name_of])
            known.pop("indent", None)  # its range is checked where it is made
        given[name] = kind(**known)
    fields_of = Request.__dataclass_fields__
    values: dict[str, Any] = {"prompt": (1,), "sampling": SamplingParams()}
    return Request(**values | {str(k): v for k, v in given.items() if str(k) in fields_of})


def in_process(engine: LocalEngine, dice: Dice, enough: Enough, vocabulary: int) -> Tally:
    """Generate enough requests of random values in this process."""
    tally = Tally()
    while not enough(tally.sent):
        batch = []
        for _ in range(AT_ONCE):
            fields = good_request(dice, f"{tally.sent}", vocabulary)
            if dice.often(0.7):
                fields = spoil(dice, fields, sendable=False)
            batch.append(as_values(dice, fields))
            tally.sent += 1
        ended = [delta for delta in engine.generate(batch) if delta.finish is not None]
        assert sorted(delta.request_id for delta in ended) == sorted(one.id for one in batch)
        for delta in ended:
            tally.ended(delta)
    report = engine.check()
    assert report.clean, report
    return tally


def configuration(model: Path) -> EngineConfig:
    """A small engine, in which requests preempt one another."""
    settings = {"model": str(model), "num_blocks": 120, "max_running": 16, "threads": 1}
    return EngineConfig.load({**settings, "grammar_store": "off"}, environ={})


def run(seed: int, effort: Effort, folder: Path) -> dict[str, Tally]:
    """Fuzz both interfaces, with the same effort.

    Raises:
        AssertionError: an engine died or fell silent, a request ended twice or not at all, or something leaked.
    """
    model = write_checkpoint(folder / "model", {**LLAMA, "max_position_embeddings": 512})
    vocabulary, config = LLAMA["vocab_size"], configuration(model)
    found: dict[str, Tally] = {}
    sockets = Path(tempfile.mkdtemp(prefix="fuzz-")) / "engine"
    sockets.mkdir()
    with EngineProcess(config, sockets) as engine:
        began = engine.megabytes
        found["messages"] = over_messages(engine, Dice(seed), effort.begin(), vocabulary)
        print(f"the engine grew from {began} to {engine.megabytes} MiB", flush=True)
        engine.check()
    local = LocalEngine.build(config)
    try:
        found["values"] = in_process(local, Dice(seed + 1), effort.begin(), vocabulary)
    except EngineError as error:
        raise AssertionError(f"the engine in this process failed: {error}") from error
    finally:
        local.close()
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Random requests to the engine itself.")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        found = run(given.seed, Effort(seconds=given.minutes * 30), Path(folder))
    for name, tally in found.items():
        ends = dict(tally.ends.most_common())
        print(f"{name}: {tally.sent} requests, {json.dumps(ends)}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
