"""The constraints of sequences with masks made on the device, from tables of their grammars.

Does: export grammars outside the step, decide which sequences are on the device, and give the executor the facts that
it cannot know (the grammar, and the text that it did not sample itself). Does not: walk tables (the executor does),
fill rows, or relax anything: the host follows every token of these sequences as well (`host_replay`), keeps the budget,
and refuses a token that a mask should not have allowed.

A sequence starts on the host. It moves to the device once its tables are ready and the executor has room for them, and
returns to the host for good if its stack grows too deep for a device.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from intaglio.grammar.api import Constraint, DeviceTables, HostOnly, tables_of

from ..errors import InternalError
from ..executor import GrammarHolder
from ..plan import Forced, Plan, Replay, SampledBatch, SampledToken
from ..types import Failure
from .budgeted_matcher import BudgetedMatcher
from .grammar_faults import MatcherFault, guarded
from .host_replay import HostReplay

MOST_DEPTH: Final = 128
"""Half the depth of a device's stacks: the other half is for the growth within one step."""


class Exports:
    """Exported tables by the key of their constraint, made one after the other in one thread, cached up to a size."""

    def __init__(
        self,
        limit_bytes: int = 256 << 20,
        export: Callable[[Constraint], DeviceTables | HostOnly] = tables_of,
    ) -> None:
        self._limit = limit_bytes
        self._export = export
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="export")
        self._lock = threading.Lock()
        self._kept: OrderedDict[str, Future[DeviceTables | HostOnly]] = OrderedDict()

    def submit(self, key: str, constraint: Constraint) -> Future[DeviceTables | HostOnly]:
        """The tables of a constraint with that key, as a future. Returns at once."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                self._shrink()
                found = self._kept[key] = self._pool.submit(self._tables, constraint)
            self._kept.move_to_end(key)
            return found

    def close(self) -> None:
        """End the thread; exports that have not started are cancelled."""
        self._pool.shutdown(cancel_futures=True)

    def _tables(self, constraint: Constraint) -> DeviceTables | HostOnly:
        """The result of an export. A failed one costs only speed, since masks of the host are complete.

        Its exception is not kept: the traceback would hold all objects of the export.
        """
        try:
            return guarded(self._export, constraint)
        except MatcherFault as fault:
            return HostOnly(f"the export failed: {fault.failure.message}")

    def _shrink(self) -> None:
        """Drop the least recently used tables until the rest is within the limit."""
        sizes = {key: _size(future) for key, future in self._kept.items()}
        total = sum(sizes.values())
        for key, size in sizes.items():
            if total <= self._limit:
                break
            del self._kept[key]
            total -= size


def _size(future: Future[DeviceTables | HostOnly]) -> int:
    if not future.done() or future.cancelled():
        return 0
    tables = future.result()
    return tables.nbytes if isinstance(tables, DeviceTables) else 256


class DeviceMasks(NamedTuple):
    """The sequences of a plan with masks made by the executor, and the replays that it needs first."""

    sequences: frozenset[int]
    replays: Mapping[int, Replay]


NOT_ON_DEVICE: Final = DeviceMasks(frozenset(), {})


@dataclass(slots=True)
class DeviceSequence:
    """A sequence that is on the device, or may move there.

    The executor has to replay the `pending` tokens of its output; with `must_reset`, the whole output; with
    `must_undo`, without the last sampled token, which was not kept.
    """

    key: str
    tables: Future[DeviceTables | HostOnly]
    matcher: BudgetedMatcher
    pending: list[int] = field(default_factory=list)
    must_reset: bool = True
    must_undo: bool = False


class _MaskedStep(NamedTuple):
    """A step with masks made and sampled tokens not processed yet.

    `masked`: the sequences that get a token; `followed`: those of them that the executor advances itself.
    """

    masked: set[int]
    followed: frozenset[int]


class DeviceConstraints:
    """The device's part of `Constraints`. `texts`: the bytes of each token, None for tokens without.

    While there are at most `most_on_host` sequences, none moves to the device: drafts are made for those on the host.
    """

    def __init__(
        self,
        holder: GrammarHolder,
        exports: Exports,
        *,
        end_tokens: frozenset[int],
        texts: Sequence[bytes | None],
        most_on_host: int = 0,
    ) -> None:
        self._most_on_host = most_on_host
        self._holder = holder
        self._exports = exports
        self._texts = texts
        self._replay = HostReplay(texts, end_tokens)
        self._known: dict[int, DeviceSequence] = {}
        self._on_device: set[int] = set()
        self._news: set[int] = set()  # sequences that need a replay before their next mask
        self._steps: deque[_MaskedStep] = deque()
        self._failures: dict[int, Failure] = {}  # of sequences that could not return to the host

    @property
    def sequences(self) -> Set[int]:
        """The sequences that are on the device."""
        return self._on_device

    def open(self, seq_id: int, constraint: Constraint, matcher: BudgetedMatcher) -> None:
        """Add a sequence, which may move to the device, and start the export of its grammar."""
        key = constraint.key
        tables = self._exports.submit(key, constraint)
        self._known[seq_id] = DeviceSequence(key, tables, matcher)

    def masks(self, plan: Plan) -> DeviceMasks:
        """The masks of a plan that the executor makes; it advances these sequences by its own samples."""
        self._admit_ready()
        for seq_id in (*plan.released, *(new.seq_id for new in plan.admitted)):
            if seq_id in self._known:
                self._known[seq_id].must_reset = True
                self._news.add(seq_id)
        masked = {work.seq_id for work in plan.works if work.logits}
        replays: dict[int, Replay] = {}
        for seq_id in self._news & masked & self._on_device:
            try:
                replays[seq_id] = guarded(self._replayed, seq_id)
            except MatcherFault as fault:  # its output cannot be spelled: it fails, on the host
                self._return_to_host(seq_id)
                self._failures[seq_id] = fault.failure
        self._news.difference_update(replays)
        followed = frozenset(masked & self._on_device)
        self._steps.append(_MaskedStep(masked, followed))
        return DeviceMasks(followed, replays)

    def advance(self, sampled: SampledBatch) -> tuple[Forced, Sequence[SampledToken]]:
        """Advance the sequences on the device, all at once; their forced tokens, and the samples of all others.

        Sequences that leave the device stay in it until `retire`.
        """
        followed = self._steps.popleft().followed if self._steps else frozenset()
        here = self._replay.keys()
        samples: dict[int, tuple[int, ...]] = {}
        others: list[SampledToken] = []
        for sample in sampled.samples:
            if sample.seq_id in here and not sample.failure:
                samples[sample.seq_id] = sample.tokens
            else:
                others.append(sample)
        forced = self._replay.advance(samples)
        for seq_id, after in forced.tokens.items():
            known = self._known[seq_id]
            known.pending += after
            known.must_reset |= seq_id in forced.instead
            self._news.add(seq_id)
            if any(seq_id in later.followed for later in self._steps):
                known.must_undo = True
        for seq_id in samples.keys() - followed:
            self._known[seq_id].must_reset = True
            self._news.add(seq_id)
        return forced, others

    def retire(self) -> None:
        """Return sequences to the host if their stack is too deep, or the tables refused their tokens."""
        for seq_id in (*self._replay.above(MOST_DEPTH), *(self._on_device - self._replay.keys())):
            self._return_to_host(seq_id)

    def failure(self, seq_id: int) -> Failure | None:
        """Why a sequence could not return to the host; returned once."""
        return self._failures.pop(seq_id, None) if self._failures else None

    def forget(self, seq_id: int) -> None:
        """Drop a sequence that has ended."""
        self._replay.forget(seq_id)
        self._return_to_host(seq_id)
        self._failures.pop(seq_id, None)

    def check(self, matched: Set[int]) -> None:
        """Check that only sequences with a matcher, the `matched` ones, are here.

        Raises:
            InternalError: that is not the case.
        """
        if not self._on_device <= self._known.keys() <= matched:
            raise InternalError("a sequence without a matcher is on the device")

    def _admit_ready(self) -> None:
        """Move sequences with ready tables to the device, and drop those that will have none.

        Not while a token under a host mask is in flight: the executor does not advance by it.
        """
        if len(self._known) <= max(self._most_on_host, len(self._on_device)):
            return
        for seq_id in self._known.keys() - self._on_device:
            known = self._known[seq_id]
            if not known.tables.done() or any(seq_id in step.masked for step in self._steps):
                continue
            cancelled = known.tables.cancelled()
            tables = HostOnly("no export") if cancelled else known.tables.result()
            if isinstance(tables, HostOnly) or not self._holder.hold(known.key, tables):
                del self._known[seq_id]
                continue
            self._on_device.add(seq_id)
            self._news.add(seq_id)
            try:
                guarded(self._replay.add, seq_id, tables, known.matcher)
            except MatcherFault as fault:
                self._failures[seq_id] = fault.failure
        self.retire()

    def _replayed(self, seq_id: int) -> Replay:
        """The replay that the executor needs before the next mask of a sequence."""
        known = self._known[seq_id]
        tokens = self._replay.tokens(seq_id) if known.must_reset else known.pending
        undo = known.must_undo and not known.must_reset
        replay = Replay(known.key, self._spell(tokens), known.must_reset, undo)
        known.pending, known.must_reset, known.must_undo = [], False, False
        return replay

    def _return_to_host(self, seq_id: int) -> None:
        known = self._known.pop(seq_id, None)
        self._news.discard(seq_id)
        if known is not None and seq_id in self._on_device:
            self._on_device.discard(seq_id)
            self._holder.drop(known.key)
        try:
            if seq_id in self._replay:
                guarded(self._replay.remove, seq_id)
        except MatcherFault as fault:
            self._failures[seq_id] = fault.failure

    def _spell(self, tokens: Iterable[int]) -> bytes:
        return b"".join([self._texts[token] or b"" for token in tokens])
