"""Streams that run launched work late, in any order that their marks allow; see `CopyDevice`.

`rounds` counts steps in which every stream that may go on runs one piece of work: the time of a device whose streams
work side by side, where each piece takes one unit.
"""

from collections import deque
from collections.abc import Callable
from random import Random
from typing import Any

import torch
from torch import Tensor


class SimulatedMark:
    """See `Mark`."""

    def __init__(self, device: "SimulatedDevice") -> None:
        self._device = device
        self.reached_at: int | None = None

    @property
    def passed(self) -> bool:
        """See `Mark`; now and then the device goes on before the answer."""
        self._device.go_on()
        return self.reached_at is not None

    def join(self) -> None:
        """See `Mark`."""
        while self.reached_at is None:
            self._device.turn()

    def seconds_since(self, earlier: Any) -> float:
        """See `Mark`: a microsecond for each turn of the device."""
        assert self.reached_at is not None
        return 1e-6 * float(self.reached_at - earlier.reached_at)


class SimulatedStream:
    """See `CopyStream`."""

    def __init__(self, device: "SimulatedDevice") -> None:
        self._device = device
        self._queue: deque[tuple[str, Any]] = deque()

    def launch(self, work: Callable[[], object]) -> None:
        """See `CopyStream`."""
        self._queue.append(("work", work))

    def mark(self, *, timed: bool = False) -> SimulatedMark:
        """See `CopyStream`."""
        mark = SimulatedMark(self._device)
        self._queue.append(("mark", mark))
        return mark

    def wait(self, mark: Any) -> None:
        """See `CopyStream`."""
        self._queue.append(("wait", mark))

    def is_done(self) -> bool:
        """Whether all that was launched has run."""
        return not self._queue

    def turn(self, now: int, *, work: bool = True) -> bool:
        """Run what is first in the queue, unless it waits, or is `work` and that is not to be run; whether it was."""
        if not self._queue:
            return False
        kind, what = self._queue[0]
        if (kind == "wait" and what.reached_at is None) or (kind == "work" and not work):
            return False
        self._queue.popleft()
        if kind == "mark":
            what.reached_at = now
        elif kind == "work":
            with torch.inference_mode():
                what()
        return True

    def waits_for_nothing(self) -> bool:
        """Whether work is first in the queue."""
        return bool(self._queue) and self._queue[0][0] == "work"


class SimulatedDevice:
    """See `CopyDevice`; the order of the work of its streams is drawn from `dice`."""

    def __init__(self, dice: Random) -> None:
        self._dice = dice
        self.compute, self.gather, self.to_host = (SimulatedStream(self) for _ in range(3))
        self.overlapped_to_host, self.to_device, self.scatter = (
            SimulatedStream(self) for _ in range(3)
        )
        self._streams = [
            self.compute,
            self.gather,
            self.to_host,
            self.overlapped_to_host,
            self.to_device,
            self.scatter,
        ]
        self._turns = 0

    def indices(self, blocks: list[int]) -> Tensor:
        """See `CopyDevice`."""
        return torch.tensor(blocks, dtype=torch.int64)

    def pin(self, memory: Tensor) -> None:
        """See `CopyDevice`."""

    def unpin(self, memory: Tensor) -> None:
        """See `CopyDevice`."""

    def synchronize(self) -> None:
        """See `CopyDevice`."""
        while not all(stream.is_done() for stream in self._streams):
            self.turn()

    def turn(self) -> None:
        """Let one stream go on. Fails where all of them wait."""
        self._turns += 1
        order = self._dice.sample(self._streams, len(self._streams))
        moved = any(stream.turn(self._turns) for stream in order)
        assert moved, "all streams wait for each other"

    def go_on(self) -> None:
        """Take some turns, or none."""
        for _ in range(self._dice.randrange(4)):
            if not all(stream.is_done() for stream in self._streams):
                self.turn()

    def rounds(self) -> int:
        """Run all that was launched side by side; how many rounds of work that takes."""
        rounds = 0
        while not all(stream.is_done() for stream in self._streams):
            while any(stream.turn(rounds, work=False) for stream in self._streams):
                pass  # marks and waits take no time
            ready = [stream for stream in self._streams if stream.waits_for_nothing()]
            assert ready or all(stream.is_done() for stream in self._streams)
            for stream in ready:
                stream.turn(rounds)
            rounds += bool(ready)
        return rounds
