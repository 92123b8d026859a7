"""The property test is worth something: faults planted in the control plane are found by it."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from inspect import isgeneratorfunction
from typing import Any

import pytest
from intaglio.engine.errors import EngineError
from intaglio.engine.grammars.budgeted_matcher import BudgetedMatcher, Followed
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.grammars.draft_walk import LegalDrafts
from intaglio.engine.memory.block_groups import BlockGroups
from intaglio.engine.memory.manager import KVManager, Reservation
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.side_blocks import SideBlocks
from intaglio.engine.plan import Masks, Plan, Work
from intaglio.engine.schedule import scheduler, starting, step_planner
from intaglio.engine.schedule.batch_sizing import BatchSizer
from intaglio.engine.schedule.queue import Ranked
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.schedule.sequence_table import SequenceTable
from intaglio.engine.schedule.starting import Starting
from intaglio.engine.schedule.tenant_turns import TenantTurns
from intaglio.engine.schedule.waiting_line import WaitingLine
from intaglio.engine.sequence import SeqState, Sequence
from intaglio.engine.types import Finish
from intaglio.grammar.api import MaskRows, Parts

from tests.support.order_of_service import WrongError
from tests.support.schedules import Run, Workload

TRIES = 300


def preemption_keeps_the_count(self: Sequence) -> None:
    self.state = SeqState.WAITING
    self.record.preemptions += 1


def one_block_too_few(self: BlockGroups, group: int, tokens: int, begin: int = 0) -> int:
    found: int = honest["end"](self, group, tokens, begin)
    return max(1, found - 1)


def blocks_are_not_given_back(self: KVManager, seq: Sequence, **_: bool) -> None:
    self._tables.pop(seq.id, None)


def blocks_are_given_back_and_kept(self: KVManager, seq: Sequence, **_: bool) -> None:
    table = self._tables.get(seq.id)
    self._pool.release([] if table is None else table.blocks)


def a_block_is_taken_and_stays_free(self: BlockPool, count: int) -> tuple[int, ...] | None:
    taken = honest["allocate"](self, count)
    if taken:
        self._freed.append(self._blocks[taken[-1]])
    return taken  # type: ignore[no-any-return]


def new_blocks_are_not_told(self: KVManager, seq: Sequence, count: int) -> Reservation | None:
    reservation = honest["reserve"](self, seq, count)
    return reservation and Reservation((), reservation.computed)


def logits_in_the_middle(seq: Sequence, count: int, new_blocks: tuple[int, ...] = ()) -> Work:
    work = honest["_work"](seq, count, new_blocks)
    return Work(work.seq_id, work.start, work.tokens, work.new_blocks, logits=1)


def a_token_is_skipped(self: Sequence, count: int) -> None:
    self.computed += count + (self.pending > count)


def the_budget_is_one_too_many(seq: Sequence, token: int, ends: frozenset[int]) -> Finish | None:
    finish = honest["finish_after"](seq, token, ends)
    over = seq.output_tokens > seq.request.sampling.max_tokens
    return None if finish is Finish.LENGTH and not over else finish


def end_tokens_are_text(seq: Sequence, token: int, ends: frozenset[int]) -> Finish | None:
    finish = honest["finish_after"](seq, token, ends)
    return Finish.LENGTH if finish is Finish.STOP else finish


def the_first_gives_way(running: list[Sequence], max_preemptions: int) -> Sequence | None:
    return running[0]


def anybody_gives_way_for_ever(seq: Sequence, max_preemptions: int) -> bool:
    return False


def forced_tokens_are_not_followed(
    self: BudgetedMatcher, picked: tuple[int, ...]
) -> tuple[int, ...]:
    for token in picked:
        self.matcher.accept(token)
    return () if self.matcher.finished else self.matcher.forced()


def the_end_may_be_out_of_reach(self: BudgetedMatcher, left: int) -> Parts[bool]:
    yield from ()
    return True


def a_pick_that_is_taken_back_is_told(
    self: BudgetedMatcher, picked: tuple[int, ...]
) -> Parts[Followed]:
    followed: Followed = yield from honest["_follow"](self, picked)
    return replace(followed, instead=False)


def masks_are_swapped(self: Constraints, plan: Plan) -> Masks:
    masks = honest["masks"](self, plan)
    rows = list(masks.row_of.values())
    return Masks(masks.rows, dict(zip(masks.row_of, reversed(rows), strict=True)))


def matchers_are_kept(self: Constraints, changes: object) -> None:
    return None


def the_executor_is_not_told(self: Scheduler, seq: Sequence, *args: Any, **kwargs: Any) -> None:
    honest["_end"](self, seq, *args, **kwargs)
    if self._planner._released[-1:] == [seq.id]:
        self._planner._released.pop()


def an_abort_ends_twice(self: Scheduler, request_id: str) -> bool:
    found: bool = honest["abort"](self, request_id)
    if found:
        self._changes.append(self._changes[-1])
    return found


def nobody_is_late(self: SequenceTable, now: float) -> list[Sequence]:
    return []


def nobody_goes_on(self: BatchSizer, running: Iterable[Sequence]) -> list[Sequence]:
    return []


def who_waited_waits_again(self: BatchSizer, running: Iterable[Sequence]) -> list[Sequence]:
    self._waited, self._last = frozenset(), (float("-inf"), 0)
    return honest["of"](self, running)  # type: ignore[no-any-return]


def last_come_first_served(self: Ranked, seq: Sequence) -> None:
    self._order.insert(0, seq)


def bulk_keeps_its_room(self: Starting, seq: Sequence, busy: set[int]) -> list[Sequence]:
    return []


def bulk_is_as_good_as_anybody(self: WaitingLine, seq: Sequence) -> TenantTurns:
    return self._interactive


def the_smallest_goes_first(self: TenantTurns, may_start: Callable[[str], bool]) -> Sequence | None:
    return min(self, key=lambda seq: seq.known, default=None)


def all_drafts_stand(work: Work, seq: Sequence) -> int:
    return min(len(work.drafts), seq.pending)


def masks_after_drafts_are_turned_round(self: Constraints, work: Work) -> MaskRows:
    return honest["_after_drafts"](self, work)[::-1]  # type: ignore[no-any-return]


def drafts_are_not_taken_back(
    self: Constraints, seq_id: int, guess: list[int], most: int
) -> LegalDrafts:
    drafts: LegalDrafts = honest["draft"](self, seq_id, guess, most)
    for token in drafts.tokens if seq_id in self._matchers else ():
        self._matchers[seq_id].matcher.accept(token)
    return drafts


def a_window_ends_two_tokens_early(self: BlockGroups, group: int, computed: int) -> int:
    begin: int = honest["begin"](self, group, computed + 2)
    return min(begin, computed // self.block_size)


def a_prefix_of_one_group_is_enough(_: SideBlocks, blocks: list[int]) -> int:
    return len(blocks)


def blocks_beside_are_found_for_ever(self: SideBlocks, block: int) -> None:
    self._beside.pop(block, None)


FAULTS: list[tuple[object, str, Callable[..., Any]]] = [
    (Sequence, "preempt", preemption_keeps_the_count),
    (Sequence, "compute", a_token_is_skipped),
    (BlockGroups, "end", one_block_too_few),
    (KVManager, "release", blocks_are_not_given_back),
    (KVManager, "release", blocks_are_given_back_and_kept),
    (KVManager, "reserve", new_blocks_are_not_told),
    (BlockPool, "allocate", a_block_is_taken_and_stays_free),
    (step_planner, "_work", logits_in_the_middle),
    (step_planner, "victim_of", the_first_gives_way),
    (starting, "is_exempt", anybody_gives_way_for_ever),
    (scheduler, "finish_after", the_budget_is_one_too_many),
    (scheduler, "finish_after", end_tokens_are_text),
    (Scheduler, "_end", the_executor_is_not_told),
    (Scheduler, "abort", an_abort_ends_twice),
    (BudgetedMatcher, "_advance", forced_tokens_are_not_followed),
    (BudgetedMatcher, "_fits", the_end_may_be_out_of_reach),
    (BudgetedMatcher, "_follow", a_pick_that_is_taken_back_is_told),
    (Constraints, "masks", masks_are_swapped),
    (Constraints, "forget", matchers_are_kept),
    (SequenceTable, "expired", nobody_is_late),
    (BatchSizer, "of", nobody_goes_on),
    (BatchSizer, "of", who_waited_waits_again),
    (Ranked, "add", last_come_first_served),
    (Starting, "_yielding", bulk_keeps_its_room),
    (WaitingLine, "_lane", bulk_is_as_good_as_anybody),
    (TenantTurns, "first", the_smallest_goes_first),
]
DRAFT_FAULTS: list[tuple[object, str, Callable[..., Any]]] = [
    (scheduler, "count_equal", all_drafts_stand),
    (Constraints, "_after_drafts", masks_after_drafts_are_turned_round),
    (Constraints, "draft", drafts_are_not_taken_back),
    (BudgetedMatcher, "_advance", forced_tokens_are_not_followed),
    (Sequence, "compute", a_token_is_skipped),
]
WINDOW_FAULTS: list[tuple[object, str, Callable[..., Any]]] = [
    (BlockGroups, "begin", a_window_ends_two_tokens_early),
    (SideBlocks, "complete", a_prefix_of_one_group_is_enough),
    (SideBlocks, "forget", blocks_beside_are_found_for_ever),
]
ALL_FAULTS = FAULTS + DRAFT_FAULTS + WINDOW_FAULTS
honest = {name: getattr(owner, name) for owner, name, _ in ALL_FAULTS}


def test_planted_faults_answer_in_parts_where_the_product_does() -> None:
    """A fault that answers in another way is found by any run that calls it, whatever is compared."""
    others = [
        wrong.__name__
        for owner, name, wrong in ALL_FAULTS
        if isgeneratorfunction(wrong) != isgeneratorfunction(getattr(owner, name))
    ]
    assert not others


def require_found(
    fault: tuple[object, str, Callable[..., Any]], monkeypatch: pytest.MonkeyPatch, **mode: Any
) -> None:
    """Plant a fault; fail if no schedule in this mode of `Run` notices it."""
    owner, name, wrong = fault
    monkeypatch.setattr(owner, name, wrong)
    for seed in range(TRIES):
        try:
            Run(Workload.of(seed), **mode).go()
        except (WrongError, EngineError):
            return
    pytest.fail(f"{TRIES} schedules did not notice that {wrong.__name__}")


@pytest.mark.parametrize("ahead", [False, True], ids=["plain", "overlapped"])
@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault[2].__name__)
def test_a_planted_fault_is_found(
    fault: tuple[object, str, Callable[..., Any]], ahead: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    require_found(fault, monkeypatch, overlap=ahead, prefix=ahead)


@pytest.mark.parametrize("fault", DRAFT_FAULTS, ids=lambda fault: fault[2].__name__)
def test_a_planted_fault_of_drafts_is_found(
    fault: tuple[object, str, Callable[..., Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    require_found(fault, monkeypatch, drafts=True)


@pytest.mark.parametrize("fault", WINDOW_FAULTS, ids=lambda fault: fault[2].__name__)
def test_a_planted_fault_of_windows_is_found(
    fault: tuple[object, str, Callable[..., Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    require_found(fault, monkeypatch, prefix=True, windows=(None, 4, 4))
