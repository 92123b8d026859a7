"""Tables of rows as text: aligned, piped, comma-separated, or a line of words a row."""

from __future__ import annotations

import re

from .draft import Content, Rows
from .draw import Draw


def tables(draw: Draw, content: Content) -> list[str]:
    return [_rows(draw, table) for table in content.rows if table.cells]


def _rows(draw: Draw, table: Rows) -> str:
    heading = draw.pick(table.headings)
    heading = draw.rng.choice((heading, f"{heading}:", heading.upper(), ""))
    cells = [[cell.written for cell in row] for row in table.cells]
    shape = draw.pick("line|line|line|line|aligned|pipes|csv|dashed|dashed|numbered")
    labels = [draw.pick(column.label) for column in table.columns]
    if shape in ("aligned", "pipes", "csv"):
        lines = _grid(draw, shape, labels, cells)
    else:
        template = draw.pick(table.lines)
        lines = [re.sub(r"\{(\d)\}", lambda found, row=row: row[int(found[1])], template) for row in cells]  # type: ignore[misc]
        mark = draw.pick("- |* |• |– ") if shape == "dashed" else ""
        lines = [f"{index}. {line}" if shape == "numbered" else mark + line for index, line in enumerate(lines, 1)]
        if shape == "line" and draw.chance(0.2):
            return f"{heading} " + "; ".join(lines)
    return "\n".join([heading, *lines] if heading else lines)


def _grid(draw: Draw, shape: str, labels: list[str], cells: list[list[str]]) -> list[str]:
    rows = [labels, *cells] if draw.chance(0.8) else cells
    if shape == "csv":
        glue = draw.rng.choice((",", ";", "\t"))
        return [glue.join(f'"{cell}"' if glue in cell else cell for cell in row) for row in rows]
    if shape == "pipes":
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return [*lines[:1], "|" + "---|" * len(labels), *lines[1:]] if rows[0] is labels else lines
    widths = [max(len(row[index]) for row in rows) for index in range(len(labels))]
    gap = " " * draw.rng.randint(1, 4)
    return [gap.join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip() for row in rows]
