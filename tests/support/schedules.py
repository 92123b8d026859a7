"""Random workloads, the control plane to run them on, and the checks of their outputs.

Does: make a workload from a seed, drive the real engine through it step by step over scripted parts, and compare every
request with the plain engine. Does not: plant faults in the engine; tests do.
"""

import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any, ParamSpec, TypeVar

from intaglio.engine.config import SchedulerConfig
from intaglio.engine.drafts.document import DocumentSource
from intaglio.engine.drafts.drafted_or_ahead import DraftedOrAhead
from intaglio.engine.drafts.earlier_answers import RowsSource
from intaglio.engine.drafts.lengths import DraftLengths
from intaglio.engine.drafts.likely import LikelySource
from intaglio.engine.drafts.pipeline_seconds import PipelineSeconds
from intaglio.engine.drafts.proposals import Proposals
from intaglio.engine.drafts.source import DraftSource, Guess
from intaglio.engine.drafts.verified_steps import VerifiedSteps
from intaglio.engine.executor import Executor
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.loop import Engine
from intaglio.engine.memory.block_groups import BlockGroups
from intaglio.engine.memory.disk_tier import DiskTier
from intaglio.engine.memory.host_tier import HostTier
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.offload import Offload
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.memory.swap import TransferRule
from intaglio.engine.pipeline import OneAhead, Pipeline, Serial
from intaglio.engine.plan import Forced, SampledBatch, StepCosts
from intaglio.engine.ranks import rank_messages
from intaglio.engine.ranks.staged_executor import StagedExecutor
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.batch_sizing import BatchSizer
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.schedule.stage_turns import StageTurns
from intaglio.engine.sequence import Sequence
from intaglio.engine.staged_pipeline import Staged
from intaglio.engine.types import Delta, Finish, Request, SamplingParams
from intaglio.grammar.api import empty_rows

from . import plain_engine
from .cell_contents import CellContents
from .late_executor import LateExecutor
from .order_of_service import OrderOfService, WrongError, insist
from .scripted import (
    END_TOKENS,
    FAULTS,
    TEXT,
    VOCAB,
    Script,
    ScriptedCompiler,
    ScriptedExecutor,
    Seen,
)

P = ParamSpec("P")
T = TypeVar("T")

STEP_LIMIT = 4000
ADDED = (
    "steps",
    "requests",
    "partial",
    "preemptions",
    "forced",
    "constrained",
    "ahead",
    "in_flight",
    "queued",
    "cached",
    "fetched",
    "left_out",
    "drafted",
    "accepted",
    "waits",
    "yielded",
)


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class WatchedBatchSizer(BatchSizer):
    """Checks that some sequence advances in each step, and that none is left out of two consecutive steps."""

    def __init__(self, costs: StepCosts | None) -> None:
        super().__init__(costs, least=0.5)  # with few sequences none is a quarter
        self.left_out = 0
        self._before: set[int] = set()

    def of(self, running: Iterable[Sequence]) -> list[Sequence]:
        everyone = list(running)
        going = super().of(everyone)
        numbers = [seq.id for seq in going]
        insist(bool(going) >= bool(everyone), "no sequence advances")
        insist(numbers == [seq.id for seq in everyone if seq.id in numbers], "out of order")
        left_out = {seq.id for seq in everyone} - set(numbers)
        insist(not left_out & self._before, "a sequence was left out of two consecutive steps")
        self.left_out += len(left_out)
        self._before = left_out
        return going


