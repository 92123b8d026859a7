"""Constraints whose masks are made where the logits are, from tables of their grammars.

Does: have grammars exported off the step, tell the executor of each such sequence what it cannot know (the grammar, and
the text that was not its own pick), and let the host fill rows for all others. Does not: walk tables (the executor
does), or relax anything: the host follows every token here as it does elsewhere (`along`), keeps the budget, and
refuses what a mask should not have allowed.

A sequence starts on the host. It becomes a resident once its tables are there and the executor has room for them, and
goes back for good if its stack grows too high for a device.
"""

import threading
from collections import OrderedDict, deque
from collections.abc import Callable, Container, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, NamedTuple, Protocol

from ..grammar.api import (
    Constraint,
    DeviceTables,
    HostOnly,
    MaskRows,
    tables_of,
)
from .along import AlongTables
from .constraints import Compiler, Constraints, Opening
from .errors import InternalError
from .faults import MatcherFault, guarded
from .plan import Changes, Forced, Masks, Pick, Picked, Plan, Resident, Work
from .types import Failure, OutputLimits

MOST_DEPTH: Final = 128
"""Half of what a device's stacks hold: the other half is for what one step adds."""


class Residence(Protocol):
    """What holds the tables of grammars for an executor. Used by the thread that steps."""

    def enter(self, key: str, tables: DeviceTables) -> bool:
        """Hold a grammar for one more sequence; False if there is no room."""
        ...

    def leave(self, key: str) -> None:
        """One sequence of a grammar fewer. What was begun for it may still be under way."""
        ...


class Exports:
    """Tables by their constraint's key, made in one thread, one after the other, and kept up to a size."""

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

    def ask(self, key: str, constraint: Constraint) -> Future[DeviceTables | HostOnly]:
        """The tables of a constraint with that key, once they are there. Returns at once."""
        with self._lock:
            found = self._kept.get(key)
            if found is None:
                self._shrink()
                found = self._kept[key] = self._pool.submit(self._tables, constraint)
            self._kept.move_to_end(key)
            return found

    def close(self) -> None:
        """End the thread; what was not begun is cancelled."""
        self._pool.shutdown(cancel_futures=True)

    def _tables(self, constraint: Constraint) -> DeviceTables | HostOnly:
        """The export; one that fails costs nothing but speed, since the host's rows are complete.

        Its error is not kept: the traceback would hold all that the export has made.
        """
        try:
            return guarded(self._export, constraint)
        except MatcherFault as fault:
            return HostOnly(f"the export failed: {fault.failure.message}")

    def _shrink(self) -> None:
        """Forget what was asked for longest ago until the rest keeps the limit."""
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


@dataclass(slots=True)
class _Page:
    """A sequence that is, or may become, a resident.

    Of its output, the executor must be told the tokens that are `owed`, or all of them, `anew`. `astray`: the last pick
    that the executor has followed by itself was void.
    """

    key: str
    tables: Future[DeviceTables | HostOnly]
    owed: list[int] = field(default_factory=list)
    anew: bool = True
    astray: bool = False


def _page(exports: Exports, constraint: Constraint) -> _Page:
    key = constraint.key
    return _Page(key, exports.ask(key, constraint))


class _Awaited(NamedTuple):
    """Sequences whose picks of one step are awaited, and those of them that the executor follows by itself."""

    wanted: set[int]
    walked: set[int]


