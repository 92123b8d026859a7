"""The commands: their names, options and help. What each does lies in a module of its own, loaded when it is called.

Does: declare. Does not: work.
"""

from importlib.metadata import version as installed
from pathlib import Path
from typing import Annotated

import typer

from .cli_job_app import jobs
from .cli_trouble import EXIT_CODES, Exit, reporting

app = typer.Typer(
    name="intaglio",
    help="Structured output you can rely on: a schema and a document in, validated JSON out.",
    epilog=f"Exit codes: {EXIT_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)
catalogue = typer.Typer(
    help="The catalogue of ready-made extraction schemas.", no_args_is_help=True
)
app.add_typer(catalogue, name="schema")
app.add_typer(jobs, name="job")


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
    """Structured output you can rely on: a schema and a document in, validated JSON out."""


Json = Annotated[bool, typer.Option("--json", help="Raw JSON on standard output, one line.")]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Folder of a model; default: the one in the package."),
]


@app.command()
@reporting
def extract(
    documents: Annotated[
        list[str], typer.Argument(metavar="DOCUMENT", help="Text files in UTF-8; - reads stdin.")
    ],
    schema: Annotated[
        str,
        typer.Option(
            "--schema", "-s", help="File with a JSON Schema, or a name: `intaglio schema list`."
        ),
    ],
    url: Annotated[
        str | None, typer.Option(help="Use the service there; default: run the model here.")
    ] = None,
    model: Model = None,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Most tokens that an answer may take.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the result to this file instead.")
    ] = None,
    nulls: Annotated[
        bool, typer.Option("--nulls", help="null for required values that a document does not say.")
    ] = False,
    strict_schema: Annotated[
        bool,
        typer.Option("--strict-schema", help="Refuse a schema with words that are not known."),
    ] = False,
    answer: Annotated[
        bool,
        typer.Option(
            "--answer",
            help="The whole answer as a line of JSON: data, contract, warnings, usage, timings.",
        ),
    ] = False,
    as_json: Json = False,
) -> Exit:
    """Read what a schema describes out of documents.

    One document: its data. Several: one line of JSON each, with "document" and "data" or "error".
    Progress and timings go to standard error.
    """
    from .cli_extract import ExtractCommand, run

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
        int | None, typer.Option(min=0, max=65535, help="0 takes a free one.  [default: 8000]")
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Processor threads of the model; default: torch's.")
    ] = None,
    max_running: Annotated[
        int | None, typer.Option(min=1, help="Most requests computed at once.  [default: 256]")
    ] = None,
    max_context: Annotated[
        int | None, typer.Option(min=2, help="Most tokens of a prompt and its answer together.")
    ] = None,
    log_format: Annotated[str | None, typer.Option(help="console or json.")] = None,
    data: Annotated[
        Path | None, typer.Option(help="Folder for clients' files; with it the server runs jobs.")
    ] = None,
) -> Exit:
    """Serve a model over HTTP until Ctrl-C.

    More settings are read from INTAGLIO_SERVICE_… and INTAGLIO_ENGINE_… in the environment.
    """
    from .cli_serve import ServeCommand, run

    return run(ServeCommand(model, host, port, threads, max_running, max_context, log_format, data))


@app.command()
@reporting
def demo(
    every: Annotated[
        bool, typer.Option("--all", help="Every document of the catalogue, not just three.")
    ] = False,
    model: Model = None,
    as_json: Json = False,
) -> Exit:
    """Read an invoice, an e-mail and a receipt with the model in the package. Needs no network."""
    from .demo import run

    return run(model, every=every, as_json=as_json)


@app.command()
@reporting
def doctor(model: Model = None, as_json: Json = False) -> Exit:
    """Check that everything an extraction needs is there and works; say what to do where it is not."""
    from .doctor import run

    return run(model, as_json=as_json)


@app.command()
@reporting
def version(as_json: Json = False) -> Exit:
    """Print the version."""
    from .cli_console import compact

    number = installed("intaglio")
    typer.echo(compact({"version": number}) if as_json else f"intaglio {number}")
    return Exit.OK


@catalogue.command("list")
@reporting
def schema_list(as_json: Json = False) -> Exit:
    """Name the schemas of the catalogue."""
    from .cli_schema import show_list

    return show_list(as_json=as_json)


@catalogue.command("show")
@reporting
def schema_show(
    name: Annotated[str, typer.Argument(help="A name that `intaglio schema list` shows.")],
    sample: Annotated[bool, typer.Option("--sample", help="The sample document instead.")] = False,
    as_json: Json = False,
) -> Exit:
    """Print one schema, ready to be changed and used as a file."""
    from .cli_schema import show_one

    return show_one(name, sample=sample, as_json=as_json)


Kind = Annotated[
    str | None,
    typer.Option(
        help="json_schema, regex, ebnf, ...; default: by the file's ending, else json_schema."
    ),
]
Whitespace = Annotated[
    str, typer.Option("--whitespace", help="compact, spaced, pretty or lenient.")
]
AnyOrder = Annotated[bool, typer.Option("--any-order", help="Properties in any order.")]
Extra = Annotated[
    bool,
    typer.Option("--extra-properties", help="Let in properties that the schema does not name."),
]
Refs = Annotated[
    list[str] | None,
    typer.Option("--ref", metavar="URI=FILE", help="Another schema that $ref names; repeatable."),
]


@catalogue.command("explain")
@reporting
def schema_explain(
    name: Annotated[
        str, typer.Argument(metavar="FILE", help="A file, - for stdin, or a name of the catalogue.")
    ],
    model: Model = None,
    kind: Kind = None,
    whitespace: Whitespace = "compact",
    any_order: AnyOrder = False,
    extra_properties: Extra = False,
    ref: Refs = None,
    as_json: Json = False,
) -> Exit:
    """Say how each part of a schema is enforced or why not, what it costs, and what it lets through.

    Exit codes: 0 enforced, 2 it cannot be read, 3 refused, 5 no schema at all.
    """
    from .cli_explain import SchemaInput, explain

    form = SchemaInput(kind, whitespace, any_order, extra_properties, tuple(ref or ()))
    return explain(name, form, model, as_json=as_json)


@catalogue.command("check")
@reporting
def schema_check(
    names: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Files, - for stdin, or names of the catalogue."),
    ],
    kind: Kind = None,
    whitespace: Whitespace = "compact",
    any_order: AnyOrder = False,
    extra_properties: Extra = False,
    ref: Refs = None,
    strict: Annotated[
        bool,
        typer.Option(
            "--strict", help="Fail where a keyword or format is not known: it may be a slip."
        ),
    ] = False,
    as_json: Json = False,
) -> Exit:
    """Check that schemas can be enforced in full, without a model; made for CI.

    Exit codes: 0 all can, 2 one cannot be read, 3 one is refused (with --strict also for unknown words), 5 one is no
    schema at all; the greatest counts.
    """
    from .cli_explain import SchemaInput, check

    form = SchemaInput(kind, whitespace, any_order, extra_properties, tuple(ref or ()))
    return check(names, form, strict=strict, as_json=as_json)
