"""The options and help of `intaglio job`. The code is in `job_command`.

Does: declare. Does not: run anything itself.
"""

from pathlib import Path
from typing import Annotated

import typer

from .adapter_option import AdapterChoiceOption, chosen_adapter
from .cli_errors import EXIT_CODES, Exit, reporting
from .report_options import CalibrationOption, ConfidenceOption, GroundingOption

jobs = typer.Typer(
    help="Bulk extraction: files of many documents in, files of typed rows out, each row exactly once.",
    epilog=f"Exit codes: {EXIT_CODES}",
    no_args_is_help=True,
)

Job = Annotated[str, typer.Argument(metavar="JOB", help="A name from `intaglio job list`.")]
Json = Annotated[bool, typer.Option("--json", help="Print raw JSON on one line.")]
Database = Annotated[
    str | None,
    typer.Option("--ledger", help="File or database URL of the ledger.  [default: in your home]"),
]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Model folder; default: the included model."),
]
Url = Annotated[str | None, typer.Option(help="URL of a service; default: run the model locally.")]


File = Annotated[
    list[str],
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, JSONL, Parquet or XML; a folder or a quoted pattern of texts and documents.",
    ),
]
SchemaName = Annotated[
    str, typer.Option("--schema", "-s", help="File with a JSON Schema, or a catalogue name.")
]
Outputs = Annotated[
    list[Path],
    typer.Option("--out", "-o", help="Result file: .csv .tsv .jsonl .parquet .xml; repeatable."),
]
TextColumn = Annotated[
    str | None, typer.Option("--text-column", "-t", help="Column or field of the document text.")
]
Template = Annotated[
    str | None, typer.Option(help="Template of the document with {fields}, instead of one column.")
]
ImageColumns = Annotated[
    list[str] | None,
    typer.Option(
        "--image-column",
        help="Column or field with paths or data URLs of images, for a model that reads images; repeatable.",
    ),
]
IdColumn = Annotated[
    str | None, typer.Option(help="Column of the row id; default: the row number.")
]
Keep = Annotated[list[str] | None, typer.Option(help="Column to copy to the result; repeatable.")]
Record = Annotated[
    str | None, typer.Option(help="XML: path of the record elements, such as catalog/item.")
]
Format = Annotated[
    str | None, typer.Option("--format", help="Format of FILE, if its name does not tell.")
]
Delimiter = Annotated[str | None, typer.Option(help="Delimiter of CSV.  [default: detected]")]
Encoding = Annotated[str | None, typer.Option(help="Encoding of FILE.  [default: detected]")]
JobName = Annotated[str | None, typer.Option("--job", help="The job's name.")]
Extends = Annotated[
    str | None, typer.Option(help="Finished job to extend; only new fields are extracted.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="Only the first N records.")]
Sample = Annotated[
    float | None,
    typer.Option(max=1, help="Only this share of the records, more than 0."),
]
MaxTokens = Annotated[
    int | None, typer.Option(min=1, help="Maximum number of tokens of an answer.")
]
StrictSchema = Annotated[
    bool, typer.Option("--strict-schema", help="Refuse schemas with unknown keywords.")
]
Windows = Annotated[
    bool,
    typer.Option(
        "--windows", help="Read documents longer than the context in overlapping windows."
    ),
]
Nulls = Annotated[
    bool,
    typer.Option("--nulls", help="Allow null for required values that a record does not state."),
]
RowDeadline = Annotated[
    float | None,
    typer.Option(max=3600, help="Time limit of a row in seconds, more than 0."),
]
Attempts = Annotated[int, typer.Option(min=1, max=20, help="Attempts at a row.")]
StopAtDeadShare = Annotated[
    float | None, typer.Option(min=0, max=1, help="Stop when this share of rows is dead.")
]
ReviewBelow = Annotated[
    float | None,
    typer.Option(
        "--review-below", min=0, max=1, help="Mark rows with a value less probable than this."
    ),
]
Formulas = Annotated[
    bool, typer.Option("--formulas", help="Keep cells that look like formulas unchanged.")
]
Price = Annotated[
    tuple[float, float] | None,
    typer.Option(
        metavar="IN OUT", help="Prices of a million tokens in and out, to report the cost."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Read the source, try eight rows, estimate the job.")
]
Cluster = Annotated[str | None, typer.Option(help="Run on Ray: auto, or the address of a cluster.")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Engines on the cluster.  [default: one per GPU]")
]
ConcurrencyOption = Annotated[
    int | None, typer.Option(min=1, help="Maximum number of rows in flight.")
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Overwrite existing files that this job did not write.")
]


@jobs.command("run")
@reporting
def run(
    file: File,
    schema: SchemaName,
    out: Outputs,
    text_column: TextColumn = None,
    template: Template = None,
    image_column: ImageColumns = None,
    id_column: IdColumn = None,
    keep: Keep = None,
    record: Record = None,
    input_format: Format = None,
    delimiter: Delimiter = None,
    encoding: Encoding = None,
    name: JobName = None,
    extends: Extends = None,
    limit: Limit = None,
    sample: Sample = None,
    max_tokens: MaxTokens = None,
    nulls: Nulls = False,
    row_deadline: RowDeadline = None,
    strict_schema: StrictSchema = False,
    windows: Windows = False,
    grounding: GroundingOption = "off",
    confidence: ConfidenceOption = "off",
    attempts: Attempts = 3,
    stop_at_dead_share: StopAtDeadShare = None,
    review_below: ReviewBelow = None,
    formulas: Formulas = False,
    price: Price = None,
    dry_run: DryRun = False,
    url: Url = None,
    model: Model = None,
    adapter: AdapterChoiceOption = None,
    at_once: ConcurrencyOption = None,
    cluster: Cluster = None,
    workers: Workers = None,
    calibration: CalibrationOption = None,
    ledger: Database = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> Exit:
    """Extract from every record of a file. Repeat the command to resume after an interruption."""
    from .job_command import EngineOptions, RunOptions, start
    from .job_options import JobCommand, one_source

    command = JobCommand(
        file=one_source(file),
        schema=schema,
        out=tuple(out),
        text=text_column,
        template=template,
        id=id_column,
        keep=tuple(keep or ()),
        images=tuple(image_column or ()),
        record=record,
        format=input_format,
        delimiter=delimiter,
        encoding=encoding,
        name=name,
        extends=extends,
        limit=limit,
        sample=sample,
        max_tokens=max_tokens,
        nulls=nulls,
        row_deadline=row_deadline,
        strict_schema=strict_schema,
        windows=windows,
        grounding=grounding,
        confidence=confidence,
        attempts=attempts,
        stop_at_dead_share=stop_at_dead_share,
        review_below=review_below,
        neutralise=not formulas,
        price=price,
        adapter=chosen_adapter(adapter, url, model),
    )
    engine = EngineOptions(url, model, at_once, cluster, workers, calibration)
    return start(command, engine, ledger, RunOptions(as_json, overwrite), dry_run=dry_run)


@jobs.command("resume")
@reporting
def resume(
    job: Job,
    url: Url = None,
    model: Model = None,
    calibration: CalibrationOption = None,
    ledger: Database = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> Exit:
    """Resume a job that was paused, interrupted or cancelled."""
    from .job_command import EngineOptions, RunOptions
    from .job_command import resume as resume_job

    engine = EngineOptions(url, model, calibration=calibration)
    return resume_job(job, engine, ledger, RunOptions(as_json, overwrite))


@jobs.command("retry-dead")
@reporting
def retry_dead(
    job: Job,
    url: Url = None,
    model: Model = None,
    calibration: CalibrationOption = None,
    ledger: Database = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> Exit:
    """Retry the dead rows of a job."""
    from .job_command import EngineOptions, RunOptions
    from .job_command import resume as resume_job

    engine = EngineOptions(url, model, calibration=calibration)
    return resume_job(job, engine, ledger, RunOptions(as_json, overwrite, retry_dead=True))


@jobs.command("status")
@reporting
def status(job: Job, ledger: Database = None, as_json: Json = False) -> Exit:
    """Show the status of a job."""
    from .job_command import show_status

    return show_status(job, ledger, as_json=as_json)


@jobs.command("list")
@reporting
def list_(ledger: Database = None, as_json: Json = False) -> Exit:
    """List all jobs, newest first."""
    from .job_command import show_all

    return show_all(ledger, as_json=as_json)


@jobs.command("pause")
@reporting
def pause(job: Job, ledger: Database = None) -> Exit:
    """Pause a running job and release its rows in flight; `resume` continues it."""
    from .job_command import request_stop

    return request_stop(job, "pause", ledger)


@jobs.command("cancel")
@reporting
def cancel(job: Job, ledger: Database = None) -> Exit:
    """Cancel a job; its results so far are kept."""
    from .job_command import request_stop

    return request_stop(job, "cancel", ledger)


@jobs.command("report")
@reporting
def report(
    job: Job, ledger: Database = None, overwrite: Overwrite = False, as_json: Json = False
) -> Exit:
    """Write a job's outputs and report again from the ledger; as NAME.partial.… while it is incomplete."""
    from .job_command import RunOptions, rewrite_outputs

    return rewrite_outputs(job, ledger, RunOptions(as_json, overwrite))


@jobs.command("review")
@reporting
def review(
    job: Job,
    accept: Annotated[
        list[str] | None, typer.Option(help="Accept the row with this id; repeatable.")
    ] = None,
    accept_all: Annotated[
        bool, typer.Option("--accept-all", help="Accept all rows that wait for a review.")
    ] = False,
    correct: Annotated[
        Path | None, typer.Option(help="JSONL of corrections: id and data on each line.")
    ] = None,
    gold: Annotated[
        Path | None, typer.Option(help="Write the reviewed rows as gold data to this file.")
    ] = None,
    ledger: Database = None,
    as_json: Json = False,
) -> Exit:
    """List the rows of a job that wait for a review; accept or correct them; export them as gold data."""
    from .review_command import ReviewCommand
    from .review_command import run as run_review

    return run_review(
        ReviewCommand(
            job=job,
            accept=tuple(accept or ()),
            accept_all=accept_all,
            correct=correct,
            gold=gold,
            ledger=ledger,
            as_json=as_json,
        )
    )
