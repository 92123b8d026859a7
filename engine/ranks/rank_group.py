"""The ranks of one engine, as rank 0 sees them.

Does: start the processes of the other ranks, connect with them, send them the orders of every step, notice at once that
one has ended, and then end all of them. Does not: restart them: without one rank the engine has failed, and its
supervisor starts all ranks again.

A group is started and connected apart: between the two the ranks load their libraries, and those of an engine that
stands by wait for its turn.
"""

import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Final, ParamSpec, TypeVar

import msgspec
import zmq

from ..build_runner import device_named
from ..config import EngineConfig, environment_with, processor_cores, visible_gpus
from ..errors import ConfigError, EngineError, EngineLost
from ..parallel.communicator import Communicator
from ..parallel.connect import connect
from ..parallel.parallel_layout import (
    Parallel,
    ParallelLayout,
    PipelineStage,
    StageLayout,
    TensorParallel,
)
from . import rank_messages as wire

P = ParamSpec("P")
T = TypeVar("T")

POLL_S: Final = 0.1
CLOSING_S: Final = 2.0
ARRIVAL_S: Final = 120.0
"""The longest time for a process to start and load its libraries."""
LOST_S: Final = 2.0
"""The longest time between the end of a rank's connections and that of its process."""

ALL: Final = slice(None)

ENTRY: Final = "from intaglio.engine.ranks.rank_process import main; raise SystemExit(main())"


