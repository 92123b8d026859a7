"""Constraints whose masks are made where the logits are, from tables of their grammars.

Does: have grammars exported off the step, tell the executor of each such sequence what it cannot know (the grammar, and
the text that was not its own pick), and let the host fill rows for all others. Does not: walk tables (the executor
does), or relax anything: matchers follow every token here as they do elsewhere, keep the budget, and refuse what a mask
should not have allowed.

A sequence starts on the host. It becomes a resident once its tables are there and the executor has room for them, and
goes back for good if its stack grows too high for a device.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Container, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final, Protocol

from ..grammar.api import (
    Constraint,
    DeviceTables,
    HostOnly,
    MaskRows,
    depth_of,
    tables_of,
)
from .constraints import Compiler, Constraints, Opening
from .errors import InternalError
from .plan import Changes, Forced, Masks, Picked, Plan, Resident, Work
from .types import Failure

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
                found = self._kept[key] = self._pool.submit(self._export, constraint)
            self._kept.move_to_end(key)
            return found

    def close(self) -> None:
        """End the thread; what was not begun is cancelled."""
        self._pool.shutdown(cancel_futures=True)

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
    if not future.done() or future.cancelled() or future.exception() is not None:
        return 0
    tables = future.result()
    return tables.nbytes if isinstance(tables, DeviceTables) else 256


GOES_ON: Final = Resident("", b"")
"""Of a sequence that the executor has followed by itself to where it stands."""


@dataclass(slots=True)
class _Page:
    """A sequence that is, or may become, a resident.

    `text` is its output; the executor knows the first `told` bytes of it, or None where it knows nothing. `awaited`:
    for each pick that is on its way, the oldest first, whether it is made under a mask of the executor's, which follows
    it by itself. `astray`: the last that it follows so is void.
    """

    key: str
    tables: Future[DeviceTables | HostOnly]
    text: bytearray
    told: int | None = None
    awaited: list[bool] = field(default_factory=list)
    astray: bool = False
    entered: bool = False

    def claim(self) -> Resident:
        """What the executor must know to make the next mask."""
        since, anew, back = self.told, self.told is None, self.astray
        self.told, self.astray = len(self.text), False
        if since == self.told and not back:
            return GOES_ON
        return Resident(self.key, bytes(self.text[since or 0 :]), anew, back and not anew)

    def follow(self, picked: bytes, after: bytes, *, walked: bool, instead: bool) -> None:
        """The output went on by a pick and what was forced after it, or `instead` of it."""
        if instead:
            picked, self.told = b"", None
        elif walked and self.told is not None:
            self.told += len(picked)
        if after:
            self.astray = any(self.awaited)
        self.text += picked + after


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
        super().__init__(compiler, end_tokens=end_tokens, rows=rows)
        self._residence = residence
        self._exports = exports
        self._texts = texts
        self._opening: dict[int, Constraint] = {}
        self._pages: dict[int, _Page] = {}

    def compile(
        self, seq_id: int, constraint: Constraint, budget: int, ready: Callable[[int], None]
    ) -> None:
        """See `Constraints`."""
        self._opening[seq_id] = constraint
        super().compile(seq_id, constraint, budget, ready)

    def open(self, seq_id: int) -> Opening | Failure | None:
        """See `Constraints`. The grammar's export begins."""
        opening = super().open(seq_id)
        constraint = self._opening.pop(seq_id, None)
        if isinstance(opening, Opening) and constraint is not None:
            key = constraint.key
            tables = self._exports.ask(key, constraint)
            self._pages[seq_id] = _Page(key, tables, bytearray(self._text(opening.forced)))
        return opening

    def masks(self, plan: Plan, void: Container[int] = ()) -> Masks:
        """See `Constraints`. Residents have no row."""
        pages = self._pages
        for seq_id in (*plan.released, *(new.seq_id for new in plan.admitted)):
            if seq_id in pages:
                pages[seq_id].told = None
        residents: dict[int, Resident] = {}
        others: list[Work] = []
        for work in plan.works:
            seq_id = work.seq_id
            page = pages.get(seq_id) if work.wants_logits else None
            walked = page is not None and seq_id not in void and self._is_resident(seq_id)
            if page is not None:
                page.awaited.append(walked)
            if page is not None and walked:
                residents[seq_id] = page.claim()
            else:
                others.append(work)
        masks = super().masks(Plan(plan.step, works=tuple(others)), void)
        return Masks(masks.rows, masks.row_of, residents)

    def is_known(self, work: Work) -> bool:
        """See `Constraints`. Where a resident stands, the executor knows."""
        return super().is_known(work) or (
            work.seq_id in self._pages and self._is_resident(work.seq_id)
        )

    def advance(self, picked: Picked, void: Container[int] = ()) -> Forced:
        """See `Constraints`."""
        forced = super().advance(picked, void)
        for pick in picked.picks:
            page = self._pages.get(pick.seq_id)
            if page is None:
                continue
            walked = page.awaited.pop(0)
            if pick.seq_id not in void:
                after = self._text(forced.tokens.get(pick.seq_id, ()))
                instead = pick.seq_id in forced.instead
                page.follow(self._text(pick.tokens), after, walked=walked, instead=instead)
        return forced

    def forget(self, changes: Changes) -> None:
        """See `Constraints`."""
        super().forget(changes)
        for change in changes.items:
            if change.finish is not None:
                self._opening.pop(change.seq_id, None)
                self._leave(change.seq_id)

    def check(self, live: set[int]) -> None:
        """See `Constraints`."""
        super().check(live)
        if not self._pages.keys() <= self._following.keys():
            raise InternalError("a sequence without a matcher is a resident")

    def _is_resident(self, seq_id: int) -> bool:
        """Whether the executor makes the sequence's next mask. Lets it in, or sends it away, where it is time."""
        page = self._pages[seq_id]
        if not page.entered:
            if not page.tables.done():
                return False
            # An export that failed costs nothing but speed: the host's rows are complete.
            failed = page.tables.cancelled() or page.tables.exception() is not None
            tables = HostOnly("the export failed") if failed else page.tables.result()
            if isinstance(tables, HostOnly) or not self._residence.enter(page.key, tables):
                del self._pages[seq_id]
                return False
            page.entered = True
        if depth_of(self._following[seq_id].matcher) > MOST_DEPTH:
            self._leave(seq_id)
            return False
        return True

    def _leave(self, seq_id: int) -> None:
        page = self._pages.pop(seq_id, None)
        if page is not None and page.entered:
            self._residence.leave(page.key)

    def _text(self, tokens: Sequence[int]) -> bytes:
        return b"".join(self._texts[token] or b"" for token in tokens)
