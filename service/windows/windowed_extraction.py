"""One extraction from a long document, from the readings of its windows to one validated result.

Does: merge the readings as they come, ask for one more where the whole lacks a required value, validate the whole
independently, and add up usage, times and warnings. Does not: run readings: HTTP and the offline `LLM` do.
"""

from collections.abc import Iterator, Sequence
from itertools import islice
from time import perf_counter
from typing import Any, Final
from uuid import uuid4

import referencing.exceptions
from intaglio.schemas.extraction.grounding import FieldReport, Span
from intaglio.schemas.extraction.results import (
    AnswerWarning,
    ExtractResult,
    Timings,
    Usage,
    WindowedReading,
)
from intaglio.schemas.json_pointer import pointer_of
from intaglio.schemas.problem import Detail

from ..errors import WindowsConflict
from ..extraction.ecma_patterns import PatternTooCostly, PatternUnreadable
from ..extraction.extract import Extractor, Prepared
from ..extraction.many_texts import total
from ..extraction.nulls import null_warnings
from ..extraction.utc_offsets import OFFSET_NOT_STATED, offset_warnings
from ..extraction.validate import check, faults
from .merge_readings import Merged, Merger, Path, SettledItem, WindowReading
from .merged_fields import merged_fields, pointer_in_whole, relocated_pointers, shifted
from .sources import stated_leaves
from .split import Window
from .window_plan import WindowPlan

_MOST_FAULTS: Final = 16


