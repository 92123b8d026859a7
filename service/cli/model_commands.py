"""The options and help of `intaglio models check`, `intaglio models list` and `intaglio quantize`.

Does: declare. Does not: run anything itself (`models_command`, `quantize_command`).
"""

from pathlib import Path
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


@reporting
def quantize(
    checkpoint: Annotated[
        str, typer.Argument(metavar="CHECKPOINT", help="Folder of a checkpoint, or `embedded`.")
    ],
    target: Annotated[
        str,
        typer.Option("--to", help="fp8 and int8: one byte a weight. w4: 4 bits, in groups of 128."),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The new folder of the quantised checkpoint.")
    ],
    documents: Annotated[
        Path | None,
        typer.Option(
            "--documents",
            help="JSONL of texts, better with schema and expected data: calibrates w4, and compares "
            "the result with the original on every fifth.",
        ),
    ] = None,
    max_tokens: Annotated[
        int, typer.Option("--max-tokens", min=16, help="Tokens read of each document.")
    ] = 2048,
    device: Annotated[str, typer.Option(help="Device that computes: cpu or cuda.")] = "cpu",
    as_json: Json = False,
) -> Exit:
    """Write a checkpoint in fewer bits, in the format compressed-tensors, and say what it costs.

    The layers' matrices are rounded; embedding, output head and norms stay as they are.
    """
    from .quantize_command import QuantizeCommand, run

    return run(
        QuantizeCommand(
            checkpoint=checkpoint,
            target=target,
            output=output,
            documents=documents,
            max_tokens=max_tokens,
            device=device,
            as_json=as_json,
        )
    )
