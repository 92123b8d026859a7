"""`intaglio eval`: gold data against a model, a service or finished answers.

Does: read the files, run the records with progress, print a table, write the reports. Does not: compare
(`service/evaluation`).
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from intaglio.schemas.extraction.grounding_modes import ConfidenceMode, Grounding
from rich.progress import Progress
from rich.table import Table

from ..evaluation.figures import EvaluationReport, FieldScore, evaluate, percent
from ..evaluation.gold import EvaluationInputError, GoldRecord, catalogue_gold, read_gold
from ..evaluation.gold_run import answer_records
from ..evaluation.predictions import Prediction, SavedPredictions, read_predictions
from ..jobs.backends import ExtractionBackend, LocalBackend, RemoteBackend, RowOptions
from .adapter_option import ChosenAdapter
from .cli_errors import CliError, Exit
from .console import errors, results
from .documents import read_schema
from .local_model import offline, require_local_calibration
from .output_file import require_outputs, write_whole

_FAILED_SHOWN = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCommand:
    """The arguments of `intaglio eval`, as typed."""

    gold: Path | None
    url: str | None
    model: str | None
    predictions: Path | None
    id_field: str
    save: Path | None
    schema: str | None
    max_tokens: int | None
    nulls: bool
    grounding: Grounding
    confidence: ConfidenceMode
    calibration: Path | None
    adapter: ChosenAdapter | None
    at_once: int
    limit: int | None
    json_file: Path | None
    html_file: Path | None
    fail_under: float | None

    def options(self) -> RowOptions:
        """The options of every extraction."""
        options: RowOptions = {}
        if self.adapter is not None:
            options["adapter"] = self.adapter.name
        if self.max_tokens is not None:
            options["max_tokens"] = self.max_tokens
        if self.nulls:
            options["not_stated"] = "null"
        if self.grounding != "off":
            options["grounding"] = self.grounding
        if self.confidence != "off":
            options["confidence"] = self.confidence
        return options


def run(command: EvalCommand) -> Exit:
    """Evaluate, print the table and write the reports.

    Returns `Exit.FAILED` if a record has no answer or the F1 is less than demanded. Raises `CliError` for unusable
    files and options.
    """
    _require_compatible(command)
    require_outputs(
        {"--save": command.save, "--json": command.json_file, "--html": command.html_file},
        (command.gold, command.predictions, command.schema, command.calibration),
    )
    with unusable_files():
        records = gold_records(command.gold, command.schema, command.limit)
        if command.predictions is not None:
            model, found = None, read_predictions(command.predictions, command.id_field)
        else:
            place = EvaluatedModel(
                command.url,
                command.model,
                command.options(),
                command.at_once,
                command.calibration,
                command.adapter,
            )
            model, found = place.answers(records, command.save)
    report = evaluate(records, found, gold=str(command.gold or "catalogue"), model=model)
    _write(report, command)
    _show(report)
    f1 = report.total.ratio_exact.f1 or 0.0
    if command.fail_under is not None and f1 < command.fail_under:
        errors().print(f"F1 {f1:.3f} is less than {command.fail_under:g}", style="yellow")
        return Exit.FAILED
    return Exit.FAILED if report.failed else Exit.OK


def gold_records(path: Path | None, schema: str | None, limit: int | None) -> list[GoldRecord]:
    """The records of a file, or of the catalogue. Raises `EvaluationInputError` or `CliError`."""
    if path is None:
        return catalogue_gold()[:limit]
    given = None if schema is None else read_schema(schema, registered=True)
    return read_gold(path, given)[:limit]


@contextmanager
def unusable_files() -> Iterator[None]:
    """Raise `CliError` for files that the evaluation cannot use."""
    try:
        yield
    except EvaluationInputError as error:
        raise CliError(str(error), Exit.USAGE, hint=error.hint) from None


@dataclass(frozen=True, slots=True)
class EvaluatedModel:
    """Where records are answered: by the service at `url`, or by the model in this process."""

    url: str | None
    model: str | None
    options: RowOptions
    at_once: int
    calibration: Path | None = None
    adapter: ChosenAdapter | None = None

    def answers(
        self, records: list[GoldRecord], save: Path | None
    ) -> tuple[str, dict[str, Prediction]]:
        """(name of the model, prediction by id), with progress on a terminal. Raises as `answer_records`."""
        saving = nullcontext() if save is None else SavedPredictions(save)
        with (
            saving as saved,
            self._backend() as backend,
            Progress(console=errors(), disable=not errors().is_terminal) as bar,
        ):
            task = bar.add_task("records", total=len(records))
            found = answer_records(
                records,
                backend,
                dict[str, Any](self.options),
                saved,
                lambda count: bar.update(task, completed=count),
            )
            return backend.model, found

    @contextmanager
    def _backend(self) -> Iterator[ExtractionBackend]:
        if self.url is not None:
            yield RemoteBackend(self.url, self.options, self.model, self.at_once)
            return
        folders = None if self.adapter is None else self.adapter.folders
        with offline(self.model, self.calibration, folders) as loaded:
            yield LocalBackend(loaded.llm, self.options, self.at_once)


def _require_compatible(command: EvalCommand) -> None:
    require_local_calibration(command.calibration, command.url)
    given = {
        "--url": command.url,
        "--model": command.model,
        "--save": command.save,
        "--calibration": command.calibration,
        "--adapter": command.adapter,
        "--max-tokens": command.max_tokens,
        "--nulls": command.nulls or None,
        "--grounding": None if command.grounding == "off" else command.grounding,
        "--confidence": None if command.confidence == "off" else command.confidence,
    }
    excluded = [name for name, value in given.items() if value is not None]
    if command.predictions is not None and excluded:
        raise CliError(
            f"--predictions excludes {', '.join(excluded)}",
            Exit.USAGE,
            hint="finished answers need no model",
        )


def _write(report: EvaluationReport, command: EvalCommand) -> None:
    if command.json_file is not None:
        write_whole(command.json_file, report.model_dump_json(indent=1) + "\n")
    if command.html_file is not None:
        from ..evaluation.eval_page import evaluation_page

        write_whole(command.html_file, evaluation_page(report))


def _show(report: EvaluationReport) -> None:
    out, shares = results(), report.shares
    out.print(_table(report))
    out.print()
    answered = f"{shares.answered} of {shares.documents} documents answered"
    out.print(f"{answered}, {percent(shares.whole)} right, {percent(shares.whole_near)} near")
    for name, each in (("leaves", shares), ("mean over groups", report.macro)):
        out.print(
            f"{name}: {percent(each.at_pointer)} right at their pointers, "
            f"{percent(each.aligned)} with lists aligned, {percent(each.near)} near, "
            f"blank {percent(each.blank)}"
        )
    confidence = report.confidence
    if confidence is not None:
        auroc = "-" if confidence.auroc is None else f"{confidence.auroc:.3f}"
        out.print(
            f"confidence of {confidence.values} values: AUROC {auroc}, ECE {confidence.ece:.3f}, "
            f"area under risk-coverage {confidence.area:.3f}"
        )
    for failed in report.failed[:_FAILED_SHOWN]:
        errors().print(f"{failed.id}: {failed.code}: {failed.message}", style="yellow")
    if len(report.failed) > _FAILED_SHOWN:
        errors().print(f"and {len(report.failed) - _FAILED_SHOWN} more without an answer")
    if report.unknown_ids:
        count = len(report.unknown_ids)
        errors().print(f"{count} predictions are for no gold record", style="yellow")


def _table(report: EvaluationReport) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    several = len(report.groups) > 1
    if several:
        table.add_column("group", overflow="fold")
    table.add_column("field", overflow="fold")
    for name in ("gold", "given", "exact", "near", "precision", "recall", "F1", "F1 near"):
        table.add_column(name, justify="right")
    for each in report.fields:
        if not each.gold and not each.given:
            continue
        table.add_row(*([each.group or "-"] if several else []), each.field or "/", *_cells(each))
    table.add_section()
    table.add_row(*([""] if several else []), "all", *_cells(report.total), style="bold")
    return table


def _cells(score: FieldScore) -> tuple[str, ...]:
    exact, near = score.ratio_exact, score.ratio_near
    counts = (score.gold, score.given, score.exact, score.near)
    ratios = (exact.precision, exact.recall, exact.f1, near.f1)
    return (*map(str, counts), *map(percent, ratios))
