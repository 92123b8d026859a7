"""The commands of `intaglio`: names, options and help. Each command's code is in a module of its own, loaded on call.

Does: declare. Does not: run anything itself.
"""

from importlib.metadata import version as installed
from pathlib import Path
from typing import Annotated

import typer

from .adapter_option import AdapterChoiceOption, chosen_adapter
from .cli_errors import EXIT_CODES, Exit, reporting
from .evaluation_commands import calibrate, evaluate
from .job_commands import jobs
from .key_commands import keys
from .measure_commands import bench, plan, roofline
from .model_commands import models, quantize
from .page_commands import view
from .registry_commands import add_registry_commands
from .report_options import CalibrationOption, ConfidenceOption, GroundingOption
from .schema_commands import add_schema_commands
from .schema_tool_commands import add_schema_tool_commands
from .serve_options import (
    AdapterOption,
    AdapterRankOption,
    AllowAnonymousOption,
    CorsOriginOption,
    DeterministicOption,
    DraftsOption,
    EnginesOption,
    KeyStoreOption,
    KvDiskBytesOption,
    KvDiskOption,
    KvHostBytesOption,
    KvKeyFileOption,
    KvListenOption,
    KvPeerOption,
    MaxAdaptersOption,
    PpOption,
    PrefillEnginesOption,
    SpOption,
    ToolFormatOption,
    TpOption,
    TracesOption,
)

