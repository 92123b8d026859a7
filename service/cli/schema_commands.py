"""The options and help of `intaglio schema list`, `show`, `explain` and `check`.

Does: declare. Does not: run anything itself (`schema_command`, `explain_command`).
"""

from typing import Annotated

import typer

from .cli_errors import Exit, reporting

Json = Annotated[bool, typer.Option("--json", help="Print raw JSON on one line.")]
Model = Annotated[
    str | None,
    typer.Option("--model", "-m", help="Model folder; default: the included model."),
]
Kind = Annotated[
    str | None,
    typer.Option(
        help="json_schema, regex, ebnf, ...; default: by the file extension, else json_schema."
    ),
]
Whitespace = Annotated[
    str,
    typer.Option(
        "--whitespace", help="White space of the output: compact, spaced, pretty or lenient."
    ),
]
AnyOrder = Annotated[bool, typer.Option("--any-order", help="Allow properties in any order.")]
Extra = Annotated[
    bool,
    typer.Option("--extra-properties", help="Allow properties that the schema does not name."),
]
Refs = Annotated[
    list[str] | None,
    typer.Option("--ref", metavar="URI=FILE", help="A schema that a $ref refers to; repeatable."),
]


def add_schema_commands(schemas: typer.Typer) -> None:
    """Add the commands to the group `intaglio schema`."""
    schemas.command("list")(list_)
    schemas.command("show")(show)
    schemas.command("explain")(explain)
    schemas.command("check")(check)


@reporting
def list_(as_json: Json = False) -> Exit:
    """List the schemas of the catalogue."""
    from .schema_command import show_list

    return show_list(as_json=as_json)


@reporting
def show(
    name: Annotated[str, typer.Argument(help="A name from `intaglio schema list`.")],
    sample: Annotated[
        bool, typer.Option("--sample", help="Print the sample document instead.")
    ] = False,
    as_json: Json = False,
) -> Exit:
    """Print one schema, ready to be edited and used as a file."""
    from .schema_command import show_one

    return show_one(name, sample=sample, as_json=as_json)


@reporting
def explain(
    name: Annotated[
        str, typer.Argument(metavar="FILE", help="A file, - for stdin, or a catalogue name.")
    ],
    model: Model = None,
    kind: Kind = None,
    whitespace: Whitespace = "compact",
    any_order: AnyOrder = False,
    extra_properties: Extra = False,
    ref: Refs = None,
    as_json: Json = False,
) -> Exit:
    """Explain how each part of a schema is enforced or why not, what it costs, and which outputs it allows.

    Exit codes: 0 enforced, 2 unreadable, 3 refused, 5 not a schema.
    """
    from .explain_command import SchemaInput, explain

    form = SchemaInput(kind, whitespace, any_order, extra_properties, tuple(ref or ()))
    return explain(name, form, model, as_json=as_json)


@reporting
def check(
    names: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Files, - for stdin, or catalogue names."),
    ],
    kind: Kind = None,
    whitespace: Whitespace = "compact",
    any_order: AnyOrder = False,
    extra_properties: Extra = False,
    ref: Refs = None,
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Fail for unknown keywords or formats, which may be typos."),
    ] = False,
    as_json: Json = False,
) -> Exit:
    """Check without a model that schemas can be enforced in full; made for CI.

    Exit codes: 0 all can, 2 unreadable, 3 refused (with --strict also for unknown keywords), 5 not a schema; the
    greatest wins.
    """
    from .explain_command import SchemaInput, check

    form = SchemaInput(kind, whitespace, any_order, extra_properties, tuple(ref or ()))
    return check(names, form, strict=strict, as_json=as_json)