def rank_config(config: EngineConfig) -> EngineConfig:
    """The settings of every rank of an engine: on a CPU ranks share the cores."""
    if device_named(config.model.device).type != "cpu":
        return config
    threads = config.model.threads or max(1, processor_cores() // config.parallel.ranks)
    return replace(config, model=replace(config.model, threads=threads))


def place_of(config: EngineConfig, rank: int, folder: Path) -> Parallel:
    """The place of a rank of an engine, connected with the others, which meet in `folder`.

    Raises:
        RuntimeError: a rank did not connect in time.
    """
    parallel, device = config.parallel, device_named(config.model.device)
    stage, part = divmod(rank, parallel.tp)

    def joined(group: str, own: int, size: int, *, sums: bool) -> Communicator:
        meeting = folder / wire.MEETING.format(group)
        return connect(meeting, own, size, parallel.tp_timeout_s, device, sums=sums)

    matrices = layers = None
    if parallel.tp > 1:
        within = joined(f"stage{stage}", part, parallel.tp, sums=True)
        layout = ParallelLayout(parallel.tp, part)
        matrices = TensorParallel(layout, within, parallel.divided_from)
    if parallel.pp > 1:
        across = joined(f"part{part}", stage, parallel.pp, sums=False)
        layers = PipelineStage(StageLayout(parallel.pp, stage), across)
    return Parallel(matrices, layers)


class RankGroup:
    """The processes of all ranks but the first, and rank 0's connection with them. `close` ends them."""

    def __init__(
        self, folder: Path, processes: Sequence["subprocess.Popen[bytes]"], setup: EngineConfig
    ) -> None:
        """See `start`."""
        self._setup = setup
        self._folder = folder
        self._processes = tuple(processes)
        self._context: zmq.Context[zmq.Socket[bytes]] = zmq.Context()
        self._reports = self._context.socket(zmq.PULL)
        self._reports.bind(f"ipc://{folder / wire.REPORTS}")
        ranks = range(1, setup.parallel.ranks)
        self._orders = [_bound(self._context, f"{folder / wire.ORDERS}.{rank}") for rank in ranks]
        self._fault: str | None = None
        self._closing = False
        self._parallel: Parallel | None = None
        for rank, process in enumerate(self._processes, start=1):
            watch = threading.Thread(target=self._watch, args=(rank, process), daemon=True)
            watch.start()

    @classmethod
    def start(cls, config: EngineConfig) -> "RankGroup":
        """Start the processes of all other ranks; returns at once. Call `connect` next.

        Raises:
            ConfigError: there are too few GPUs.
        """
        count = config.parallel.ranks
        setting = "tp" if config.parallel.pp == 1 else "pp"
        device = device_named(config.model.device)
        environments: list[dict[str, str]] = [{} for _ in range(count)]
        if device.type == "cuda":
            gpus = visible_gpus()
            if len(gpus) < count:
                raise ConfigError(
                    f"{setting} {count} needs as many GPUs, and there are {len(gpus)}",
                    where=setting,
                    hint=f"set {setting} to at most {len(gpus)}, or device to cpu",
                )
            environments = [{"CUDA_VISIBLE_DEVICES": gpu} for gpu in gpus[:count]]
        folder = Path(tempfile.mkdtemp(prefix="intaglio-ranks-"))
        processes = []
        for rank in range(1, count):
            setup = wire.RankSetup(config=config, rank=rank, folder=str(folder))
            processes.append(_process(setup, environments[rank]))
        return cls(folder, processes, config)

    def connect(self, vocab: int) -> Parallel:
        """Have all ranks build their parts, and connect with them; the place of rank 0. `vocab`: see `build_runner`.

        Raises:
            EngineLost: a rank ended, or did not arrive. The group is closed.
        """
        try:
            self._await(wire.RankArrived, len(self._processes))
            self.await_listening()
            self.send(wire.frames(wire.BuildOrder(vocab)))
            place = partial(place_of, self._setup, 0, self._folder)
            self._parallel = _connected(place, lambda: self._fault)
        except BaseException:
            self.close()
            raise
        return self._parallel

    @property
    def fault(self) -> str | None:
        """The way in which a rank has ended; None while all run. For any thread."""
        return self._fault

    def build(self, make: Callable[[], T]) -> T:
        """Rank 0's part, which `make` builds, when every rank has built its own. If that fails, the group is closed.

        Raises:
            EngineLost: a rank ended or failed, and the exchange of `make` with it, by whatever error.
        """
        try:
            own = make()
            self._await(wire.RankBuilt, len(self._processes))
        except BaseException as error:
            lost = self._lost_rank() if isinstance(error, RuntimeError) else None
            self.close()
            if lost is not None:
                raise EngineLost(lost) from error
            raise
        return own

    def await_listening(self) -> None:
        """Return when every rank is connected for its orders, which may be later than its reports arrive.

        Raises:
            EngineLost: a rank ended, or did not connect in time.
        """
        until = time.monotonic() + ARRIVAL_S
        for socket in self._orders:
            while not socket.poll(int(POLL_S * 1000), zmq.POLLOUT):
                if self._fault is not None or time.monotonic() > until:
                    raise EngineLost(self._fault or "a rank does not listen for orders")

    @property
    def last_stage(self) -> "RanksOfGroup":
        """The ranks that hold other parts of the matrices of rank 0's layers, and sample with it; maybe none."""
        return RanksOfGroup(self, slice(self._setup.parallel.tp - 1))

    @property
    def other_stages(self) -> "RanksOfGroup":
        """All ranks of the stages before rank 0's; maybe none."""
        return RanksOfGroup(self, slice(self._setup.parallel.tp - 1, None))

    def send(self, frames: list[bytes], to: slice = ALL) -> None:
        """Send an order to all ranks, or to those of a slice. Raises `EngineLost` if any rank has ended."""
        if self._fault is not None:
            raise EngineLost(self._fault)
        try:
            for socket in self._orders[to]:
                # Queues are unbounded, so this fails only where the rank is gone.
                socket.send_multipart(frames, zmq.NOBLOCK)
        except zmq.Again:
            raise EngineLost(self._fault or "a rank has closed its connection") from None

    def guard(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """`call(…)`, which computes; if it fails, the other ranks are ended, even one that does not respond.

        Raises:
            EngineLost: a rank has ended meanwhile, and its exchange with it, so that the result may mean nothing.
        """
        try:
            result = call(*args, **kwargs)
        except Exception as error:
            self.fail(f"rank 0 failed: {error}")
            raise
        if self._fault is not None:
            raise EngineLost(self._fault)
        return result

    def fail(self, reason: str) -> None:
        """End all ranks, because one is lost, and remove the folder. For any thread."""
        if self._fault is None and not self._closing:
            self._fault = reason
            for process in self._processes:
                process.kill()
            if self._parallel is not None:
                self._parallel.abort()
            shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        """End all processes and remove the folder; safe to call twice."""
        if self._closing:
            return
        self._closing = True
        for socket in self._orders:
            with suppress(zmq.Again):  # the rank is gone
                socket.send_multipart(wire.frames(wire.StopOrder()), zmq.NOBLOCK)
        until = time.monotonic() + CLOSING_S
        for process in self._processes:
            try:
                process.wait(max(0.0, until - time.monotonic()))
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdin is not None
            process.stdin.close()
        if self._parallel is not None:
            self._parallel.abort()  # no rank is left to end it with
        self._context.destroy(linger=0)
        shutil.rmtree(self._folder, ignore_errors=True)

    def _lost_rank(self) -> str | None:
        """How a rank has ended, after an exchange with it has failed, which may be noticed first; None if all run."""
        until = time.monotonic() + LOST_S
        while time.monotonic() < until:
            if self._reports.poll(int(POLL_S * 1000)):
                report = wire.report(self._reports.recv())
                if isinstance(report, wire.RankFailed):
                    return f"rank {report.rank} failed: {report.reason}"
            elif self._fault is not None:
                return self._fault
        return None

    def _await(self, kind: type[wire.RankReport], count: int) -> None:
        """Wait for a number of reports of one kind."""
        until = time.monotonic() + ARRIVAL_S
        while count:
            if self._reports.poll(int(POLL_S * 1000)):
                report = wire.report(self._reports.recv())
                if isinstance(report, wire.RankFailed):
                    raise EngineLost(f"rank {report.rank} failed: {report.reason}")
                count -= isinstance(report, kind)
            elif self._fault is not None:
                raise EngineLost(self._fault)
            elif kind is wire.RankArrived and time.monotonic() > until:
                raise EngineLost(f"{count} ranks did not start within {ARRIVAL_S:g} s")

    def _watch(self, rank: int, process: "subprocess.Popen[bytes]") -> None:
        """Wait for the end of a process, which is a fault unless the group is closed."""
        status = process.wait()
        self.fail(f"rank {rank} ended with status {status}")


class RanksOfGroup:
    """Some ranks of a group. See `RankOrders`."""

    def __init__(self, group: RankGroup, which: slice) -> None:
        self._group = group
        self._which = which

    def send(self, frames: list[bytes]) -> None:
        """See `RankOrders`."""
        self._group.send(frames, self._which)

    def guard(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """See `RankOrders`: if the call fails, all ranks of the group are ended."""
        return self._group.guard(call, *args, **kwargs)


def _bound(context: "zmq.Context[zmq.Socket[bytes]]", path: str) -> "zmq.Socket[bytes]":
    """The socket for the orders to a rank."""
    socket = context.socket(zmq.PUSH)
    socket.set_hwm(0)
    socket.bind(f"ipc://{path}")
    return socket


def _connected(place: Callable[[], Parallel], fault: Callable[[], str | None]) -> Parallel:
    """The place that `place` returns when all ranks have met.

    It runs in a thread, which is left behind when a rank has ended: there it waits until the time-out.

    Raises:
        EngineLost: a rank has ended, as `fault` says.
    """
    result: Future[Parallel] = Future()

    def meet() -> None:
        try:
            result.set_result(place())
        except (RuntimeError, OSError, ValueError, EngineError) as error:
            result.set_exception(error)

    meeting = threading.Thread(target=meet, daemon=True)
    meeting.start()
    while meeting.is_alive():
        meeting.join(POLL_S)
        reason = fault()
        if reason is not None:
            raise EngineLost(reason)
    return result.result(0)


def _process(setup: wire.RankSetup, environment: dict[str, str]) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(  # noqa: S603  this interpreter and our own entry
        (sys.executable, "-P", "-c", ENTRY),
        stdin=subprocess.PIPE,
        stdout=2,  # output of libraries belongs to the log
        env=environment_with(environment),
        start_new_session=True,  # Ctrl-C goes to rank 0's parent only
    )
    assert process.stdin is not None
    process.stdin.write(msgspec.json.encode(setup) + b"\n")
    process.stdin.flush()
    return process
