"""Microseconds of processor time a step takes in the control plane: the real engine over an executor that does nothing.

Run it as a script: `python tests/bench/bench_control_plane.py [sequences] [steps]`.
"""

import sys
import time

from intaglio.engine.config import SchedulerConfig
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.loop import Engine
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.plan import Masks, Plan, SampledBatch, SampledToken
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import Request, SamplingParams
from intaglio.grammar.api import DeviceTables, MaskRows, empty_rows

from tests.support.scripted import ScriptedCompiler

VOCAB = 151_936


class InstantExecutor:
    """Picks token 7, whatever is asked."""

    def forward(self, plan: Plan) -> Plan:
        return plan

    makes_masks = False

    def hold(self, key: str, tables: DeviceTables) -> bool:
        return False

    def drop(self, key: str) -> None:
        return None

    def mask_buffer(self, count: int, width: int) -> MaskRows:
        return empty_rows(count, width)

    def sample(self, handle: Plan, masks: Masks) -> None:
        return None

    def sampled(self, handle: Plan) -> SampledBatch:
        return SampledBatch(tuple(SampledToken(w.seq_id, (7,)) for w in handle.works if w.logits))


def measure(sequences: int, steps: int, prompt: int = 500) -> tuple[float, dict[str, float]]:
    """Microseconds a step, in all and by part, with `sequences` running and nobody coming or going."""
    config = SchedulerConfig(max_batched_tokens=8192, max_running=sequences, max_waiting=sequences)
    memory = KVManager(BlockPool(2 + sequences * (prompt + 2 * steps) // 16), 16)
    limits = RequestLimits(max_context=100_000, vocab_size=VOCAB, end_tokens=frozenset({0}))
    constraints = Constraints(
        ScriptedCompiler(), end_tokens=limits.end_tokens, rows=empty_rows(2 * sequences, VOCAB)
    )
    scheduler = Scheduler(config, memory, limits, time.thread_time)
    engine = Engine(scheduler, constraints, InstantExecutor(), time.thread_time)
    for number in range(sequences):
        sampling = SamplingParams(max_tokens=2 * steps)
        engine.submit(Request(id=f"r{number}", prompt=(5,) * prompt, sampling=sampling))
    while engine.metrics().most_sequences < sequences:
        engine.step()
    before = engine.metrics()
    began = time.thread_time()
    for _ in range(steps):
        engine.step()
    took = (time.thread_time() - began) / steps * 1e6
    after = engine.metrics()
    parts = {p: (after.seconds[p] - before.seconds[p]) / steps * 1e6 for p in after.seconds}
    return took, parts


if __name__ == "__main__":
    sequences = int(sys.argv[1]) if len(sys.argv) > 1 else 256
    steps = int(sys.argv[2]) if len(sys.argv) > 2 else 500
    took, parts = measure(sequences, steps)
    print(f"{sequences} sequences: {took:.0f} us a step, {took / sequences:.2f} us a sequence")
    print("  ".join(f"{part} {us:.0f}" for part, us in parts.items()))
