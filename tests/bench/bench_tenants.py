"""`python -m tests.bench.bench_tenants`: the latency of one tenant while another one floods the engine.

The real scheduler over an executor that samples one token a step; time is counted in steps, so that a run says the same
on every machine. Tenant B sends one request after the other: alone, beside tenant A that keeps 200 open, and beside as
many requests that have the same tenant as its own, which is order of arrival.
"""

import json
import statistics

from intaglio.engine.config import SchedulerConfig
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.plan import Forced, SampledBatch, SampledToken
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import Request, SamplingParams

PLACES, OPEN, COUNT = 16, 200, 60
PROMPT, OUTPUT = 64, 48


def latencies(crowd: int, tenant: str) -> list[int]:
    """Steps from arrival to end of `COUNT` requests of tenant b, beside `crowd` open ones of `tenant`."""
    config = SchedulerConfig(max_running=PLACES, max_waiting=OPEN + 1)
    memory = KVManager(BlockPool(1 + PLACES * 8), 16)
    limits = RequestLimits(max_context=128, vocab_size=100, end_tokens=frozenset({0}))
    step = 0
    scheduler = Scheduler(config, memory, limits, lambda: float(step))
    sampling = SamplingParams(max_tokens=OUTPUT)

    def send(name: str, of: str) -> None:
        scheduler.add(Request(id=name, prompt=(5,) * PROMPT, sampling=sampling, tenant=of))

    for number in range(crowd):
        send(f"crowd-{number}", tenant)
    for _ in range(2 * OUTPUT if crowd else 0):  # the crowd takes all places first
        step += 1
        _run(scheduler)
    found: list[int] = []
    began = step
    send("mine-0", "b")
    while len(found) < COUNT:
        step += 1
        for name in _run(scheduler):
            if name.startswith("mine"):
                found.append(step - began)
                began = step
                send(f"mine-{len(found)}", "b")
            else:
                send(name, tenant)
    return found


def _run(scheduler: Scheduler) -> list[str]:
    """One step; the requests that ended in it."""
    plan = scheduler.plan()
    samples = tuple(SampledToken(work.seq_id, (7,)) for work in plan.works if work.logits)
    changes = scheduler.commit(plan, SampledBatch(samples), Forced({}, {}))
    return [change.request_id for change in changes.items if change.finish is not None]


def main() -> None:
    alone, beside = latencies(0, ""), latencies(OPEN, "a")
    arrival = latencies(OPEN, "b")
    median = statistics.median(alone)
    found = {
        "alone_p50_steps": median,
        "flooded_p50_steps": statistics.median(beside),
        "flooded_p99_steps": statistics.quantiles(beside, n=100)[-1],
        "ratio_p50": round(statistics.median(beside) / median, 2),
        "ratio_in_order_of_arrival": round(statistics.median(arrival) / median, 2),
    }
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