app = typer.Typer(
    name="intaglio",
    help="Reliable structured output: a schema and a document in, validated JSON out.",
    epilog=f"Exit codes: {EXIT_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
schemas = typer.Typer(
    help="Schemas: the catalogue of ready-made ones, the registry of a service, and checks.",
    no_args_is_help=True,
)
app.add_typer(schemas, name="schema")
app.add_typer(jobs, name="job")
app.add_typer(keys, name="keys")
app.add_typer(models, name="models")


def _print_version(requested: bool) -> None:
    if requested:
        typer.echo(f"intaglio {installed('intaglio')}")
        raise typer.Exit


@app.callback()
def options(
    _: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Reliable structured output: a schema and a document in, validated JSON out."""


Json = Annotated[bool, typer.Option("--json", help="Print raw JSON on one line.")]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Model folder; default: the included model."),
]


@app.command()
@reporting
def extract(
    documents: Annotated[
        list[str],
        typer.Argument(
            metavar="DOCUMENT",
            help="Files of text, documents, or images for a model with vision; - reads stdin.",
        ),
    ],
    schema: Annotated[
        str,
        typer.Option(
            "--schema",
            "-s",
            help="File with a JSON Schema, or a name: `intaglio schema list`; with --url also a registered one.",
        ),
    ],
    url: Annotated[
        str | None, typer.Option(help="URL of a service; default: run the model locally.")
    ] = None,
    model: Model = None,
    adapter: AdapterChoiceOption = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of tokens of an answer.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the result to this file.")
    ] = None,
    nulls: Annotated[
        bool,
        typer.Option(
            "--nulls", help="Allow null for required values that a document does not state."
        ),
    ] = False,
    strict_schema: Annotated[
        bool,
        typer.Option("--strict-schema", help="Refuse schemas with unknown keywords."),
    ] = False,
    windows: Annotated[
        bool,
        typer.Option(
            "--windows", help="Read documents longer than the context in overlapping windows."
        ),
    ] = False,
    answer: Annotated[
        bool,
        typer.Option(
            "--answer",
            help="Print the whole answer as one line of JSON: data, contract, warnings, usage, timings.",
        ),
    ] = False,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Print the events of the answer as they come, one line of JSON each. Needs --url.",
        ),
    ] = False,
    grounding: GroundingOption = "off",
    confidence: ConfidenceOption = "off",
    calibration: CalibrationOption = None,
    as_json: Json = False,
) -> Exit:
    """Extract the data that a schema describes from documents.

    One document: prints its data. Several: one line of JSON each, with "document" and "data" or "error". Progress and
    timings go to standard error.
    """
    from .extract_command import ExtractCommand, run

    return run(
        ExtractCommand(
            tuple(documents),
            schema,
            url,
            model,
            max_tokens,
            output,
            as_json,
            nulls=nulls,
            strict_schema=strict_schema,
            answer=answer,
            stream=stream,
            grounding=grounding,
            confidence=confidence,
            calibration=calibration,
            windows=windows,
            adapter=chosen_adapter(adapter, url, model),
        )
    )


@app.command()
@reporting
def serve(
    model: Model = None,
    host: Annotated[
        str | None, typer.Option(help="Address to listen on.  [default: 127.0.0.1]")
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port; 0 selects a free one.  [default: 8000]"),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="CPU threads of the model; default: torch's.")
    ] = None,
    max_running: Annotated[
        int | None,
        typer.Option(min=1, help="Maximum number of requests in a batch.  [default: 256]"),
    ] = None,
    max_context: Annotated[
        int | None, typer.Option(min=2, help="Maximum number of tokens of a prompt and its answer.")
    ] = None,
    log_format: Annotated[str | None, typer.Option(help="Log format: console or json.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder for files of clients; enables jobs.")
    ] = None,
    engines: EnginesOption = None,
    prefill_engines: PrefillEnginesOption = None,
    kv_listen: KvListenOption = None,
    kv_peer: KvPeerOption = None,
    kv_key_file: KvKeyFileOption = None,
    tp: TpOption = None,
    sp: SpOption = None,
    pp: PpOption = None,
    api_workers: Annotated[
        int | None,
        typer.Option(
            min=1, max=64, help="API processes.  [default: one for every four cores, at most 8]"
        ),
    ] = None,
    vllm_metrics: Annotated[
        bool | None,
        typer.Option("--vllm-metrics", help="Export metrics under vLLM's names, too."),
    ] = None,
    traces: TracesOption = None,
    tool_format: ToolFormatOption = None,
    key_store: KeyStoreOption = None,
    allow_anonymous: AllowAnonymousOption = None,
    cors_origin: CorsOriginOption = None,
    tls_cert: Annotated[Path | None, typer.Option(help="PEM file of a certificate.")] = None,
    tls_key: Annotated[Path | None, typer.Option(help="PEM file of its key.")] = None,
    drafts: DraftsOption = None,
    calibration: CalibrationOption = None,
    deterministic: DeterministicOption = None,
    kv_host_bytes: KvHostBytesOption = None,
    kv_disk: KvDiskOption = None,
    kv_disk_bytes: KvDiskBytesOption = None,
    adapter: AdapterOption = None,
    max_adapters: MaxAdaptersOption = None,
    adapter_rank: AdapterRankOption = None,
) -> Exit:
    """Serve a model over HTTP until Ctrl-C.

    Environment variables INTAGLIO_SERVICE_… and INTAGLIO_ENGINE_… hold further settings.
    """
    from .serve_command import ServeCommand, run

    return run(
        ServeCommand(
            model=model,
            host=host,
            port=port,
            threads=threads,
            max_running=max_running,
            max_context=max_context,
            log_format=log_format,
            data=data,
            engines=engines,
            prefill_engines=prefill_engines,
            kv_listen=kv_listen,
            kv_peers=",".join(kv_peer) if kv_peer else None,
            kv_key_file=None if kv_key_file is None else str(kv_key_file),
            tp=tp,
            sp=sp,
            pp=pp,
            api_workers=api_workers,
            vllm_metrics=vllm_metrics,
            traces=traces,
            tool_format=tool_format,
            key_store=key_store,
            allow_anonymous=allow_anonymous,
            cors_origins=None if cors_origin is None else tuple(cors_origin),
            tls_cert=tls_cert,
            tls_key=tls_key,
            drafts=drafts,
            calibration=calibration,
            deterministic=deterministic,
            kv_host_bytes=kv_host_bytes,
            kv_disk=kv_disk,
            kv_disk_bytes=kv_disk_bytes,
            adapters=None if adapter is None else tuple(adapter),
            max_adapters=max_adapters,
            adapter_rank=adapter_rank,
        )
    )


@app.command()
@reporting
def demo(
    every: Annotated[
        bool, typer.Option("--all", help="All documents of the catalogue, not just three.")
    ] = False,
    model: Model = None,
    as_json: Json = False,
) -> Exit:
    """Extract from an invoice, an e-mail and an order with the included model. Works without a network."""
    from .demo import run

    return run(model, every=every, as_json=as_json)


@app.command()
@reporting
def doctor(model: Model = None, as_json: Json = False) -> Exit:
    """Check that everything an extraction needs is installed and works; suggest a fix if not."""
    from .doctor import run

    return run(model, as_json=as_json)


@app.command()
@reporting
def version(as_json: Json = False) -> Exit:
    """Print the version."""
    from .console import compact

    number = installed("intaglio")
    typer.echo(compact({"version": number}) if as_json else f"intaglio {number}")
    return Exit.OK


app.command()(bench)
app.command()(roofline)
app.command()(plan)
app.command()(quantize)
app.command("eval")(evaluate)
app.command()(calibrate)
app.command()(view)
add_schema_commands(schemas)
add_registry_commands(schemas)
add_schema_tool_commands(schemas)
