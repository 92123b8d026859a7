"""`intaglio models`: whether a checkpoint would load, and which families do.

Does: print reports as tables or JSON. Does not: read checkpoints (`engine.api.check_checkpoint`).
"""

from dataclasses import asdict
from typing import Any

from rich.table import Table

from .cli_errors import CliError, Exit
from .console import results, write_json

CONTEXTS = (2048, 8192, 32768)
MOST_TP = 8
"""The most ranks that are tried: the GPUs of one host."""

ELEMENT_BYTES = {"float32": 4, "bfloat16": 2}


def check_model(model: str, contexts: tuple[int, ...], *, as_json: bool) -> Exit:
    """Print the report of a checkpoint.

    Raises:
        ModelError: it would not load.
        CliError: a context is longer than the model's.
    """
    from intaglio.engine.api import (
        ChatTemplate,
        Tokenizer,
        check_checkpoint,
        model_folder,
        parallel_shape,
    )

    folder = model_folder(model)
    reports = {dtype: check_checkpoint(folder, element) for dtype, element in ELEMENT_BYTES.items()}
    report = reports["float32"]
    tokenizer = Tokenizer.load(folder)
    ChatTemplate.load(folder, tokenizer)
    longest = report.max_context
    for context in contexts:
        if context > longest:
            raise CliError(f"the model's context ends at {longest} tokens", Exit.USAGE)
    shown = contexts or (*(each for each in CONTEXTS if each < longest), longest)
    facts = asdict(report)
    del facts["weight_bytes"], facts["kv_bytes_per_token"], facts["kv_groups"]
    shape = parallel_shape(folder, MOST_TP)
    document = {
        "model": folder.resolve().name,
        **facts,
        "tokens": tokenizer.size,
        "tp": list(shape.divisors),
        "most_pp": shape.stages,
        "memory": [
            {
                "dtype": dtype,
                "weight_bytes": each.weight_bytes,
                "kv_bytes_per_token": each.kv_bytes_per_token,
                "contexts": {str(context): each.bytes_at(context) for context in shown},
            }
            for dtype, each in reports.items()
        ],
    }
    if as_json:
        write_json(document, raw=True)
    else:
        _print(document)
    return Exit.OK


def _print(document: dict[str, Any]) -> None:
    out = results()
    out.print(
        f"{document['model']} loads: {document['architecture']}, {document['parameters'] / 1e6:,.1f} M parameters in "
        f"{document['tensors']} tensors, {document['tokens']} tokens, context of {document['max_context']}",
        soft_wrap=True,
    )
    if document["window"] is not None:
        out.print(f"layers with a sliding window of {document['window']} tokens")
    if document["experts"]:
        out.print(f"a mixture of {document['experts']} experts a layer")
    if document["image_cell"]:
        side = document["image_cell"]
        out.print(f"reads images, with a token for each {side} x {side} pixels")
    if document["cpu_only"]:
        out.print("runs on a CPU only")
    ranks = ", ".join(map(str, document["tp"]))
    out.print(f"can be divided by --tp {ranks}, and by --pp up to {document['most_pp']}")
    table = Table(box=None, pad_edge=False)
    for column in ("memory", *(f"{memory['dtype']}" for memory in document["memory"])):
        table.add_column(column, justify="right")
    table.add_row("weights", *(_size(memory["weight_bytes"]) for memory in document["memory"]))
    for context in document["memory"][0]["contexts"]:
        sizes = (_size(memory["contexts"][context]) for memory in document["memory"])
        table.add_row(f"+ one context of {int(context):,}", *sizes)
    out.print(table)


def _size(count: int) -> str:
    """Bytes for people."""
    return f"{count / 2**30:,.2f} GiB" if count >= 2**30 else f"{count / 2**20:,.1f} MiB"


def list_models(*, as_json: bool) -> Exit:
    """Print the families that load."""
    from intaglio.engine.api import supported_families

    families = supported_families()
    if as_json:
        write_json([asdict(family) for family in families], raw=True)
        return Exit.OK
    table = Table(box=None, pad_edge=False)
    for column in ("family", "architecture", "for example", "devices"):
        table.add_column(column)
    for family in families:
        devices = "CPU" if family.cpu_only else "CPU, GPU"
        table.add_row(family.name, family.architecture, family.examples, devices)
    results().print(table)
    return Exit.OK
