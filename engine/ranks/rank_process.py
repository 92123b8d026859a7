"""The process of one rank but the first: computes its part of every step that rank 0 orders.

Does: build this rank's part of the model, execute orders until it is told to stop. Does not: schedule, make masks, or
talk to clients; restart itself: a rank that fails ends, and so does its engine.

Standard input stays open while rank 0 runs. Its end means that rank 0 has exited, for any reason, and ends this process
at once, even while it waits for another rank; the folder of the ranks is removed.

Until the order to build comes, a rank has loaded its libraries and uses no device: it may wait there for a long time,
as one of an engine that stands by.
"""

import gc
import os
import shutil
import sys
import threading
from collections import deque
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
import zmq
from intaglio.grammar.api import Vocabulary

from ..config import EngineConfig, wait_passively
from ..errors import EngineError, InternalError
from ..executor import Executor
from . import rank_messages as wire

if TYPE_CHECKING:
    import torch

    from ..parallel.parallel_layout import Parallel
    from ..run.runner import ModelRunner

EXIT_FAILED = 3


class Rank:
    """Executes orders on `executor`."""

    def __init__(self, executor: Executor[Any]) -> None:
        self._executor = executor
        self._started: deque[Any] = deque()

    def execute(self, order: wire.RankOrder, arrays: Sequence[bytes]) -> bool:
        """Execute one order; False to end. `arrays` are its other frames.

        Raises:
            InternalError: the order does not follow from those before it.
        """
        match order:
            case wire.ComputeOrder(plan):
                self._started.append(self._executor.forward(plan))
            case wire.PassOrder(plan):
                self._executor.forward(plan)
            case wire.HoldOrder() as hold:
                self._executor.hold(hold.key, wire.tables(hold, arrays))
            case wire.DropOrder(key):
                self._executor.drop(key)
            case wire.StopOrder():
                return False
            case _ if not self._started:
                raise InternalError(f"{type(order).__name__} came before a plan")
            case wire.SampleOrder() as sample:
                self._executor.sample(self._started[-1], wire.masks(sample, *arrays))
            case wire.ReadOrder():
                self._executor.sampled(self._started.popleft())
        return True


def main() -> int:
    """The entry point of the process; its exit status."""
    setup = msgspec.json.decode(sys.stdin.buffer.readline(), type=wire.RankSetup)
    threading.Thread(target=_end_with_parent, args=(setup.folder,), daemon=True).start()
    wait_passively()  # before torch is loaded
    folder = Path(setup.folder)
    context = zmq.Context()
    orders, reports = context.socket(zmq.PULL), context.socket(zmq.PUSH)
    orders.set_hwm(0)
    reports.linger = 1000
    orders.connect(f"ipc://{folder / wire.ORDERS}.{setup.rank}")
    reports.connect(f"ipc://{folder / wire.REPORTS}")
    try:
        _load_libraries()
        reports.send(wire.packed(wire.RankArrived(setup.rank)))
        order, _ = _received(orders)
        if not isinstance(order, wire.BuildOrder):  # the group was closed, and never built
            return 0
        executor, place = _build(setup, order.vocab)
        reports.send(wire.packed(wire.RankBuilt(setup.rank)))
        gc.collect()
        gc.freeze()  # a collection that looks through all of these delays a step on every rank
        rank = Rank(executor)
        while rank.execute(*_received(orders)):
            pass
        executor.close()
        place.abort()
    except (EngineError, RuntimeError) as error:
        sys.excepthook(*sys.exc_info())
        reports.send(wire.packed(wire.RankFailed(setup.rank, f"{type(error).__name__}: {error}")))
        return EXIT_FAILED
    finally:
        context.destroy()
    return 0


def _load_libraries() -> None:
    """Load what building and the first step need, while nothing waits for this process."""
    from .. import build_runner  # noqa: F401 - for its effect on `sys.modules`
    from ..parallel import communicator  # noqa: F401 - likewise
    from ..run.batch import load_loops

    load_loops()


def _build(setup: wire.RankSetup, vocab: int) -> tuple["ModelRunner", "Parallel"]:
    from ..build_runner import build_runner, device_named
    from ..model.layer_settings import LayerSettings
    from .rank_group import place_of

    config = setup.config
    device = device_named(config.model.device)
    place = place_of(config, setup.rank, Path(setup.folder))
    built = build_runner(
        config.model,
        config.cache,
        config.scheduler,
        vocab=vocab,
        vocabulary=_vocabulary(config, device) if place.samples else None,
        parallel=place,
        layers=LayerSettings(grouped=config.has_block_groups),
    )
    return built.runner, place


def _vocabulary(config: EngineConfig, device: "torch.device") -> Callable[[int], Vocabulary] | None:
    """The tokens for masks made on the device, as rank 0 has them; None where it makes none."""
    if device.type == "cpu" or config.grammar.grammar_device == "off":
        return None
    from ..text.tokenizer import Tokenizer

    return Tokenizer.load(Path(config.model.model)).vocabulary


def _received(orders: "zmq.Socket[bytes]") -> tuple[wire.RankOrder, list[bytes]]:
    first, *arrays = orders.recv_multipart()
    return wire.order(first), arrays


def _end_with_parent(folder: str) -> None:
    # Not `sys.stdin`: a thread that waits in it would hold its lock when the interpreter exits.
    while os.read(0, 4096):
        pass
    shutil.rmtree(folder, ignore_errors=True)
    os._exit(1)
