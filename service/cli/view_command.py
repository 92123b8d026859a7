"""`intaglio view`: reads a file of results and writes a page.

Does: read, write, report. Does not: know the form of results (`page.result_rows`) or of pages (`page.saved_page`).
"""

from pathlib import Path

from ..file_kind import HEAD, kind_of
from ..page.result_rows import UnreadableResults, result_rows
from ..page.saved_page import saved_page
from ..regular_file import open_text
from .cli_errors import CliError, Exit
from .console import errors
from .output_file import require_outputs, write_whole


def write_view(results: Path, output: Path, text_column: str | None, title: str | None) -> Exit:
    """Write the page of a result file.

    Raises:
        CliError: the file cannot be read, is not a file of results, or the page is that file or cannot be written.
    """
    require_outputs({"--output": output}, (results,))
    try:
        with open_text(results) as lines:
            rows = list(result_rows(lines, text_column))
    except OSError as error:
        raise CliError(f"{results} cannot be read: {error.strerror}", Exit.USAGE) from None
    except UnicodeDecodeError:
        with results.open("rb") as file:
            found = kind_of(file.read(HEAD))
        hint = "view takes JSON Lines: run the job with --out results.jsonl"
        packed = found is not None and found.name.startswith("packed with")
        raise CliError(
            f"{results} is {found.name}, not text" if found else f"{results} is not text in UTF-8",
            Exit.USAGE,
            hint=found.hint if found and packed else hint,
        ) from None
    except UnreadableResults as error:
        raise CliError(f"{results}, {error}", Exit.USAGE, hint=error.hint) from None
    page = saved_page(title or results.name, rows)
    write_whole(output, page)
    errors().print(f"{len(rows)} rows in {output}")
    return Exit.OK
