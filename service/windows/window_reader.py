"""Schedules the windows of a document, without an engine: requests out, results in.

Does: give the requests of the first unread windows, a bounded number at a time; read a window again in halves if its
answer had to be cut short; hand the readings to the merge in the order of the document. Does not: run requests.
"""

from collections import deque
from dataclasses import dataclass
from itertools import islice, pairwise

from intaglio.schemas.extraction.results import ExtractResult

from ..extraction.extract import Extractor, Prepared
from .merge_readings import SettledItem
from .split import Window
from .window_plan import WindowPlan
from .windowed_extraction import WindowedExtraction

WINDOWS_AT_ONCE = 8
"""The most windows of one document that are generated at a time, or wait for one before them."""


@dataclass(slots=True)
class _PlannedWindow:
    """A window of the plan; `next_start` is where the next one begins. `request_id` is set while it is read."""

    window: Window
    next_start: int | None
    request_id: str | None = None
    result: ExtractResult | None = None


class WindowReader:
    """Reads one document. Run each request that `next_request` gives and `take` its result, until `is_over`."""

    def __init__(
        self, extractor: Extractor, plan: WindowPlan, at_once: int = WINDOWS_AT_ONCE
    ) -> None:
        self._extractor = extractor
        self._plan = plan
        self._at_once = at_once
        self._extraction = WindowedExtraction(extractor, plan)
        self._waiting = deque(_planned(plan.windows, None))
        self._repair: Prepared | None = None
        self._repair_id: str | None = None
        self._repaired: ExtractResult | None = None

    @property
    def is_over(self) -> bool:
        """Whether there is nothing left to read."""
        return not self._waiting and self._repair is None and self._repair_id is None

    def next_request(self) -> Prepared | None:
        """The next reading; None if none is to be started before another one ends.

        Raises:
            RequestDeadlineExceeded: the deadline of the whole has passed.
            TooLong: the window does not fit, because its text has more tokens as a whole than piece by piece.
        """
        if self._repair is not None:
            prepared, self._repair = self._repair, None
            self._repair_id = prepared.request.id
            return prepared
        for planned in islice(self._waiting, self._at_once):
            if planned.request_id is None:
                prepared = self._plan.request(self._extractor, planned.window)
                planned.request_id = prepared.request.id
                return prepared
        return None

    def take(self, request_id: str, result: ExtractResult) -> list[SettledItem]:
        """Take the result of a request; the items of arrays that this settles."""
        if request_id == self._repair_id:
            self._repair_id, self._repaired = None, result
            return []
        at = next(n for n, one in enumerate(self._waiting) if one.request_id == request_id)
        planned = self._waiting[at]
        halves: tuple[Window, ...] = ()
        if result.usage.budget_forced:
            halves = self._plan.halves(self._extractor, planned.window)
        if halves:
            self._extraction.discard(result)
            del self._waiting[at]
            for number, half in enumerate(_planned(halves, planned.next_start)):
                self._waiting.insert(at + number, half)
            return []
        planned.result = result
        return self._merged()

    def result(self) -> ExtractResult:
        """The validated result, once nothing is left to read. Raises as `WindowedExtraction.result`."""
        return self._extraction.result(self._repaired)

    def _merged(self) -> list[SettledItem]:
        """Merge the readings up to the first window that is not read yet; the items that this settles."""
        settled = list[SettledItem]()
        while self._waiting and (result := self._waiting[0].result) is not None:
            planned = self._waiting.popleft()
            settled += self._extraction.add(planned.window, planned.next_start, result)
        if not self._waiting:
            settled += self._extraction.close()
            self._repair = self._extraction.repair()
        return settled


def _planned(windows: tuple[Window, ...], end: int | None) -> list[_PlannedWindow]:
    starts = [*(after.start for _, after in pairwise(windows)), end]
    return [_PlannedWindow(one, start) for one, start in zip(windows, starts, strict=True)]