class ResidentConstraints(Constraints):
    """`Constraints` of an executor with a `Residence`. `texts`: the bytes of each token, None where it has none."""

    def __init__(
        self,
        compiler: Compiler,
        *,
        end_tokens: frozenset[int],
        rows: MaskRows,
        residence: Residence,
        exports: Exports,
        texts: Sequence[bytes | None],
    ) -> None:
        super().__init__(compiler, end_tokens=end_tokens, rows=rows, texts=texts)
        self._residence = residence
        self._exports = exports
        self._along = AlongTables(texts, end_tokens)  # the residents
        self._opening: dict[int, Constraint] = {}
        self._pages: dict[int, _Page] = {}
        self._residents: set[int] = set()
        self._news: set[int] = set()  # sequences that the executor must be told of
        self._awaited: deque[_Awaited] = deque()

    def compile(
        self,
        seq_id: int,
        constraint: Constraint,
        budget: int,
        ready: Callable[[int], None],
        limits: OutputLimits | None = None,
        prompt: Sequence[int] = (),
    ) -> None:
        """See `Constraints`."""
        self._opening[seq_id] = constraint
        super().compile(seq_id, constraint, budget, ready, limits, prompt)

    def open(self, seq_id: int) -> Opening | Failure | None:
        """See `Constraints`. The grammar's export begins."""
        opening = super().open(seq_id)
        constraint = self._opening.pop(seq_id, None)
        if isinstance(opening, Opening) and constraint is not None:
            try:
                self._pages[seq_id] = guarded(_page, self._exports, constraint)
            except MatcherFault as fault:
                return fault.failure
        return opening

    def can_mask_ahead(self, plan: Plan) -> bool:
        """See `Constraints`. Where residents stand, the executor knows."""
        self._let_in()
        if len(self._residents) == len(self._following):
            return True
        return super().can_mask_ahead(plan)

    def is_known(self, work: Work) -> bool:
        """See `Constraints`."""
        return work.seq_id in self._residents or super().is_known(work)

    def masks(self, plan: Plan, void: Container[int] = ()) -> Masks:
        """See `Constraints`. Residents have no row.

        The picks of residents in `void` are made under masks, too: the executor follows them, and is told later.
        """
        self._let_in()
        for seq_id in (*plan.released, *(new.seq_id for new in plan.admitted)):
            if seq_id in self._pages:
                self._pages[seq_id].anew = True
                self._news.add(seq_id)
        wanted = {work.seq_id for work in plan.works if work.wants_logits}
        told: dict[int, Resident] = {}
        for seq_id in self._news & wanted & self._residents:
            try:
                told[seq_id] = guarded(self._claim, seq_id)
            except MatcherFault as fault:  # its output cannot be spelled: it fails, on the host
                self._leave(seq_id)
                self._failures[seq_id] = fault.failure
        self._news.difference_update(told)
        walked = wanted & self._residents
        for seq_id in walked:
            if seq_id in void:
                self._lead_astray(seq_id)
        self._awaited.append(_Awaited(wanted, walked))
        if len(walked) == len(wanted) or wanted.isdisjoint(self._following.keys() - walked):
            plan = Plan(plan.step)
        elif walked:
            rest = tuple(work for work in plan.works if work.seq_id not in walked)
            plan = Plan(plan.step, works=rest)
        masks = super().masks(plan, void)
        return Masks(masks.rows, masks.row_of, walked, told)

    def advance(self, picked: Picked, void: Container[int] = ()) -> Forced:
        """See `Constraints`. Residents are followed all at once."""
        walked = self._awaited.popleft().walked if self._awaited else set()
        here = self._along.keys()
        along: dict[int, tuple[int, ...]] = {}
        others: list[Pick] = []
        for pick in picked.picks:
            if pick.seq_id in here and pick.seq_id not in void and not pick.failure:
                along[pick.seq_id] = pick.tokens
            else:
                others.append(pick)
        rest = super().advance(Picked(tuple(others)), void)
        forced = self._along.advance(along)
        for seq_id, after in forced.tokens.items():
            page = self._pages[seq_id]
            page.owed += after
            page.anew |= seq_id in forced.instead
            self._news.add(seq_id)
            for later in self._awaited:
                if seq_id in later.walked:
                    self._lead_astray(seq_id)
        for seq_id in along.keys() - walked:
            self._pages[seq_id].anew = True
            self._news.add(seq_id)
        self._send_away()
        return Forced(
            {**rest.tokens, **forced.tokens},
            {**rest.failures, **forced.failures},
            rest.instead | forced.instead,
            {**rest.looped, **forced.looped},
        )

    def forget(self, changes: Changes) -> None:
        """See `Constraints`."""
        super().forget(changes)
        for change in changes.items:
            if change.finish is not None:
                self._opening.pop(change.seq_id, None)
                self._along.forget(change.seq_id)
                self._leave(change.seq_id)

    def check(self, live: set[int]) -> None:
        """See `Constraints`."""
        super().check(live)
        if not self._residents <= self._pages.keys() <= self._following.keys():
            raise InternalError("a sequence without a matcher is a resident")

    def _let_in(self) -> None:
        """Make those residents whose tables are there, and give up on those that will have none.

        Not while a pick is awaited: under a mask of the host, it is none that the executor follows.
        """
        if len(self._pages) == len(self._residents):
            return
        for seq_id in self._pages.keys() - self._residents:
            page = self._pages[seq_id]
            if not page.tables.done() or any(seq_id in one.wanted for one in self._awaited):
                continue
            cancelled = page.tables.cancelled()
            tables = HostOnly("no export") if cancelled else page.tables.result()
            if isinstance(tables, HostOnly) or not self._residence.enter(page.key, tables):
                del self._pages[seq_id]
                continue
            self._residents.add(seq_id)
            self._news.add(seq_id)
            try:
                guarded(self._along.enter, seq_id, tables, self._following[seq_id])
            except MatcherFault as fault:
                self._failures[seq_id] = fault.failure
        self._send_away()

    def _send_away(self) -> None:
        """The host makes the masks of those whose stack has grown too high, or whose tables lead nowhere."""
        for seq_id in (*self._along.above(MOST_DEPTH), *(self._residents - self._along.keys())):
            self._leave(seq_id)

    def _claim(self, seq_id: int) -> Resident:
        """What the executor must know to make the next mask of a resident."""
        page = self._pages[seq_id]
        text = self._spell(self._along.tokens(seq_id) if page.anew else page.owed)
        resident = Resident(page.key, text, page.anew, page.astray and not page.anew)
        page.owed, page.anew, page.astray = [], False, False
        return resident

    def _lead_astray(self, seq_id: int) -> None:
        """The executor follows, or has followed, a pick that is void."""
        self._pages[seq_id].astray = True
        self._news.add(seq_id)

    def _leave(self, seq_id: int) -> None:
        page = self._pages.pop(seq_id, None)
        self._news.discard(seq_id)
        if page is not None and seq_id in self._residents:
            self._residents.discard(seq_id)
            self._residence.leave(page.key)
        try:
            if seq_id in self._along:
                guarded(self._along.leave, seq_id)
        except MatcherFault as fault:
            self._failures[seq_id] = fault.failure

    def _spell(self, tokens: Iterable[int]) -> bytes:
        return b"".join([self._texts[token] or b"" for token in tokens])
