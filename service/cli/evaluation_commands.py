"""The options and help of `intaglio eval` and `intaglio calibrate`.

Does: declare. Does not: evaluate (`eval_command`) or fit (`calibrate_command`).
"""

from pathlib import Path
from typing import Annotated

import typer

from .adapter_option import AdapterChoiceOption, chosen_adapter
from .cli_errors import Exit, reporting
from .finite_numbers import finite
from .report_options import CalibrationOption, ConfidenceOption, GroundingOption


@reporting
def evaluate(
    gold: Annotated[
        Path | None,
        typer.Argument(
            help="JSONL of text, schema and expected data.  [default: the catalogue's samples]"
        ),
    ] = None,
    url: Annotated[
        str | None, typer.Option(help="URL of a service; default: run the model locally.")
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            "--model", "-m", help="Model folder; with --url, the name of one of the service's."
        ),
    ] = None,
    adapter: AdapterChoiceOption = None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Compare these finished answers (JSONL of id and data); run no model."),
    ] = None,
    id_field: Annotated[
        str, typer.Option("--id-field", help="Field of the ids in --predictions.")
    ] = "id",
    save: Annotated[
        Path | None,
        typer.Option(help="Save each answer here; the same command then continues from there."),
    ] = None,
    schema: Annotated[
        str | None,
        typer.Option("--schema", "-s", help="File or name of the schema of lines without one."),
    ] = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of output tokens.")
    ] = None,
    nulls: Annotated[
        bool,
        typer.Option(
            "--nulls", help="Allow null for required values that a document does not state."
        ),
    ] = False,
    grounding: GroundingOption = "off",
    confidence: ConfidenceOption = "off",
    calibration: CalibrationOption = None,
    at_once: Annotated[
        int, typer.Option("--at-once", min=1, max=4096, help="Extractions at the same time.")
    ] = 32,
    limit: Annotated[int | None, typer.Option(min=1, help="Only the first records.")] = None,
    json_file: Annotated[
        Path | None, typer.Option("--json", help="File for all figures as JSON.")
    ] = None,
    html_file: Annotated[
        Path | None, typer.Option("--html", help="File for the report as one HTML page.")
    ] = None,
    fail_under: Annotated[
        float | None,
        typer.Option(
            "--fail-under",
            min=0,
            max=1,
            callback=finite,
            help="Exit with 1 if the exact F1 is less; for CI.",
        ),
    ] = None,
) -> Exit:
    """Compare extractions with the right answers: precision and recall by field, documents right, confidence.

    Exit code 1 if a record has no answer, or by --fail-under.
    """
    from .eval_command import EvalCommand, run

    return run(
        EvalCommand(
            gold=gold,
            url=url,
            model=model,
            predictions=predictions,
            id_field=id_field,
            save=save,
            schema=schema,
            max_tokens=max_tokens,
            nulls=nulls,
            grounding=grounding,
            confidence=confidence,
            calibration=calibration,
            adapter=chosen_adapter(adapter, url, model),
            at_once=at_once,
            limit=limit,
            json_file=json_file,
            html_file=html_file,
            fail_under=fail_under,
        )
    )


@reporting
def calibrate(
    gold: Annotated[Path, typer.Argument(help="JSONL of text, schema and expected data.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="File for the calibration.")],
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Model folder; default: the included model."),
    ] = None,
    predictions: Annotated[
        Path | None,
        typer.Option(help="Finished answers of this model with confidences; run no model."),
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option(help="Save each answer here; the same command then continues from there."),
    ] = None,
    plot: Annotated[
        Path | None, typer.Option(help="File for the reliability diagram after it, as SVG.")
    ] = None,
    at_once: Annotated[
        int, typer.Option("--at-once", min=1, max=4096, help="Extractions at the same time.")
    ] = 32,
) -> Exit:
    """Fit the confidences of a model to the share of values that are right.

    Half of the documents are held out to choose the method and to measure the errors before and after.
    """
    from .calibrate_command import CalibrateCommand, run

    return run(
        CalibrateCommand(
            gold=gold,
            output=output,
            model=model,
            predictions=predictions,
            save=save,
            plot=plot,
            at_once=at_once,
        )
    )
