"""`walk` and `advance` of grammars on the device: time a call, and a sequence, without any cached rows.

Run on a GPU: `python -m tests.bench.bench_grammar_walk [--out FILE]`. Needs ../shared (tokenizer, workload). Schemas
are those of the extraction workload. Places come from random outputs of 256 sequences: all of them, those with over
50,000 legal tokens (inside strings), those with at most 100. Each figure is the median of replays of a CUDA graph.
"""

import argparse
import json
import random
import statistics
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import torch
from intaglio.grammar.device.device_tables import DeviceTables
from intaglio.grammar.device.export import export
from intaglio.grammar.jsonschema.read.values import read
from intaglio.grammar.jsonschema.read.writing_options import Options
from intaglio.grammar.jsonschema.rules.language import Language
from intaglio.kernels.grammar.arena import GrammarArena
from intaglio.kernels.grammar.vocabulary_layout import lay_out
from intaglio.kernels.grammar.walk_masks import GrammarStates, GrammarWalker
from intaglio.kernels.sample.logits_pipeline import TokenSampler
from intaglio.kernels.sampling_contracts import Draw, SampleArgs
from torch import Tensor

from tests.support.tokens import data, large

WIDTH = 151_936
BATCHES = (1, 32, 256, 1024)


@dataclass(frozen=True)
class Snapshot:
    """Where sequences stood, and how many tokens were legal there."""

    states: Tensor
    depths: Tensor
    stacks: Tensor
    slots: Tensor
    legal: Tensor


def schemas() -> list[str]:
    lines = data("workloads", "extract512.jsonl").read_text().splitlines()
    return sorted({json.dumps(json.loads(line)["schema"]) for line in lines})


def legal_counts(masks: Tensor) -> Tensor:
    bits = (masks[:, :, None] >> torch.arange(32, device=masks.device)) & 1
    return bits.sum((1, 2))


def outputs(walker: GrammarWalker, states: GrammarStates, rows: Tensor, steps: int) -> Snapshot:
    """Random outputs of all rows, drawn from random logits, and every place they came through."""
    picker = TokenSampler(rows.device, len(rows))
    masks = torch.empty((len(rows), WIDTH // 32), dtype=torch.int32, device=rows.device)
    parts: list[Snapshot] = []
    for _ in range(steps):
        walker.walk(states, rows, masks)
        parts.append(
            Snapshot(
                states.states.clone(),
                states.depths.clone(),
                states.stacks.clone(),
                states.slots.clone(),
                legal_counts(masks),
            )
        )
        logits = torch.randn(len(rows), WIDTH, device=rows.device)
        keys = torch.randint(0, 2**32, (len(rows), 2), device=rows.device)
        draw = Draw(torch.ones(len(rows), device=rows.device), keys)
        walker.advance(
            states, rows, picker.sample(logits, SampleArgs(WIDTH, masks, draw=draw)).tokens
        )
    joined = [torch.cat([getattr(p, name) for p in parts]) for name in Snapshot.__annotations__]
    return Snapshot(*joined)


def microseconds(call: Callable[[], object], replays: int = 30) -> float:
    """Median time of one call in a graph of eight."""
    call()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(8):
            call()
    times: list[float] = []
    for _ in range(replays):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        graph.replay()
        end.record()
        end.synchronize()
        times.append(begin.elapsed_time(end) * 1e3 / 8)
    return statistics.median(times[2:])


Saved = tuple[Tensor, Tensor]


def _restore(states: GrammarStates, saved: Saved) -> None:
    states.states.copy_(saved[0])
    states.depths.copy_(saved[1])


def _advance(
    walker: GrammarWalker, states: GrammarStates, rows: Tensor, tokens: Tensor, saved: Saved
) -> None:
    _restore(states, saved)
    walker.advance(states, rows, tokens)


def measure(walker: GrammarWalker, seen: Snapshot) -> list[dict[str, object]]:
    device = seen.states.device
    cases = {
        "any place": seen.legal > 0,
        "over 50,000 legal": seen.legal > 50_000,
        "at most 100 legal": (seen.legal > 0) & (seen.legal <= 100),
    }
    rows_of = []
    for name, wanted in cases.items():
        which = torch.nonzero(wanted)[:, 0].cpu().tolist()
        dice = random.Random(1)
        for batch in BATCHES:
            chosen = torch.tensor(dice.choices(which, k=batch), device=device)
            states = GrammarStates(batch, device)
            for field in ("states", "depths", "stacks", "slots"):
                getattr(states, field).copy_(getattr(seen, field)[chosen])
            rows = torch.arange(batch, dtype=torch.int32, device=device)
            masks = torch.empty((batch, WIDTH // 32), dtype=torch.int32, device=device)
            walk = microseconds(partial(walker.walk, states, rows, masks))
            rows_of.append(
                {
                    "places": name,
                    "batch": batch,
                    "mean_legal": round(float(seen.legal[chosen].float().mean())),
                    "walk_us": round(walk, 2),
                    "us_a_sequence": round(walk / batch, 3),
                }
            )
            if name == "any place":
                walker.walk(states, rows, masks)
                keys = torch.randint(0, 2**32, (batch, 2), device=device)
                args = SampleArgs(WIDTH, masks, draw=Draw(torch.ones(batch, device=device), keys))
                tokens = TokenSampler(device, batch).sample(
                    torch.randn(batch, WIDTH, device=device), args
                )
                saved = (states.states.clone(), states.depths.clone())
                took = microseconds(
                    partial(_advance, walker, states, rows, tokens.tokens, saved)
                ) - microseconds(partial(_restore, states, saved))
                rows_of[-1]["advance_us"] = round(took, 2)
    return rows_of


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    torch.manual_seed(0)
    device = torch.device("cuda")
    known = large().vocabulary(WIDTH)
    arena = GrammarArena(device)
    walker = GrammarWalker(arena, lay_out(known.tokens, known.end_ids, WIDTH, device), max(BATCHES))
    states = GrammarStates(256, device)
    tables = [export(Language(read(schema), Options()).root) for schema in schemas()]
    for row in range(256):
        mine = tables[row % len(tables)]
        assert isinstance(mine, DeviceTables)
        slot = arena.load(row % len(tables), mine)
        assert slot is not None
        states.place(row, slot, *arena.configuration(slot, mine.start, ()))
    seen = outputs(walker, states, torch.arange(256, dtype=torch.int32, device=device), 48)
    rows = measure(walker, seen)
    for figures in rows:
        print(" ".join(f"{value!s:>18}" for value in figures.values()))
    if options.out:
        name = torch.cuda.get_device_name()
        options.out.write_text(json.dumps({"device": name, "rows": rows}, indent=1) + "\n")


if __name__ == "__main__":
    main()
