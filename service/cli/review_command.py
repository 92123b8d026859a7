"""`intaglio job review`: the rows of a job that wait for a person.

Does: list them, record decisions, write reviewed rows as gold data. Does not: write outputs (`intaglio job report`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intaglio.schemas.jobs import ReviewDecision, ReviewRow
from intaglio.schemas.json_pointer import value_at

from ..evaluation.gold import id_text, json_objects
from .cli_errors import CliError, Exit
from .console import compact, errors, results, write_json
from .eval_command import unusable_files
from .job_command import open_ledger

try:
    from ..jobs.ledger import reviews_of
    from ..jobs.reviews import MOST_ROWS, JobReviews
except ModuleNotFoundError as missing:
    raise CliError(
        f"jobs need {missing.name!r}, which is not installed",
        Exit.UNREACHABLE,
        hint="pip install 'intaglio[server,bulk]'",
    ) from missing


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewCommand:
    """The arguments of `intaglio job review`, as typed."""

    job: str
    accept: tuple[str, ...]
    accept_all: bool
    correct: Path | None
    gold: Path | None
    ledger: str | None
    as_json: bool


def run(command: ReviewCommand) -> Exit:
    """Record the decisions, write the gold data, and list what waits.

    Either all decisions are recorded or none. Raises `CliError` or `JobError`.
    """
    decisions = [] if command.correct is None else _corrections(command.correct)
    with open_ledger(command.ledger) as ledger:
        reviews = reviews_of(ledger, command.job)
        decided = _decide(reviews, command, decisions)
        if command.gold is not None:
            errors().print(f"{_write_gold(reviews, command.gold)} rows in {command.gold}")
        if decided or command.gold is not None:
            left = ledger.status(command.job).counts.needs_review
            errors().print(f"{decided} rows were reviewed, {left} wait for a review")
            return Exit.OK
        _list(reviews, as_json=command.as_json)
    return Exit.OK


def _corrections(path: Path) -> list[tuple[str, Any]]:
    found = []
    with unusable_files():
        for number, line in json_objects(path):
            where = f"{path}, line {number}"
            if not {"id", "data"} <= line.keys():
                raise CliError(f"{where}: needs 'id' and 'data'", Exit.USAGE)
            found.append((id_text(line["id"], where), line["data"]))
    return found


def _decide(reviews: JobReviews, command: ReviewCommand, corrections: list[tuple[str, Any]]) -> int:
    accepted = [reviews.number_of(id_) for id_ in command.accept]
    corrected = [(reviews.number_of(id_), data) for id_, data in corrections]
    reviews.decide(
        *(ReviewDecision(row=row, decision="accept") for row in accepted),
        *(ReviewDecision(row=row, decision="correct", data=data) for row, data in corrected),
    )
    return len(accepted) + len(corrected) + (reviews.accept_all() if command.accept_all else 0)


def _write_gold(reviews: JobReviews, path: Path) -> int:
    """Write the gold data, and replace `path` only when it is complete; returns the number of rows."""
    part = path.with_name(f".{path.name}.part")
    count = 0
    try:
        with part.open("w", encoding="utf-8") as file:
            for row in reviews.gold():
                file.write(row.model_dump_json(by_alias=True) + "\n")
                count += 1
        part.replace(path)
    except OSError as error:
        raise CliError(f"{path} cannot be written: {error.strerror}", Exit.USAGE) from None
    finally:
        part.unlink(missing_ok=True)
    return count


def _list(reviews: JobReviews, *, as_json: bool) -> None:
    after: int | None = 0
    any_row = False
    while after is not None:
        page = reviews.page(after=after, limit=MOST_ROWS)
        for row in page.data:
            any_row = True
            _print(row, as_json=as_json)
        after = page.next
    if not any_row:
        errors().print("no row waits for a review")


def _print(row: ReviewRow, *, as_json: bool) -> None:
    if as_json:
        write_json(row.model_dump(mode="json"), raw=True)
        return
    out = results()
    out.print(f"{row.id}:", style="bold", soft_wrap=True)
    for pointer, probability in row.unsure.items():
        sure = "no probability" if probability is None else f"{probability:.3f}"
        out.print(
            f"  {pointer or '/'}  {compact(value_at(row.data, pointer))}  {sure}", soft_wrap=True
        )
