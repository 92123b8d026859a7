"""The report of a job, for programs and for people.

Does: gather counts, speed, the slowest rows, reasons of dead rows, and samples that mark values quoted from their
documents; as JSON and as one self-contained HTML page. Does not: write files (`publish`).
"""

import heapq
import html
import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any, Final

from intaglio.schemas.base import Wire
from intaglio.schemas.extraction.contract import Contract
from intaglio.schemas.jobs import DeadRow, JobSpec, JobStatus
from intaglio.schemas.json_pointer import leaves
from jinja2 import Environment, Template, select_autoescape
from pydantic import Field, JsonValue

from .ledger import Ledger
from .records.row import RowResult, dead_row
from .tables import DEAD, DONE

_SLOWEST: Final = 10
_SAMPLES: Final = 5
_SAMPLE_CHARACTERS: Final = 4000
_DEAD_SHOWN: Final = 20


class SlowRow(Wire):
    """A row that took long."""

    row: int
    id: str
    seconds: float
    prompt_tokens: int
    output_tokens: int


class QuotedSpan(Wire):
    """A value that occurs verbatim in the document: `begin` to `end` in code points, with its JSON Pointer."""

    begin: int
    end: int
    pointer: str


class SampleRow(Wire):
    """A row shown as an example."""

    row: int
    id: str
    text: str
    data: JsonValue
    spans: tuple[QuotedSpan, ...]


class JobReport(Wire):
    """The report of a job. `seconds` is from its creation to its last change, including pauses; `cost` uses the job's
    prices.

    `contract` lists the enforced keywords; it is None before the first result, when the schema may not have been
    examined. `reasons` counts dead rows by code, `warnings` counts warnings of results by kind.
    """

    job: JobStatus
    source: str
    schema_: Any = Field(alias="schema")
    contract: Contract | None
    seconds: float
    rows_per_second: float
    tokens_per_row: float
    cost: float | None
    reasons: dict[str, int]
    warnings: dict[str, int] = Field(default_factory=dict)
    dead: tuple[DeadRow, ...]
    slowest: tuple[SlowRow, ...]
    samples: tuple[SampleRow, ...]


def gather(ledger: Ledger, job: str) -> JobReport:
    """The report of a job in any state. Raises `UnknownJob`."""
    status, spec = ledger.status(job), ledger.spec(job)
    counts = status.counts
    seconds = status.changed - status.created
    reasons: Counter[str] = Counter()
    shown: list[DeadRow] = []
    for row in ledger.rows(job).results(DEAD):
        row_report = dead_row(row)
        reasons[row_report.code] += 1
        if len(shown) < _DEAD_SHOWN:
            shown.append(row_report)
    warnings: Counter[str] = Counter()
    samples: list[SampleRow] = []
    slowest: list[tuple[float, int, RowResult]] = []
    for row in ledger.rows(job).results(DONE):
        warnings.update(_kinds(row))
        if row.text is not None and len(samples) < _SAMPLES:
            samples.append(_sample(row, row.text))
        heapq.heappush(slowest, (row.usage[2], -row.row, row))
        if len(slowest) > _SLOWEST:
            heapq.heappop(slowest)
    return JobReport(
        job=status,
        source=spec.source.path,
        schema=spec.schema_,
        contract=contract_of_job(spec) if counts.done else None,
        seconds=round(seconds, 3),
        rows_per_second=round(counts.done / seconds, 3) if seconds > 0 else 0.0,
        tokens_per_row=round(counts.output_tokens / counts.done, 1) if counts.done else 0.0,
        cost=None
        if spec.prices is None
        else round(spec.prices.of(counts.prompt_tokens, counts.output_tokens), 6),
        reasons=dict(reasons.most_common()),
        warnings=dict(warnings.most_common()),
        dead=tuple(shown),
        slowest=tuple(_slow(row) for _, _, row in sorted(slowest, reverse=True)),
        samples=tuple(samples),
    )


def contract_of_job(spec: JobSpec) -> Contract | None:
    """The contract of a job, the same for all rows; None if its schema is no longer in the catalogue."""
    from ..errors import UnknownSchema
    from ..extraction.extract import find_schema
    from ..extraction.schema_explainer import judge_constraint
    from ..extraction.translate import extraction_constraint

    try:
        schema = find_schema(spec.schema_)
    except UnknownSchema:
        return None
    return judge_constraint(extraction_constraint(schema, spec.options)).contract


def as_json(report: JobReport) -> str:
    """The report as JSON."""
    return report.model_dump_json(by_alias=True, indent=2) + "\n"


def as_html(report: JobReport) -> str:
    """The report as an HTML page without other files or scripts."""
    return _page().render(report=report, marked=_marked, pretty=_pretty)


@cache
def _page() -> Template:
    """The template, compiled once in a process."""
    source = files(__package__).joinpath("report.html.jinja").read_text("utf-8")
    return Environment(autoescape=select_autoescape(default=True)).from_string(source)


def _pretty(value: JsonValue) -> str:
    """JSON for people, with keys in the order of the result; jinja's own filter would sort them."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def _kinds(row: RowResult) -> Iterator[str]:
    for warning in row.warnings:
        kind = warning.get("kind") if isinstance(warning, dict) else None
        yield kind if isinstance(kind, str) else "unknown"


def spans(text: str, data: JsonValue) -> tuple[QuotedSpan, ...]:
    """The places where values of a result occur verbatim in its document: the first of each value, without overlaps."""
    found: list[QuotedSpan] = []
    for pointer, value in leaves(data):
        if not isinstance(value, str | int | float) or isinstance(value, bool):
            continue
        word = value if isinstance(value, str) else repr(value)
        if len(word) < 2:
            continue
        begin = text.find(word)
        while begin >= 0:
            end = begin + len(word)
            if all(end <= other.begin or begin >= other.end for other in found):
                found.append(QuotedSpan(begin=begin, end=end, pointer=pointer))
                break
            begin = text.find(word, begin + 1)
    return tuple(sorted(found, key=lambda span: span.begin))


def _sample(row: RowResult, text: str) -> SampleRow:
    shown = text[:_SAMPLE_CHARACTERS]
    return SampleRow(
        row=row.row, id=row.id, text=shown, data=row.data, spans=spans(shown, row.data)
    )


def _slow(row: RowResult) -> SlowRow:
    prompt, output, seconds = row.usage
    return SlowRow(
        row=row.row, id=row.id, seconds=seconds, prompt_tokens=prompt, output_tokens=output
    )


@dataclass(frozen=True, slots=True)
class _Markup:
    """HTML text that jinja must not escape."""

    source: str

    def __html__(self) -> str:
        return self.source


def _marked(sample: SampleRow) -> _Markup:
    """A sample's text with its spans marked."""
    parts, last = [], 0
    for span in sample.spans:
        parts.append(html.escape(sample.text[last : span.begin]))
        word = html.escape(sample.text[span.begin : span.end])
        parts.append(f'<mark title="{html.escape(span.pointer)}">{word}</mark>')
        last = span.end
    return _Markup("".join((*parts, html.escape(sample.text[last:]))))
