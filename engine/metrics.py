"""The counters and timings of the engine.

Does: count and time. Does not: decide; no logic reads these numbers.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from msgspec import Struct

from .expert_counts import NO_EXPERTS, ExpertCounts
from .image_counts import ImageCounts
from .memory.offload import NOT_OFFLOADED, OffloadCounts
from .plan import Plan
from .schedule.drafting import NOT_DRAFTED, DraftCounts
from .schedule.engine_load import Load
from .types import Delta, Finish

T = TypeVar("T")

COUNTED = ("steps", "computed", "prompt", "cached", "output", "forced", "passes")

PARTS = ("deliver", "plan", "forward", "mask", "sample", "advance", "commit", "tell")


class Stopwatch:
    """Seconds of one step by part: `lap(part, value)` adds the time since the last lap to `part`; returns `value`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._last = clock()
        self.seconds = dict.fromkeys(PARTS, 0.0)

    def __call__(self, part: str, value: T) -> T:
        now = self._clock()
        self.seconds[part] += now - self._last
        self._last = now
        return value


class StepRecord(Struct, frozen=True):
    """One step that computed something: the number of its plan, tokens, sequences, sampled rows, and seconds by
    part."""

    step: int
    tokens: int
    sequences: int
    sampled: int
    seconds: dict[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """All counters since the start, as plain numbers, strings and dicts, which any protocol can carry.

    `computed_tokens` counts tokens recomputed after a preemption again. `cached_tokens` counts the tokens among
    `prompt_tokens` that were found in the prefix cache. `passes` counts the sequences of each step that sampled: output
    tokens over passes is what drafts and forced tokens gain. `images` is None for a model that reads none. `seconds` is
    by part of the step (`PARTS`).
    """

    steps: int
    computed_tokens: int
    prompt_tokens: int
    cached_tokens: int = 0
    output_tokens: int
    forced_tokens: int
    preemptions: int
    most_sequences: int
    finished: dict[str, int]
    seconds: dict[str, float]
    parked: int
    waiting: int
    running: int
    blocks: int
    free_blocks: int
    last_step: StepRecord | None
    passes: int = 0
    drafts: DraftCounts = NOT_DRAFTED
    offloaded: OffloadCounts = NOT_OFFLOADED
    images: ImageCounts | None = None
    experts: ExpertCounts = NO_EXPERTS


class Metrics:
    """Counters of one engine. Written by its loop; `snapshot` may be called from any thread."""

    def __init__(
        self, load: Load, experts: Callable[[], ExpertCounts] = lambda: NO_EXPERTS
    ) -> None:
        self._experts = experts
        # All keys from the start: a dict that never grows can be copied while it is written.
        self._counts = dict.fromkeys(COUNTED, 0)
        self._finished = dict.fromkeys((finish.value for finish in Finish), 0)
        self._seconds = dict.fromkeys(PARTS, 0.0)
        self._most_sequences = 0
        self._load = load
        self._last: StepRecord | None = None

    def record(self, plan: Plan, deltas: list[Delta], watch: Stopwatch, load: Load) -> None:
        """Count one step."""
        self._load = load
        for part, seconds in watch.seconds.items():
            self._seconds[part] += seconds
        self.count_finished(deltas)
        if not plan.works:
            return
        record = StepRecord(
            step=plan.step,
            tokens=plan.token_count,
            sequences=len(plan.works),
            sampled=sum([work.logits for work in plan.works]),
            seconds=watch.seconds,
        )
        self._counts["steps"] += 1
        self._counts["computed"] += record.tokens
        self._counts["passes"] += sum([work.logits > 0 for work in plan.works])
        self._most_sequences = max(self._most_sequences, record.sequences)
        self._last = record

    def count_finished(self, deltas: list[Delta]) -> None:
        """Count the requests that end in `deltas`, and their tokens."""
        for delta in deltas:
            if delta.finish is None:
                continue
            self._finished[delta.finish.value] += 1
            if delta.usage is not None:
                self._counts["prompt"] += delta.usage.prompt_tokens
                self._counts["cached"] += delta.usage.cached_tokens
                self._counts["output"] += delta.usage.output_tokens
                self._counts["forced"] += delta.usage.forced_tokens

    def snapshot(self, images: ImageCounts | None = None) -> Snapshot:
        """The counters of now, with those of images. The tokens of a request are counted when it ends."""
        counts, load = self._counts, self._load
        return Snapshot(
            steps=counts["steps"],
            computed_tokens=counts["computed"],
            prompt_tokens=counts["prompt"],
            cached_tokens=counts["cached"],
            output_tokens=counts["output"],
            forced_tokens=counts["forced"],
            preemptions=load.preemptions,
            most_sequences=self._most_sequences,
            finished=dict(self._finished),
            seconds=dict(self._seconds),
            parked=load.parked,
            waiting=load.waiting,
            running=load.running,
            blocks=load.blocks,
            free_blocks=load.free_blocks,
            last_step=self._last,
            passes=counts["passes"],
            drafts=load.drafts,
            offloaded=load.offloaded,
            images=images,
            experts=self._experts(),
        )
