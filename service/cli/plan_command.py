"""`intaglio plan`: how many engines on how many GPUs each serve a demand, from the roofline.

Does: read the model's sizes, print every layout with its figures and the reason why it is chosen or not. Does not:
compute the figures (`service/bench/layout_plan.py`).
"""

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from rich.table import Table

from ..bench.devices import DEVICES, Device
from .cli_errors import CliError, Exit
from .console import results, write_json

if TYPE_CHECKING:
    from ..bench.layout_plan import LayoutFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanCommand:
    """The arguments of `intaglio plan`, as typed; `ttft_ms` is in milliseconds."""

    model: str | None
    device: str
    gpus: int
    rate: float
    ttft_ms: float
    prompt: int
    output: int
    as_json: bool


def run(command: PlanCommand) -> Exit:
    """Print the layouts; `Exit.FAILED` if none serves the demand. Raises `CliError` for an unknown device."""
    try:
        from intaglio.engine.api import checkpoint_costs, model_folder, parallel_shape

        from ..bench.layout_plan import Demand, chosen, layouts
    except ModuleNotFoundError as error:
        raise CliError(
            f"a plan needs {error.name!r}, which is not installed",
            Exit.UNREACHABLE,
            hint="pip install 'intaglio[server]'",
        ) from error
    device = _device(command.device)
    folder = model_folder(command.model)
    demand = Demand(
        rate=command.rate,
        ttft_s=command.ttft_ms / 1e3,
        prompt=command.prompt,
        output=command.output,
    )
    shape = parallel_shape(folder, command.gpus)
    found = layouts(checkpoint_costs(folder), shape, device, command.gpus, demand)
    best = chosen(found)
    document = {
        "model": folder.resolve().name,
        "device": device.name,
        "demand": asdict(demand),
        "chosen": None if best is None else _row(best),
        "layouts": [_row(layout) for layout in found],
        "most_pp": shape.stages,
    }
    if command.as_json:
        write_json(document, raw=True)
    else:
        _print(document)
    return Exit.OK if best is not None else Exit.FAILED


def _row(layout: "LayoutFigures") -> dict[str, Any]:
    """The figures of a layout, in the units that are printed; None for those that it does not have."""
    fits = layout.at_once > 0
    return {
        "engines": layout.engines,
        "tp": layout.tp,
        "gpus": layout.gpus,
        "weights_gb": round(layout.weights / 1e9, 2),
        "sequences": layout.at_once,
        "requests_per_s": round(layout.capacity, 2),
        "ttft_ms": round(layout.ttft_s * 1e3, 1) if fits else None,
        "token_ms": round(layout.token_s * 1e3, 2) if fits else None,
        "refused": layout.refused,
    }


def _print(document: dict[str, Any]) -> None:
    demand, best = document["demand"], document["chosen"]
    results().print(
        f"{document['model']} on {document['device']}: {demand['rate']:g} requests/s of {demand['prompt']} + "
        f"{demand['output']} tokens, first token within {demand['ttft_s'] * 1e3:g} ms"
    )
    table = Table(box=None, pad_edge=False)
    for column in ("engines", "tp", "GB a GPU", "requests/s", "first token ms", "token ms"):
        table.add_column(column, justify="right")
    table.add_column("")
    for row in document["layouts"]:
        table.add_row(
            str(row["engines"]),
            str(row["tp"]),
            f"{row['weights_gb']:,.1f}",
            f"{row['requests_per_s']:,.1f}",
            "-" if row["ttft_ms"] is None else f"{row['ttft_ms']:,.1f}",
            "-" if row["token_ms"] is None else f"{row['token_ms']:.1f}",
            row["refused"] or ("chosen" if row == best else "serves the demand"),
        )
    results().print(table)
    results().print(
        f"not among them: stages of layers (--pp, up to {document['most_pp']}), which have no estimate"
    )
    if best is None:
        results().print("no layout serves the demand: see the last column")
        return
    options = f"--engines {best['engines']} --tp {best['tp']}"
    results().print(
        f"intaglio serve {options}: the fewest GPUs that serve the demand, and of as many the largest capacity"
    )


def _device(name: str) -> Device:
    device = DEVICES.get(name.lower())
    if device is None:
        raise CliError(
            f"there is no figure for the device {name!r}",
            Exit.USAGE,
            hint=f"there are {', '.join(DEVICES)}",
        )
    return device
