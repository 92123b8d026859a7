"""An extraction as HTML for notebooks: its values as a table, and where they come from.

Does: escape every text; use styles inside elements only. Does not: use scripts, links or classes, which notebooks
remove or share between cells.
"""

import json
from collections.abc import Mapping
from html import escape
from typing import Any, Final

from intaglio.schemas.json_pointer import leaves
from pydantic import JsonValue

_MOST_ROWS: Final = 200
_MOST_CHARACTERS: Final = 500
_CELL: Final = "text-align:left;vertical-align:top;padding:.2em .8em .2em 0"


def extraction_table(raw: Mapping[str, Any]) -> str:
    """The table of one answer: a row for each leaf of its data.

    Sources and confidences, if the answer has them, are further columns. Warnings follow the table. At most 200 rows
    are shown.
    """
    rows = list(leaves(raw["data"]))
    fields: Mapping[str, Any] = raw.get("fields") or {}
    parts = ['<table style="border-collapse:collapse"><thead><tr>']
    heads = ["field", "value", *(("source", "probability") if fields else ())]
    parts += [f'<th style="{_CELL}">{head}</th>' for head in heads]
    parts.append("</tr></thead><tbody>")
    for pointer, value in rows[:_MOST_ROWS]:
        cells = [f"<code>{_short(pointer or '/')}</code>", _short(_text(value))]
        if fields:
            cells += _origin(fields.get(pointer) or {})
        line = "".join(f'<td style="{_CELL}">{cell}</td>' for cell in cells)
        parts.append(f"<tr>{line}</tr>")
    parts.append("</tbody></table>")
    if len(rows) > _MOST_ROWS:
        parts.append(f"<p>{len(rows) - _MOST_ROWS} more values are not shown</p>")
    for warning in raw.get("warnings") or ():
        parts.append(f"<p>{_short(warning['pointer'])}: {_short(warning['message'])}</p>")
    return "".join(parts)


def _origin(report: Mapping[str, Any]) -> tuple[str, str]:
    """(place and kind of match, probability) of one leaf."""
    span, match = report.get("span"), report.get("match", "none")
    place = f"<mark>{int(span['start'])}-{int(span['end'])}</mark> {_short(match)}" if span else ""
    if report.get("page") is not None:
        place += f", page {int(report['page'])}"
    confidence = report.get("confidence") or {}
    calibrated = confidence.get("calibrated")
    probability = confidence.get("probability") if calibrated is None else calibrated
    return place, "" if probability is None else f"{probability:.3f}"


def _text(value: JsonValue) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _short(text: str) -> str:
    cut = text if len(text) <= _MOST_CHARACTERS else text[:_MOST_CHARACTERS] + "…"
    return escape(cut)
