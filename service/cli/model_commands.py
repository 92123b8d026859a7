"""The options and help of `intaglio models check` and `intaglio models list`.

Does: declare. Does not: run anything itself (`models_command`).
"""

from typing import Annotated

import typer

from .cli_errors import Exit, reporting

models = typer.Typer(
    help="Models: check a checkpoint before it is loaded, list the families.",
    no_args_is_help=True,
)

Json = Annotated[bool, typer.Option("--json", help="Print raw JSON on one line.")]


@models.command("check")
@reporting
def check(
    folder: Annotated[
        str, typer.Argument(metavar="FOLDER", help="Folder of a checkpoint, or `embedded`.")
    ],
    context: Annotated[
        list[int] | None,
        typer.Option(
            min=1,
            help="Tokens of a context; repeatable.  [default: 2048, 8192, 32768, the longest]",
        ),
    ] = None,
    as_json: Json = False,
) -> Exit:
    """Say whether a checkpoint would load, and how much memory it takes at which context.

    Reads the configuration, the tokenizer and the headers of the weights, but no weights. Otherwise names the file, the
    key or the tensors that are the reason.
    """
    from .models_command import check_model

    return check_model(folder, tuple(context or ()), as_json=as_json)


@models.command("list")
@reporting
def list_families(as_json: Json = False) -> Exit:
    """List the families of models that load."""
    from .models_command import list_models

    return list_models(as_json=as_json)
