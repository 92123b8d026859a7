"""Drives a runner by hand-made plans: a scheduler without judgement, so that any order of work can be tried."""

import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import torch
from intaglio.engine.plan import Admitted, Masks, Plan, SampledToken, Work
from intaglio.engine.run.kv import KVCache
from intaglio.engine.run.runner import ModelRunner
from intaglio.engine.types import PromptImage, SamplingParams
from intaglio.grammar.api import empty_rows
from intaglio.kernels.contracts import NULL_BLOCK

GREEDY = SamplingParams(temperature=0)


def no_masks() -> Masks:
    return Masks(empty_rows(0, 1), {})


def null_is_clean(cache: KVCache) -> bool:
    """Whether nothing was ever written into the null block."""
    return not any(layer[:, NULL_BLOCK].any() for layer in cache.layers)


@dataclass
class Job:
    """One sequence: what it was asked, and what came of it. `logits` has one row a sample."""

    prompt: tuple[int, ...]
    outputs: int
    sampling: SamplingParams = GREEDY
    images: tuple[PromptImage, ...] = ()
    tokens: list[int] = field(default_factory=list)
    computed: int = 0
    blocks: list[int] = field(default_factory=list)
    others: list[list[int]] = field(default_factory=list)
    running: bool = False
    logits: list[torch.Tensor] = field(default_factory=list)
    samples: list[SampledToken] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.tokens = list(self.prompt)

    @property
    def done(self) -> bool:
        failed = bool(self.samples) and self.samples[-1].failure is not None
        return failed or len(self.tokens) >= len(self.prompt) + self.outputs

    @property
    def generated(self) -> list[int]:
        return self.tokens[len(self.prompt) :]


@dataclass
class Driver:
    """`chunk` bounds the tokens of one work, `budget` those of a step. `preempt` is the chance that one gives way in a
    step, `join` the chance that a waiting one comes in. `masks` makes the rows of a step. `groups`: the block groups of
    the runner; all blocks are kept.
    """

    runner: ModelRunner
    chunk: int = 10**6
    budget: int = 10**6
    preempt: float = 0.0
    join: float = 1.0
    seed: int = 0
    masks: Callable[[Mapping[int, Job], Plan], Masks] | None = None
    groups: int = 1

    def run(self, jobs: list[Job]) -> list[Job]:
        """Run all jobs to their end, together."""
        dice = random.Random(self.seed)
        free = list(range(1, self.runner.cache.num_blocks))
        dice.shuffle(free)  # a sequence's blocks are anywhere
        by_id = dict(enumerate(jobs))
        released: list[int] = []
        steps = 0
        while not all(job.done for job in jobs):
            steps += 1
            works, admitted = [], []
            left = min(self.budget, self.runner.limits.max_batched_tokens)
            for seq_id, job in by_id.items():
                if job.done or not left:
                    continue
                if job.running and dice.random() < self.preempt:
                    self._release(seq_id, job, free, released)
                    continue
                if not job.running and dice.random() < self.join:
                    job.running = True
                    job.blocks = self._blocks(len(job.tokens), free)
                    job.others = [
                        self._blocks(len(job.tokens), free) for _ in range(self.groups - 1)
                    ]
                    admitted.append(
                        Admitted(
                            seq_id,
                            tuple(job.tokens),
                            len(job.prompt),
                            tuple(job.blocks),
                            job.sampling,
                            images=job.images,
                            other_tables=tuple(map(tuple, job.others)),
                        )
                    )
                if job.running:
                    work = self._work(seq_id, job, min(self.chunk, left), free)
                    left -= len(work.tokens)
                    works.append(work)
            if not works:
                continue
            plan = Plan(steps, tuple(admitted), tuple(works), tuple(released))
            released.clear()
            self._step(plan, by_id, free, released)
        if released:
            for seq_id in released:
                self.runner.forget(seq_id)
        self.runner.check()
        return jobs

    def _logits(self, hidden: torch.Tensor) -> list[torch.Tensor]:
        with torch.inference_mode():
            return [row.clone() for row in self.runner.decoder.logits(hidden).float()]

    def _step(
        self, plan: Plan, by_id: dict[int, Job], free: list[int], released: list[int]
    ) -> None:
        handle = self.runner.forward(plan)
        masks = no_masks() if self.masks is None else self.masks(by_id, plan)
        rows = [] if handle.hidden is None else self._logits(handle.hidden)
        self.runner.sample(handle, masks)
        sampled = self.runner.sampled(handle)
        wanting = [work for work in plan.works if work.logits]
        assert [sample.seq_id for sample in sampled.samples] == [work.seq_id for work in wanting]
        for work in plan.works:
            by_id[work.seq_id].computed += len(work.tokens)
        for row, sample in zip(rows, sampled.samples, strict=False):
            job = by_id[sample.seq_id]
            job.logits.append(row)
            job.samples.append(sample)
            job.tokens += sample.tokens
            if job.done:
                self._release(sample.seq_id, job, free, released)

    def _work(self, seq_id: int, job: Job, most: int, free: list[int]) -> Work:
        end = min(len(job.tokens), job.computed + most)
        new = self._blocks(end, free, held=len(job.blocks))
        added = [self._blocks(end, free, held=len(job.blocks)) for _ in job.others]
        job.blocks += new
        for others, more in zip(job.others, added, strict=True):
            others += more
        return Work(
            seq_id,
            job.computed,
            tuple(job.tokens[job.computed : end]),
            tuple(new),
            logits=int(end == len(job.tokens)),
            other_blocks=tuple(map(tuple, added)),
        )

    def _blocks(self, tokens: int, free: list[int], held: int = 0) -> list[int]:
        need = -(-tokens // self.runner.cache.block_size) - held
        return [free.pop() for _ in range(max(need, 0))]

    def _release(self, seq_id: int, job: Job, free: list[int], released: list[int]) -> None:
        free[:0] = [block for table in (job.blocks, *job.others) for block in table]
        job.blocks, job.computed, job.running = [], 0, False
        released.append(seq_id)
