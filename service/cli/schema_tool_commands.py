"""The options and help of `intaglio schema infer`, `diff`, `test`, `from` and `dialect`.

Does: declare. Does not: run anything itself (`schema_tools_command`).
"""

from typing import Annotated

import typer

from .cli_errors import Exit, reporting

Json = Annotated[bool, typer.Option("--json", help="Print raw JSON on one line.")]
Schema = Annotated[
    str, typer.Argument(metavar="FILE", help="A file, - for stdin, or a catalogue name.")
]


def add_schema_tool_commands(schemas: typer.Typer) -> None:
    """Add the commands to the group `intaglio schema`."""
    schemas.command("infer")(infer)
    schemas.command("diff")(diff)
    schemas.command("test")(examine)
    schemas.command("from")(translate)
    schemas.command("dialect")(dialect)


@reporting
def infer(
    files: Annotated[
        list[str], typer.Argument(metavar="FILE", help="JSON or JSONL files with documents, or -.")
    ],
    as_json: Json = False,
) -> Exit:
    """Infer a JSON Schema from examples of its documents.

    Finds types, required properties, formats, enumerations and maps. Each line of a .jsonl file and each item of an
    array is a document. Read the result before you rely on it: what no example shows is not in it.
    """
    from .schema_tools_command import infer

    return infer(files, as_json=as_json)


@reporting
def diff(
    old: Annotated[str, typer.Argument(metavar="OLD", help="A file, or a catalogue name.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="A file, or a catalogue name.")],
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Exit with 3 if documents of OLD may be invalid under NEW."),
    ] = False,
    as_json: Json = False,
) -> Exit:
    """Compare two schemas: each change, its place, and whether fewer (narrower) or more (wider) documents are valid."""
    from .schema_tools_command import diff

    return diff(old, new, strict=strict, as_json=as_json)


@reporting
def examine(
    name: Schema,
    model: Annotated[
        str | None,
        typer.Option(
            help="Model folder with the tokenizer to write samples with.  [default: the included model]"
        ),
    ] = None,
    samples: Annotated[
        int,
        typer.Option("--samples", min=1, max=1000, help="Number of samples and of near misses."),
    ] = 8,
    seed: Annotated[int, typer.Option(help="Another number gives other samples.")] = 0,
    as_json: Json = False,
) -> Exit:
    """Show documents that a schema allows, and near misses: what one change makes invalid, and why.

    Every sample is checked by the independent validator, and every near miss by the masks too; exit code 1 if they
    disagree.
    """
    from .schema_tools_command import show_samples

    return show_samples(name, model, samples, seed, as_json=as_json)


@reporting
def translate(
    language: Annotated[
        str, typer.Argument(metavar="LANGUAGE", help="pydantic, ts, proto, sql, xsd or dtd.")
    ],
    source: Annotated[
        str,
        typer.Argument(
            metavar="SOURCE", help="A file or -; for pydantic MODULE:TYPE or FILE.py:TYPE."
        ),
    ],
    name: Annotated[
        str | None,
        typer.Option(
            help="The declaration to translate.  [default: the last; in XSD and DTD the first]"
        ),
    ] = None,
    as_json: Json = False,
) -> Exit:
    """Translate a declaration into a JSON Schema: Python types, TypeScript, Protocol Buffers, SQL tables, XSD, DTD.

    A construct that cannot be translated is refused with its line. `pydantic` imports the module, which runs its code.
    """
    from .schema_tools_command import translate

    return translate(language, source, name, as_json=as_json)


@reporting
def dialect(as_json: Json = False) -> Exit:
    """Print the JSON Schema of JSON Schemas with the keyword x-intaglio, for editors and CI."""
    from .schema_tools_command import show_dialect

    return show_dialect(as_json=as_json)
