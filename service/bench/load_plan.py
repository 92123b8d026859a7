"""What a load generator does: how many requests, when, by how many clients.

Does: describe a run, and split it among processes. Does not: send anything.
"""

import random
from collections.abc import Iterator
from dataclasses import asdict, dataclass, replace
from itertools import count
from typing import Any, Self


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """A run against one server.

    Closed loop: `clients` send one request after another. Open loop: requests arrive as a Poisson process of `rate` a
    second, whether or not earlier ones were answered; latencies count from the arrival. `requests` are counted,
    after `warmup` uncounted ones a process. `number` is the position of the process among `processes`.
    """

    url: str
    protocol: str
    requests: int
    clients: int = 8
    rate: float | None = None
    stream: bool = False
    warmup: int = 0
    max_tokens: int | None = None
    temperature: float = 0.0
    timeout_s: float = 600.0
    seed: int = 0
    model: str = ""
    unique: bool = False
    processes: int = 1
    number: int = 0

    def shares(self) -> Iterator[Self]:
        """The plans of the processes; together they are this one. A process without requests has none."""
        for number in range(self.processes):
            requests = _share(self.requests, self.processes, number)
            if requests:
                yield replace(
                    self,
                    requests=requests,
                    clients=max(1, _share(self.clients, self.processes, number)),
                    # Poisson processes add up to a Poisson process.
                    rate=None if self.rate is None else self.rate * requests / self.requests,
                    seed=self.seed + number,
                    number=number,
                )

    def arrivals(self) -> Iterator[float]:
        """Seconds from the start to each arrival of an open loop. Without a rate, all arrive at once."""
        draw, at = random.Random(self.seed), 0.0  # noqa: S311  arrivals, not secrets
        for _ in range(self.requests):
            yield at
            at += 0.0 if self.rate is None else draw.expovariate(self.rate)

    def documents(self) -> Iterator[int]:
        """Positions of documents in the workload: those of each process are disjoint until all were sent once."""
        return count(self.number, self.processes)

    def as_dict(self) -> dict[str, Any]:
        """The plan as JSON values."""
        return asdict(self)


def _share(whole: int, parts: int, number: int) -> int:
    return whole // parts + (number < whole % parts)
