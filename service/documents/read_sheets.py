"""Workbooks (XLSX, XLSB, XLS, ODS): each sheet as a page, each row as a line.

Does: read the stored values of cells. Does not: compute formulas, run macros or follow links.
"""

from collections.abc import Iterable
from datetime import date, datetime, time, timedelta
from io import BytesIO
from typing import Final

from python_calamine import CalamineError, CalamineWorkbook, PasswordError, ZipError

from .archive import Archive
from .parsed_document import XLS, PageText, ParsedDocument, joined, normalised, row
from .refused import encrypted, too_large, unreadable

MAX_SHEETS: Final = 256
MAX_CELLS: Final = 2_000_000
MAX_CHARACTERS: Final = 4_000_000

Cell = int | float | str | bool | time | date | datetime | timedelta


def read_sheets(content: bytes, media_type: str) -> ParsedDocument:
    """A workbook as a document.

    Raises:
        ReadingRefused: it is damaged, encrypted or too large.
    """
    if media_type != XLS:
        with Archive(content) as archive:  # its limits hold before the library unpacks anything
            for name in archive.names:
                archive.read(name)
    try:
        workbook = CalamineWorkbook.from_filelike(BytesIO(content))
        names = workbook.sheet_names
        if len(names) > MAX_SHEETS:
            raise too_large(f"the workbook has more than {MAX_SHEETS} sheets")
        pages, cells, characters = list[PageText](), 0, 0
        for name in names:
            sheet = workbook.get_sheet_by_name(name)
            cells += sheet.width * sheet.height
            if cells > MAX_CELLS:
                raise too_large(f"the workbook has more than {MAX_CELLS} cells")
            lines = _lines(sheet.iter_rows())
            text = normalised("\n".join(lines))
            characters += len(text)
            if characters > MAX_CHARACTERS:
                raise too_large(f"the workbook has more than {MAX_CHARACTERS} characters")
            pages.append(PageText(text, name[:64]))
    except PasswordError:
        raise encrypted("the workbook is encrypted and needs a password") from None
    except (CalamineError, ZipError, ValueError, OSError, OverflowError):
        raise unreadable("the workbook is damaged") from None
    text, placed = joined(pages)
    return ParsedDocument(media_type, text, placed)


def _lines(rows: Iterable[list[Cell]]) -> list[str]:
    found = [row(map(cell_text, cells)) for cells in rows]
    return [line for line in found if line]


def cell_text(cell: Cell) -> str:
    """The value of a cell as text: whole numbers without a fraction, times in ISO 8601, durations in hours.

    Numbers have 15 digits, as in the programs that write workbooks: 0.1 + 0.2 is shown and stored as 0.3 there, but for
    the last bits.
    """
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float):
        shown = float(f"{cell:.15g}")
        return str(int(shown)) if shown.is_integer() and abs(shown) < 1e15 else repr(shown)
    if isinstance(cell, datetime):
        return cell.date().isoformat() if cell.time() == time() else cell.isoformat(" ")
    if isinstance(cell, date | time):
        return cell.isoformat()
    if isinstance(cell, timedelta):
        sign, seconds = "-" if cell < timedelta() else "", round(abs(cell).total_seconds())
        return f"{sign}{seconds // 3600}:{seconds // 60 % 60:02}:{seconds % 60:02}"
    return str(cell)