@dataclass(frozen=True)
class Workload:
    """A control plane's sizes, and the requests that arrive before each step. `costs`: see `BatchSizer`."""

    seed: int
    block_size: int
    num_blocks: int
    config: SchedulerConfig
    arrivals: tuple[tuple[int, Request], ...]
    p_abort: float
    p_compiled: float
    costs: StepCosts | None = None

    @property
    def longest(self) -> int:
        """The most tokens that a request computes."""
        return max(len(r.prompt) + r.sampling.max_tokens - 1 for _, r in self.arrivals)

    @classmethod
    def of(cls, seed: int) -> "Workload":
        """A workload with small pools, small budgets and all features at once."""
        rng = Random(seed)
        block_size = rng.randint(1, 5)
        calm = rng.random() < 0.3
        arrivals, step = [], 0
        longest = rng.choice((3, 12, 24))  # short prompts grow out of their room while they run
        for number in range(rng.randint(1, 10)):
            arrivals.append((step, _request(rng, f"r{number}", longest)))
            step += rng.choice((0, 0, 0, 1, 3, 9))
        most = max(len(r.prompt) + r.sampling.max_tokens - 1 for _, r in arrivals)
        fit = -(-most // block_size)
        config = SchedulerConfig(
            max_batched_tokens=rng.randint(1, 16),
            max_running=rng.randint(1, 8),
            max_waiting=rng.choice((2, *(50,) * 7)),
            ageing_s=rng.choice((0.0, 1.0, 10.0)),
            max_preemptions=rng.choice((0, 1, 3, 20, 20)),
        )
        return cls(
            seed=seed,
            block_size=block_size,
            num_blocks=1 + max(1, fit + rng.choice((-1, 0, 0, 1, 1, 2, 2, 4, fit))),
            config=config,
            arrivals=tuple(arrivals),
            p_abort=0.0 if calm else rng.choice((0.0, 0.02, 0.1)),
            p_compiled=rng.choice((0.1, 0.5, 1.0)),
            costs=made_up_costs(rng) if seed % 5 else None,
        )


def made_up_costs(rng: Random) -> StepCosts:
    """Costs of a device on which one more token often costs as much as all others."""
    seconds, costs = 1e-3, []
    for size in range(1, 17):
        costs.append((size, seconds))
        seconds *= rng.choice((1, 2))
    return StepCosts(tuple(costs), longest=rng.choice((2, 8)))


def _request(rng: Random, name: str, longest: int) -> Request:
    max_tokens = rng.randint(1, 24)
    script = None
    if rng.random() < 0.5:
        script = Script(rng.randrange(1 << 20), rng.randint(0, 20), rng.random() < 0.6)
        if rng.random() < 0.15:
            fault = rng.choice((*FAULTS, "compile"))
            script = replace(script, tells_least=False, fault=fault, at=rng.randrange(max_tokens))
    faulty = script is not None and script.fault
    # A generator of its own, so that the workloads of a seed stay as they were.
    service = Random(f"{name} {max_tokens} {script}")
    return Request(
        id=name,
        prompt=_prompt(rng, longest),
        sampling=SamplingParams(
            max_tokens=max_tokens,
            ignore_eos=rng.random() < 0.5,
            stop_token_ids=(rng.choice(TEXT),) if rng.random() < 0.2 and not faulty else (),
            seed=rng.randrange(max_tokens) if rng.random() < 0.05 else None,
            logprobs=0 if rng.random() < 0.1 else None,
            presence_penalty=0.5 * (max_tokens % 5 == 0),  # its draws wait for the tokens before
        ),
        constraint=None if script is None else script.constraint,
        priority=rng.randint(-2, 2),
        deadline=rng.choice((0.5, 3.0, 60.0)) if rng.random() < 0.2 else None,
        cache_salt=rng.choice(("", "", "other")),
        tenant=service.choice(("", "", "a", "b")),
        weight=service.choice((1.0, 1.0, 4.0)),
        bulk=service.random() < 0.3,
    )


def _prompt(rng: Random, longest: int) -> tuple[int, ...]:
    """Often the beginning of one of two texts, so that prompts share some of it."""
    own = [rng.choice(TEXT) for _ in range(rng.randint(1, longest))]
    shared = Random(rng.randrange(2)).choices(TEXT, k=rng.randint(0, len(own)))
    return tuple(shared + own[len(shared) :])


@dataclass
class Tally:
    """Counts of the events in a run."""

    steps: int = 0
    requests: int = 0
    partial: int = 0
    preemptions: int = 0
    forced: int = 0
    constrained: int = 0
    ahead: int = 0
    cached: int = 0
    fetched: int = 0
    left_out: int = 0
    drafted: int = 0
    accepted: int = 0
    waits: int = 0
    in_flight: int = 0
    queued: int = 0
    yielded: int = 0
    most_works: int = 0
    ends: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Tally") -> None:
        for name in ADDED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.most_works = max(self.most_works, other.most_works)
        self.ends += other.ends


class CountedConstraints(Constraints):
    """Constraints that count how often an output waited for a step."""

    waits = 0

    def advance(self, sampled: SampledBatch) -> Forced:
        forced = super().advance(sampled)
        self.waits += len(forced.waiting)
        return forced


class FortuneTeller:
    """A source of drafts that knows the rest of each output, and sometimes proposes wrong tokens."""

    name = "fortune"
    chances = tuple(at / 20 for at in range(20))

    def __init__(self, run: "Run") -> None:
        self._run = run
        self._rng = Random(run.workload.seed ^ 0xF0)
        self._futures: dict[int, tuple[int, ...]] = {}

    def guess(self, seq: Sequence, most: int, /) -> Guess | None:
        insist(seq is self._run.scheduler._sequences[seq.id], "a stale sequence is drafted")
        future = self._futures.setdefault(seq.id, plain_engine.run(seq.request).tokens)
        rest = list(future[seq.output_tokens :][:most])
        while self._rng.random() < 0.3 and rest:
            rest[self._rng.randrange(len(rest))] = self._rng.randrange(VOCAB)
        return Guess(tuple(rest), tuple(self._rng.randrange(20) for _ in rest))

    def verified(self, seq_id: int, drafted: int, accepted: int, /) -> None:
        insist(0 <= accepted <= drafted and seq_id in self._futures, "drafts that were never made")

    def forget(self, seq: Sequence, _finish: Finish, /) -> None:
        self._futures.pop(seq.id, None)


class NotingRanks:
    """The other stages, which count the plans that they get while the last one has others. See `RankOrders`."""

    def __init__(self, seen: Seen) -> None:
        self._seen = seen
        self._plans = 0
        self.in_flight = 0

    def send(self, frames: list[bytes]) -> None:
        order = rank_messages.order(frames[0])
        insist(isinstance(order, rank_messages.PassOrder), f"{order} is not for a stage")
        self.in_flight += self._plans > self._seen.steps
        self._plans += 1

    def guard(self, call: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        return call(*args, **kwargs)


def small_tiers(executor: ScriptedExecutor, folder: Path, workload: Workload) -> Offload:
    """Tiers for a few blocks each."""
    contents = CellContents(executor, workload.block_size, Random(workload.seed ^ 0xCE))
    host = HostTier(contents.block_bytes * (2 + workload.seed % 20))
    disk = DiskTier(folder, (contents.block_bytes + 64) * 40)
    return Offload(contents, workload.block_size, host, disk, TransferRule())


class Run:
    """One workload on one engine."""

    def __init__(
        self,
        workload: Workload,
        *,
        overlap: bool = False,
        prefix: bool = False,
        drafts: bool = False,
        waits: bool = False,
        tiers: Path | None = None,
        stages: int = 0,
        ahead: bool = False,
        windows: tuple[int | None, ...] = (None,),
    ) -> None:
        """`waits`: the search for the end of an output takes two steps. `tiers`: a folder for a disk below the cache of
        prefixes, and a host tier of a few blocks above it. `stages`: so many steps are in flight, of a last stage that
        computes as late as it may with `ahead`. `windows`: those of the block groups; the pool has as many blocks more
        than its longest request needs as without."""
        self.workload = workload
        self.clock = Clock()
        self.rng = Random(workload.seed ^ 0x5EED)
        size, most_step = workload.block_size, workload.config.max_batched_tokens
        self.groups = BlockGroups(size, windows, most_step)
        num_blocks = workload.num_blocks + self.groups.needed(workload.longest)
        num_blocks = max(2, num_blocks - -(-workload.longest // size))
        pool = BlockPool(num_blocks)
        # Names of one byte: most beginnings share theirs with others.
        cache = None
        if prefix:
            cache = PrefixCache(size, self.groups)
        self.executor = ScriptedExecutor(
            num_blocks, size, most_step, strict=not overlap, windows=windows
        )
        self.offload = None if tiers is None else small_tiers(self.executor, tiers, workload)
        self.manager = KVManager(pool, size, cache, self.offload, groups=self.groups)
        limits = RequestLimits(max_context=256, vocab_size=VOCAB, end_tokens=END_TOKENS)
        self.portions = WatchedBatchSizer(workload.costs)
        self.compiler = ScriptedCompiler()
        self.constraints = constraints = CountedConstraints(
            self.compiler,
            end_tokens=END_TOKENS,
            rows=empty_rows(2 * workload.config.max_running, VOCAB),
            search_s=0.0 if waits else math.inf,
        )
        proposals = None
        if drafts:
            slope = self.rng.random() / 64
            lengths = DraftLengths(lambda tokens: 1.0 + slope * tokens)
            sources: list[DraftSource] = [FortuneTeller(self), DocumentSource(), RowsSource(64)]
            sources.append(LikelySource(constraints.ahead, [b"x"] * VOCAB, VOCAB))
            proposals = Proposals(sources, lengths, constraints)
        sizer = StageTurns(stages) if stages else self.portions
        self.scheduler = Scheduler(
            workload.config, self.manager, limits, self.clock, sizer, proposals
        )
        pipeline: Callable[[Scheduler, Constraints, Executor[Any]], Pipeline]
        pipeline = OneAhead if overlap else Serial
        if proposals is not None:
            pipeline = partial(VerifiedSteps, proposals=proposals)
            if overlap:
                seconds = PipelineSeconds(slope)
                pipeline = partial(
                    DraftedOrAhead, plain=OneAhead, proposals=proposals, seconds=seconds
                )
        executor: Executor[Any] = self.executor
        self.ranks = NotingRanks(self.executor.seen)
        self.late = LateExecutor(self.executor)
        if stages:
            pipeline = partial(Staged, batches=stages, ahead=ahead)
            last: Executor[Any] = self.late if ahead else self.executor
            executor = StagedExecutor(last, self.ranks)
        self.engine = Engine(self.scheduler, constraints, executor, self.clock, pipeline=pipeline)
        self.requests: dict[str, Request] = {}
        self.arrived: dict[str, float] = {}
        self.aborted: set[str] = set()
        self.deltas: dict[str, list[Delta]] = {}
        self.order = OrderOfService(self.scheduler)

    def go(self) -> Tally:
        """Drive the workload to its end and judge every step and every request.

        Raises:
            WrongError: something differs from the plain engine, or a request is lost, or the engine stands still.
            EngineError: an invariant does not hold, or the engine stopped.
        """
        arrivals = list(self.workload.arrivals)
        for step in range(STEP_LIMIT):
            while arrivals and arrivals[0][0] <= step:
                request = arrivals.pop(0)[1]
                self.requests[request.id] = request
                self.deltas[request.id] = []
                self.engine.submit(request)
            if not (arrivals or self.engine.open_requests or self.engine.has_work):
                break
            self._disturb()
            self._step()
        else:
            raise WrongError(f"{self.engine.open_requests} requests never ended")
        insist(self.manager.free_blocks == self.manager.blocks, "blocks were lost")
        self._sweep()
        for name, request in self.requests.items():
            self._judge(name, request)
        snapshot = self.engine.metrics()
        insist(sum(snapshot.finished.values()) == len(self.requests), "ends were miscounted")
        return Tally(
            steps=self.executor.seen.steps,
            requests=len(self.requests),
            partial=self.executor.seen.partial,
            preemptions=snapshot.preemptions,
            forced=snapshot.forced_tokens,
            constrained=sum(r.constraint is not None for r in self.requests.values()),
            most_works=self.executor.seen.most_works,
            ahead=self.executor.seen.ahead,
            cached=snapshot.cached_tokens,
            fetched=snapshot.offloaded.decided.get("fetch_host", 0),
            left_out=self.portions.left_out,
            drafted=sum(snapshot.drafts.drafted.values()),
            accepted=sum(snapshot.drafts.accepted.values()),
            waits=self.constraints.waits,
            in_flight=self.ranks.in_flight,
            queued=self.late.queued,
            yielded=self.order.yielded,
            ends=+Counter(snapshot.finished),
        )

    def _sweep(self) -> None:
        """One more request: the engine still works, and the executor is told to forget all those before it."""
        last = Request(id="last", prompt=(2,), sampling=SamplingParams(max_tokens=1))
        self.requests["last"], self.deltas["last"] = last, []
        self.engine.submit(last)
        while self.engine.open_requests:
            self._step()
        insist(self.executor.remembered == 1, f"{self.executor.remembered} sequences remembered")

    def _disturb(self) -> None:
        """Let time pass, abort some requests, complete some grammars."""
        rng = self.rng
        self.clock.now += rng.choice((0.01, 0.1, 0.5))
        if rng.random() < self.workload.p_abort:
            name = rng.choice(list(self.requests))
            self.aborted.add(name)
            self.engine.abort(name)
        if self.compiler.under_way and rng.random() < self.workload.p_compiled:
            self.compiler.finish(rng.randrange)

    def _step(self) -> None:
        for name in self.requests.keys() - self.arrived.keys():
            self.arrived[name] = self.clock.now
        self.order.before()
        deltas = self.engine.step()
        self.order.after()
        for delta in deltas:
            told = self.deltas[delta.request_id]
            insist(not (told and told[-1].finish), f"{delta.request_id} went on after its end")
            insist(delta.finish is None or delta.usage is not None, "an end without usage")
            told.append(delta)
        self.engine.check()
        for name, told in self.deltas.items():
            deadline = self.requests[name].deadline
            late = deadline is not None and self.clock.now >= self.arrived[name] + deadline
            insist(
                not late or (told != [] and told[-1].finish is not None),
                f"{name} outlived its deadline",
            )

    def _judge(self, name: str, request: Request) -> None:
        """Check that a request has exactly one end, and the plain engine's tokens up to it."""
        told = self.deltas[name]
        insist(sum(d.finish is not None for d in told) == 1, f"{name} did not end once")
        end = told[-1]
        assert end.finish is not None
        tokens = tuple(token for delta in told for token in delta.tokens)
        right = plain_engine.outcomes(request)
        code = end.error.code if end.error else ""
        got = (name, self.workload.seed, tokens, end.finish, code)
        if request.sampling.logprobs is not None:
            count = sum(len(delta.logprobs) for delta in told)
            insist(count <= len(tokens), f"{got}: {count} logprobs")
        if end.finish is Finish.ABORT:
            insist(name in self.aborted, f"{got}: nobody asked")
        elif end.finish is Finish.DEADLINE:
            insist(request.deadline is not None, f"{got}: no deadline")
        elif code in ("queue_full", "context_length_exceeded"):
            insist(tokens == () and self._may_refuse(request, code), got)
        elif code == "numerical_error":
            insist(request.sampling.seed is not None, got)
        elif code == "internal_error":
            insist(any(one.code == code for one in right), (got, right))
        else:
            insist(plain_engine.Outcome(tokens, end.finish, code) in right, (got, right))
        insist(any(tokens == one.tokens[: len(tokens)] for one in right), (got, right))
        self._judge_usage(end, len(tokens), request)

    def _may_refuse(self, request: Request, code: str) -> bool:
        if code == "queue_full":
            return self.workload.config.max_waiting < len(self.requests)
        need = len(request.prompt) + request.sampling.max_tokens - 1
        return self.groups.needed(need) > self.manager.blocks

    @staticmethod
    def _judge_usage(end: Delta, shown: int, request: Request) -> None:
        usage = end.usage
        assert usage is not None
        insist(usage.prompt_tokens == len(request.prompt), usage)
        insist(usage.output_tokens == shown + (end.finish is Finish.STOP), (usage, shown))
        insist(usage.forced_tokens <= usage.output_tokens, usage)
        insist(usage.output_tokens <= request.sampling.max_tokens, usage)
        insist(min(usage.queue_s, usage.prefill_s, usage.decode_s) >= 0, usage)
