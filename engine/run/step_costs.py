"""Measures what steps of one sequence cost on this device, by their number of tokens.

Does: run steps of growing size on a ready runner, and take the fastest of some of each size. Does not: decide anything
by the costs (`engine/drafts/lengths.py`).
"""

import time
from collections.abc import Callable, Sequence
from typing import Final

from intaglio.grammar.api import empty_rows

from ..plan import Admitted, Masks, Plan, StepCosts, Work
from ..types import SamplingParams
from .runner import ModelRunner

SIZES: Final = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64)
CONTEXT: Final = 256  # tokens before the measured ones, where the cache holds so many
TRIES: Final = 3  # other processes only ever make a step slower

_SEQ_ID: Final = -2


def measured_costs(
    runner: ModelRunner,
    sizes: Sequence[int] = SIZES,
    clock: Callable[[], float] = time.perf_counter,
) -> StepCosts:
    """The costs of steps with one row of logits for each of their tokens, in seconds of `clock`.

    No sequence may run. Sizes that do not fit a step or the cache are left out; the size of 1 token is always measured.
    """
    limits, cache = runner.limits, runner.cache
    room = min(limits.max_context, (cache.num_blocks - 1) * cache.block_size)
    most = max(1, min(room // 2, limits.max_batched_tokens, limits.max_running))
    kept = tuple(size for size in sizes if size <= most)
    context = min(CONTEXT, limits.max_batched_tokens, room - kept[-1])
    prompt = (0,) * max(1, context)
    blocks = tuple(range(1, -(-(len(prompt) + kept[-1]) // cache.block_size) + 1))
    admitted = Admitted(_SEQ_ID, prompt, len(prompt), blocks, SamplingParams(temperature=0))
    _run(runner, Plan(0, (admitted,), (Work(_SEQ_ID, 0, prompt, logits=1),)))
    found = []
    for size in kept:
        plan = Plan(0, (), (Work(_SEQ_ID, len(prompt), (0,) * size, logits=size),))
        seconds = []
        for _ in range(TRIES):
            began = clock()
            _run(runner, plan)
            seconds.append(clock() - began)
        found.append((size, min(seconds)))
    runner.forget(_SEQ_ID)
    return StepCosts(tuple(found), longest=kept[-1])


def _run(runner: ModelRunner, plan: Plan) -> None:
    handle = runner.forward(plan)
    runner.sample(handle, Masks(empty_rows(0, 1), {}))
    runner.sampled(handle)
