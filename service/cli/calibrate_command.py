"""`intaglio calibrate`: gold data and the confidences of a model, to a calibration of that model.

Does: answer the records or read finished answers, fit, write the file and the diagram. Does not: fit itself
(`service/evaluation`).
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from intaglio.schemas import catalogue

from ..calibration.calibration_file import Calibration, model_fingerprint
from ..calibration.value_evidence import evidence_of, root_properties
from ..evaluation.charts import reliability_diagram
from ..evaluation.figures import judged_leaves
from ..evaluation.fit_calibration import after, fit_calibration
from ..evaluation.fit_regression import JudgedEvidence
from ..evaluation.gold import GoldRecord, read_gold
from ..evaluation.leaf_pairs import leaf_pairs
from ..evaluation.predictions import Prediction, read_predictions
from ..evaluation.ranking import calibration_bins
from ..jobs.backends import RowOptions
from .cli_errors import CliError, Exit
from .console import errors, results
from .eval_command import EvaluatedModel, unusable_files
from .output_file import require_outputs, write_whole

_OPTIONS: Final[RowOptions] = {"confidence": "first_reading", "grounding": "locate"}


@dataclass(frozen=True, slots=True, kw_only=True)
class CalibrateCommand:
    """The arguments of `intaglio calibrate`, as typed."""

    gold: Path
    output: Path
    model: str | None
    predictions: Path | None
    save: Path | None
    plot: Path | None
    at_once: int


def run(command: CalibrateCommand) -> Exit:
    """Fit and write the calibration; print what it changes on held-out documents.

    Raises `CliError` for unusable files, and if there are too few values with a probability.
    """
    from intaglio.engine.api import model_folder

    if command.predictions is not None and command.save is not None:
        raise CliError("--predictions excludes --save", Exit.USAGE)
    require_outputs(
        {"--save": command.save, "--output": command.output, "--plot": command.plot},
        (command.gold, command.predictions),
    )
    folder = model_folder(command.model)
    with unusable_files():
        records = read_gold(command.gold)
        found = _predictions(command, records)
        judged = {
            record.id: judged_values(record, found[record.id])
            for record in records
            if record.id in found
        }
        calibration = fit_calibration(
            judged, model=folder.name, fingerprint=model_fingerprint(folder)
        )
    _write(command, calibration, [value for values in judged.values() for value in values])
    _show(calibration)
    failed = [id_ for id_, each in found.items() if each.error is not None]
    if failed:
        errors().print(f"{len(failed)} records have no answer and were left out", style="yellow")
    return Exit.OK


def judged_values(record: GoldRecord, prediction: Prediction) -> list[JudgedEvidence]:
    """The values of one answer with their features, and whether they are right."""
    if prediction.error is not None:
        return []
    schema: Any = record.schema
    if isinstance(schema, str):
        schema = catalogue.get(schema).schema if schema in catalogue.names() else None
    pairs = leaf_pairs(record.expected, prediction.data)
    values = {pair.given_pointer: pair.given for pair in pairs if pair.given_pointer is not None}
    known = dict(evidence_of(prediction.reports, values, root_properties(schema)))
    return list(judged_leaves(pairs, known))


def _predictions(command: CalibrateCommand, records: list[GoldRecord]) -> dict[str, Prediction]:
    if command.predictions is not None:
        return read_predictions(command.predictions)
    place = EvaluatedModel(None, command.model, _OPTIONS, command.at_once)
    return place.answers(records, command.save)[1]


def _write(
    command: CalibrateCommand, calibration: Calibration, judged: list[JudgedEvidence]
) -> None:
    write_whole(command.output, calibration.model_dump_json(indent=1) + "\n")
    if command.plot is not None:
        bins = calibration_bins(after(calibration, judged))
        write_whole(command.plot, reliability_diagram(bins, "Reliability after calibration"))


def _show(calibration: Calibration) -> None:
    held, out = calibration.held_out, results()
    out.print(
        f"{calibration.method}, from {calibration.values} values of {calibration.documents} documents"
    )
    out.print(
        f"on {held.documents} held-out documents: ECE {held.ece_before:.3f} before, "
        f"{held.ece_after:.3f} after; AUROC {_figure(held.auroc_before)} before, "
        f"{_figure(held.auroc_after)} after"
    )


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"
