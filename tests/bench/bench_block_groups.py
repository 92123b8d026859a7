"""How many sequences run at once if layers with a sliding window free their blocks: real scheduler and memory only.

The memory holds 8 sequences whose layers keep all blocks. 64 requests have prompts of eight windows, and 512 output
tokens. `running` is the mean number of sequences over all steps, `steps` those until all requests have ended.

    python -m tests.bench.bench_block_groups --out FILE
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

from intaglio.engine.config import SchedulerConfig
from intaglio.engine.memory.block_groups import BlockGroups
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.model.layer_groups import LayerGroups, layer_groups
from intaglio.engine.plan import Forced, SampledBatch, SampledToken
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import Request, SamplingParams

SHAPES = {  # layers that see all tokens, layers with a window, the window
    "Gemma 3 4B": (5, 29, 1024),
    "Gemma 3 27B": (10, 52, 1024),
    "OLMo 3 32B": (16, 48, 4096),
    "gpt-oss 20B": (12, 12, 128),
    "Mistral 7B v0.1": (0, 32, 4096),
}
BLOCK, WINDOWS, OUTPUTS, ROOM, REQUESTS, STEP = 16, 8, 512, 8, 64, 2048


def measure(layout: LayerGroups, layers: int, window: int) -> dict[str, Any]:
    """One run. A block takes memory for each layer that it has a place for."""
    prompt = WINDOWS * window
    blocks = ROOM * -(-(prompt + OUTPUTS) // BLOCK) * layers // layout.depth
    groups = BlockGroups(BLOCK, layout.windows, STEP)
    config = SchedulerConfig(max_running=256, max_batched_tokens=STEP, max_waiting=1024)
    memory = KVManager(
        BlockPool(1 + blocks), BLOCK, PrefixCache(BLOCK, groups=groups), groups=groups
    )
    limits = RequestLimits(prompt + OUTPUTS, 1 << 17, frozenset())
    scheduler = Scheduler(config, memory, limits, time.monotonic)
    for number in range(REQUESTS):
        tokens = (number + 1,) * prompt
        sampling = SamplingParams(max_tokens=OUTPUTS)
        scheduler.add(Request(id=str(number), prompt=tokens, sampling=sampling))
    steps = running = ended = 0
    while ended < REQUESTS:
        plan = scheduler.plan()
        samples = tuple(SampledToken(work.seq_id, (7,)) for work in plan.works if work.logits)
        changes = scheduler.commit(plan, SampledBatch(samples), Forced({}, {}))
        ended += sum(change.finish is not None for change in changes.items)
        steps, running = steps + 1, running + len(plan.works)
    preemptions = scheduler.load().preemptions
    return {"running": round(running / steps, 1), "steps": steps, "preemptions": preemptions}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=Path)
    out = parser.parse_args().out
    found: dict[str, Any] = {"command": "python -m tests.bench.bench_block_groups"}
    for name, (full, sliding, window) in SHAPES.items():
        layers = full + sliding
        freed = layer_groups([None] * full + [window] * sliding)
        found[name] = {
            "kept": measure(LayerGroups.single(layers), layers, window),
            "freed": measure(freed, layers, window),
            "groups": len(freed.windows),
            "places": len(freed.windows) * freed.depth,
            "layers": layers,
        }
        print(name, json.dumps(found[name]))
    if out is not None:
        out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