class WindowedExtraction:
    """Merges the results of the windows of one plan.

    Call `add` for each window in order, `close` once, run `repair` if it gives a request, and take the `result`.
    """

    def __init__(self, extractor: Extractor, plan: WindowPlan) -> None:
        self._extractor = extractor
        self._plan = plan
        self._merger = Merger(plan.whole.schema)
        self._spans: list[Window] = []
        self._kept: list[ExtractResult] = []
        self._usages: list[Usage] = []
        self._timings: list[Timings] = []
        self._best: tuple[int, Window] | None = None
        self._merged = Merged(None)
        self._lacking: tuple[Path, ...] = ()

    def discard(self, result: ExtractResult) -> None:
        """Count a reading that is replaced by those of smaller windows."""
        self._usages.append(result.usage)
        self._timings.append(result.timings)

    def add(
        self, window: Window, next_start: int | None, result: ExtractResult
    ) -> list[SettledItem]:
        """Add the reading of the next window; the items of arrays that no later window changes."""
        text = self._plan.text[window.start : window.end]
        self.discard(result)
        self._spans.append(window)
        # `data` is merged, and not needed twice.
        self._kept.append(result.model_copy(update={"data": None}))
        stated = stated_leaves(result.data, text)
        if self._best is None or stated > self._best[0]:
            self._best = stated, window
        return self._merger.add(WindowReading(window, next_start, text, result.data, result.fields))

    def close(self) -> list[SettledItem]:
        """End the merge after the last window; the items that were not settled yet."""
        settled, self._merged = self._merger.finish()
        found = dict.fromkeys(self._merged.missing)
        for fault in self._faults(self._merged.value):
            if fault.validator == "minItems":
                found[tuple(fault.absolute_path)] = None
            elif fault.validator == "required" and isinstance(fault.instance, dict):
                absent = [name for name in fault.validator_value if name not in fault.instance]
                found |= dict.fromkeys((*fault.absolute_path, name) for name in absent)
        self._lacking = tuple(found)
        return settled

    def repair(self) -> Prepared | None:
        """One more reading, of the window that states most, under the whole schema; None if nothing is missing."""
        if not self._lacking or self._best is None:
            return None
        return self._plan.request(self._extractor, self._best[1], strict=True)

    def result(self, repaired: ExtractResult | None) -> ExtractResult:
        """The validated result. `repaired` is that of `repair`, where one was needed.

        Raises:
            WindowsConflict: the merged value does not meet the schema.
            InvalidOutput: it cannot be checked.
        """
        plan, data, filled = self._plan, self._merged.value, list[Path]()
        if repaired is not None:
            self.discard(repaired)
            for path in self._lacking:
                data, done = _filled(data, repaired.data, path)
                filled += [path] * done
        self._require_valid(data)
        usage = total(self._usages)
        return ExtractResult(
            id=f"ext_{uuid4().hex}",
            model=self._kept[0].model,
            data=data,
            usage=usage.model_copy(
                update={"budget_forced": any(one.usage.budget_forced for one in self._kept)}
            ),
            timings=self._total_times(),
            fields=self._fields(data, repaired, filled),
            contract=plan.whole.contract or self._kept[0].contract,
            warnings=(*self._warnings(data, filled),),
            images=tuple(image for one in self._kept for image in one.images),
            reading=WindowedReading(
                windows=len(self._spans),
                overlap_tokens=plan.overlap,
                spans=tuple(Span(start=one.start, end=one.end) for one in self._spans),
            ),
        )

    def _require_valid(self, data: Any) -> None:
        found = self._faults(data)
        if not found:
            check(data, self._plan.whole.schema, self._plan.text)
            return
        raise WindowsConflict(
            f"the {len(self._spans)} windows of the document do not make a valid whole",
            param="schema",
            hint="relax the keyword for the whole document, or extract with a model of a longer context",
            details=tuple(
                Detail(
                    pointer=pointer_of(("schema", *fault.absolute_schema_path)),
                    keyword=str(fault.validator),
                    reason=f"the merged value at {pointer_of(fault.absolute_path) or 'the root'!r} does not meet it",
                )
                for fault in found
            ),
        )

    def _faults(self, data: Any) -> list[Any]:
        """The first faults of a merged value; none if it cannot be checked, which `check` then says."""
        try:
            found = faults(data, self._plan.whole.schema, self._plan.text)
            return list(islice(found, _MOST_FAULTS))
        except (
            PatternTooCostly,
            PatternUnreadable,
            RecursionError,
            referencing.exceptions.Unresolvable,
        ):
            return []

    def _warnings(self, data: Any, filled: Sequence[Path]) -> Iterator[AnswerWarning]:
        """The warnings of the readings, with pointers into the whole, and those of the merge."""
        places = relocated_pointers(self._merged.relocations)
        for number, result in enumerate(self._kept):
            for warning in result.warnings:
                if warning.kind == OFFSET_NOT_STATED:  # judged by the whole document, below
                    continue
                place = pointer_in_whole(warning.pointer, places.get(number, {}))
                if place is not None:
                    yield warning.model_copy(update={"pointer": place})
        for path in filled:
            yield AnswerWarning(
                pointer=pointer_of(path),
                kind="not_found",
                message="no window of the document states it; the value is from one more reading of the window that "
                "states most",
                hint="is it in the document at all? with not_stated: null it would be null",
            )
        for place, count in self._merged.dropped.items():
            yield AnswerWarning(
                pointer=place,
                kind="items_dropped",
                message=f"the windows gave {count} more items than maxItems allows; the first ones were kept",
                hint="raise maxItems",
            )
        if self._plan.whole.strict is not None:
            yield from null_warnings(data, self._plan.whole.strict, self._plan.text)
        yield from offset_warnings(data, self._plan.whole.schema, self._plan.text)

    def _fields(
        self, data: Any, repaired: ExtractResult | None, filled: Sequence[Path]
    ) -> dict[str, FieldReport]:
        """The reports of all leaves, if the request asks for them."""
        options = self._plan.whole.body.options
        if options.grounding == "off" and options.confidence == "off":
            return {}
        again = dict[str, FieldReport]()
        if repaired is not None and self._best is not None:
            tops = tuple(map(pointer_of, filled))
            again = {
                place: shifted(report, self._best[1].start)
                for place, report in repaired.fields.items()
                if any(place == top or place.startswith(f"{top}/") for top in tops)
            }
        fields = [one.fields for one in self._kept]
        return merged_fields(self._merged, data, self._spans, fields, again)

    def _total_times(self) -> Timings:
        return Timings(
            queue_ms=round(sum(one.queue_ms for one in self._timings), 3),
            prefill_ms=round(sum(one.prefill_ms for one in self._timings), 3),
            decode_ms=round(sum(one.decode_ms for one in self._timings), 3),
            total_ms=round((perf_counter() - self._plan.whole.started) * 1000, 3),
        )


def _filled(data: Any, source: Any, path: Path) -> tuple[Any, bool]:
    """`data` with the value of `source` at a place, and whether there is one."""
    here, there = data, source
    for part in path[:-1]:
        try:
            here, there = here[part], there[part]
        except (KeyError, IndexError, TypeError):
            return data, False
    if not path:
        return source, True
    if not (isinstance(here, dict) and isinstance(there, dict) and path[-1] in there):
        return data, False
    here[path[-1]] = there[path[-1]]
    return data, True
