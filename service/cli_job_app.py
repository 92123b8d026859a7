"""`intaglio job …`: names, options and help. The work is in `cli_job`.

Does: declare. Does not: work.
"""

from pathlib import Path
from typing import Annotated

import typer

from .cli_trouble import EXIT_CODES, Exit, reporting

jobs = typer.Typer(
    help="Files of many documents to files of typed rows, nothing lost and nothing twice.",
    epilog=f"Exit codes: {EXIT_CODES}",
    no_args_is_help=True,
)

Job = Annotated[str, typer.Argument(metavar="JOB", help="A name that `intaglio job list` shows.")]
Json = Annotated[bool, typer.Option("--json", help="Raw JSON on standard output, one line.")]
Database = Annotated[
    str | None,
    typer.Option(
        "--ledger", help="File or database URL that remembers every row.  [default: in your home]"
    ),
]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Folder of a model; default: the one in the package."),
]
Url = Annotated[
    str | None, typer.Option(help="Use the service there; default: run the model here.")
]


File = Annotated[
    str, typer.Argument(metavar="FILE", help="CSV, TSV, JSONL, Parquet, XML, or text files.")
]
SchemaName = Annotated[
    str, typer.Option("--schema", "-s", help="File with a JSON Schema, or a catalogue name.")
]
Outputs = Annotated[
    list[Path],
    typer.Option("--out", "-o", help="Result: .csv .tsv .jsonl .parquet .xml; repeatable."),
]
TextColumn = Annotated[
    str | None, typer.Option("--text-column", "-t", help="Column or field with the document.")
]
Template = Annotated[
    str | None, typer.Option(help="The document, made of {fields}, instead of one column.")
]
IdColumn = Annotated[
    str | None, typer.Option(help="Column that names the row; default: its number.")
]
Keep = Annotated[list[str] | None, typer.Option(help="Column to repeat in the result; repeatable.")]
Record = Annotated[str | None, typer.Option(help="XML: path of the records, such as catalog/item.")]
Format = Annotated[
    str | None, typer.Option("--format", help="Format of FILE where its name does not tell.")
]
Delimiter = Annotated[str | None, typer.Option(help="Of CSV.  [default: found]")]
Encoding = Annotated[str | None, typer.Option(help="Of FILE.  [default: found]")]
JobName = Annotated[str | None, typer.Option("--job", help="The job's name.")]
Extends = Annotated[
    str | None, typer.Option(help="Finished job whose values stay; only new fields are asked.")
]
Limit = Annotated[int | None, typer.Option(min=1, help="The first so many records.")]
Sample = Annotated[float | None, typer.Option(min=0, max=1, help="This share of the records.")]
MaxTokens = Annotated[int | None, typer.Option(min=1, help="Most tokens an answer takes.")]
StrictSchema = Annotated[
    bool, typer.Option("--strict-schema", help="Refuse a schema with words that are not known.")
]
Nulls = Annotated[
    bool, typer.Option("--nulls", help="null for required values that a record does not say.")
]
RowDeadline = Annotated[float | None, typer.Option(min=0, help="Most seconds a row may take.")]
Attempts = Annotated[int, typer.Option(min=1, max=20, help="Tries of a row.")]
StopAtDeadShare = Annotated[
    float | None, typer.Option(min=0, max=1, help="Stop when this share of rows died.")
]
Formulas = Annotated[
    bool, typer.Option("--formulas", help="Leave cells that look like formulas as they are.")
]
Price = Annotated[
    tuple[float, float] | None,
    typer.Option(metavar="IN OUT", help="Price of a million tokens in and out: tells the cost."),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Read all, try eight rows, say what it would take.")
]
Cluster = Annotated[str | None, typer.Option(help="Run on Ray: auto, or the address of a cluster.")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Engines on the cluster.  [default: one a GPU]")
]
AtOnce = Annotated[int | None, typer.Option(min=1, help="Most rows in hand.")]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Write over files that are there and not this job's.")
]


@jobs.command("run")
@reporting
def run(
    file: File,
    schema: SchemaName,
    out: Outputs,
    text_column: TextColumn = None,
    template: Template = None,
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
    attempts: Attempts = 3,
    stop_at_dead_share: StopAtDeadShare = None,
    formulas: Formulas = False,
    price: Price = None,
    dry_run: DryRun = False,
    url: Url = None,
    model: Model = None,
    at_once: AtOnce = None,
    cluster: Cluster = None,
    workers: Workers = None,
    ledger: Database = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> Exit:
    """Extract from every record of a file. Run it again to go on where it was interrupted."""
    from .cli_job import EngineOptions, RunOptions, start
    from .cli_job_asked import JobCommand

    command = JobCommand(
        file=file,
        schema=schema,
        out=tuple(out),
        text=text_column,
        template=template,
        id=id_column,
        keep=tuple(keep or ()),
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
        attempts=attempts,
        stop_at_dead_share=stop_at_dead_share,
        neutralise=not formulas,
        price=price,
    )
    engine = EngineOptions(url, model, at_once, cluster, workers)
    return start(command, engine, ledger, RunOptions(as_json, overwrite), dry_run=dry_run)


@jobs.command("resume")
@reporting
def resume(
    job: Job,
    url: Url = None,
    model: Model = None,
    ledger: Database = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> Exit:
    """Go on with a job that was paused, interrupted or cancelled."""
    from .cli_job import EngineOptions, RunOptions
    from .cli_job import resume as resume_job

    return resume_job(job, EngineOptions(url, model), ledger, RunOptions(as_json, overwrite))


@jobs.command("retry-dead")
@reporting
def retry_dead(
    job: Job,
    url: Url = None,
    model: Model = None,
    ledger: Database = None,
    overwrite: Overwrite = False,
    as_json: Json = False,
) -> Exit:
    """Try the dead rows of a job again."""
    from .cli_job import EngineOptions, RunOptions
    from .cli_job import resume as resume_job

    return resume_job(
        job, EngineOptions(url, model), ledger, RunOptions(as_json, overwrite, retry_dead=True)
    )


@jobs.command("status")
@reporting
def status(job: Job, ledger: Database = None, as_json: Json = False) -> Exit:
    """Say how a job stands."""
    from .cli_job import show_status

    return show_status(job, ledger, as_json=as_json)


@jobs.command("list")
@reporting
def list_(ledger: Database = None, as_json: Json = False) -> Exit:
    """Name every job, the newest first."""
    from .cli_job import show_all

    return show_all(ledger, as_json=as_json)


@jobs.command("pause")
@reporting
def pause(job: Job, ledger: Database = None) -> Exit:
    """Have a running job stop and give back the rows in hand; `resume` goes on."""
    from .cli_job import request

    return request(job, "pause", ledger)


@jobs.command("cancel")
@reporting
def cancel(job: Job, ledger: Database = None) -> Exit:
    """End a job; its results so far are kept."""
    from .cli_job import request

    return request(job, "cancel", ledger)


@jobs.command("report")
@reporting
def report(
    job: Job, ledger: Database = None, overwrite: Overwrite = False, as_json: Json = False
) -> Exit:
    """Write a job's outputs and report again, from what the ledger has; as NAME.partial.… while it is not complete."""
    from .cli_job import RunOptions, rewrite_outputs

    return rewrite_outputs(job, ledger, RunOptions(as_json, overwrite))
