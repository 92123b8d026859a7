"""Values that are no numbers, planted in a running engine: one request fails, and no other changes, then or later.

`python -m tests.property.numerical_faults --faults 1000`; `test_numerical_faults` plants some. A fault is NaN or an
infinity in the hidden state of one sequence, or in a block of keys and values that only one sequence uses. The engine
is deterministic, so that every other request must have exactly the tokens that it has alone; and the request that
failed must have them, too, when it is sent again: nothing of the faulty blocks is found in the prefix cache.
"""

import argparse
import random
import tempfile
import time
from dataclasses import dataclass
from math import inf, nan
from pathlib import Path
from typing import Any

import torch
from intaglio.engine.loop import Engine
from intaglio.engine.run.batch import Batch
from intaglio.engine.run.runner import ModelRunner
from intaglio.engine.types import Finish, Request, SamplingParams

from tests.property import invariance
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

COMPANY = 6
PROMPTS = 40


@dataclass
class Tally:
    """The planted faults and their effects."""

    faults: int = 0
    in_memory: int = 0
    neighbours: int = 0
    again: int = 0


class Planter:
    """Wraps the executor's device, and plants one fault when armed."""

    def __init__(self, runner: ModelRunner, engine: Any, rng: random.Random) -> None:
        self._inner = runner._compute
        self._cache = runner.cache
        self._memory = engine._scheduler._memory
        self._table = engine._scheduler._sequences
        self._rng = rng
        self.armed = False
        self.victim = ""
        self.in_memory = False
        runner._compute = self

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    def hidden(self, batch: Batch) -> torch.Tensor | None:
        """The hidden states of a step, one of them corrupted if a fault is due."""
        own = self._own_block(batch) if self.armed and self._rng.random() < 0.5 else None
        if own is not None:
            seq_id, block = own
            layer = self._rng.choice(self._cache.layers)
            layer[self._rng.randrange(2), block] = nan
            self._plant(seq_id, in_memory=True)
        hidden = self._inner.hidden(batch)
        if self.armed and hidden is not None and batch.picking:
            row = self._rng.randrange(len(batch.picking))
            hidden[row, self._rng.randrange(hidden.shape[1])] = self._rng.choice((nan, inf, -inf))
            self._plant(batch.picking[row], in_memory=False)
        return hidden

    def _plant(self, seq_id: int, *, in_memory: bool) -> None:
        self.armed, self.in_memory = False, in_memory
        self.victim = self._table[seq_id].request.id

    def _own_block(self, batch: Batch) -> tuple[int, int] | None:
        """A computed block of a sequence that samples in this step, which no other sequence uses."""
        seq_id = self._rng.choice(batch.picking) if batch.picking else None
        if seq_id is None or self._table.get(seq_id) is None:
            return None
        seq, size = self._table[seq_id], self._memory.block_size
        before = len(seq.request.prompt) // size  # whole blocks, computed in an earlier step
        blocks = self._memory.table(seq)[:before] if seq.output_tokens else ()
        own = [block for block in blocks if self._memory._pool.users(block) == 1]
        return (seq_id, self._rng.choice(own)) if own else None


def plant(model: Path, seed: int, faults: int) -> Tally:
    """Plant so many faults, one in each company.

    Raises:
        AssertionError: another request was touched, or the failed one fails again.
    """
    rng, tally = random.Random(seed), Tally()
    requests = [
        Request(id=str(i), prompt=prompt, sampling=SamplingParams(max_tokens=12, temperature=0))
        for i, prompt in enumerate(invariance.random_prompts(rng, PROMPTS))
    ]
    right = {name: found[0] for name, found in invariance.alone(model, requests).items()}
    assembly = invariance.engine(model, {"num_blocks": 120, "max_running": COMPANY})
    engine = assembly.engine
    assert isinstance(engine, Engine)
    runner = engine._pipeline._executor  # type: ignore[attr-defined]
    planter = Planter(runner, engine, rng)
    try:
        while tally.faults < faults:
            company = rng.sample(requests, COMPANY)
            found, victim = _answers(engine, company, planter, rng.randint(1, 12))
            if not victim:
                continue
            tally.faults += 1
            tally.in_memory += planter.in_memory
            tokens, finish, code = found.pop(victim)
            assert (finish, code) == (Finish.ERROR, "numerical_error"), (victim, finish, code)
            assert tokens == right[victim][: len(tokens)]
            for name, (others, ended, _) in found.items():
                assert ended is not Finish.ERROR, f"{name} failed beside {victim}"
                assert others == right[name], f"{name} changed beside {victim}"
                tally.neighbours += 1
            failed = next(request for request in company if request.id == victim)
            again, _, code = _answers(engine, [failed], planter, 0)[0][victim]
            assert again == right[victim], f"{victim} is not what it was: {code}"
            tally.again += 1
    finally:
        assembly.close()
    return tally


Found = tuple[tuple[int, ...], Finish | None, str]


def _answers(
    engine: Engine, company: list[Request], planter: Planter, due: int
) -> tuple[dict[str, Found], str]:
    """Run requests together, with a fault armed at step `due` (0: none). Also returns the affected request, if any."""
    planter.victim = ""
    found: dict[str, Found] = {request.id: ((), None, "") for request in company}
    for request in company:
        engine.submit(request)
    step = 0
    while engine.open_requests:
        step += 1
        planter.armed = step == due or (planter.armed and not planter.victim)
        for delta in engine.step():
            tokens = found[delta.request_id][0] + delta.tokens
            found[delta.request_id] = tokens, delta.finish, delta.error.code if delta.error else ""
        engine.check()
    planter.armed = False
    return found, planter.victim


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--faults", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        tally = plant(write_checkpoint(Path(folder), QWEN3), asked.seed, asked.faults)
    print(f"{tally}; {time.process_time() - began:.0f} s of processor")


if __name__ == "__main__":
    main()
