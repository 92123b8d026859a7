"""`intaglio roofline`: the least times of a model on a device, compared with measured times.

Does: choose model and device, print tables or JSON. Does not: compute the floors (`service/bench/floors.py`).
"""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx2
from rich.table import Table

from ..bench.devices import DEVICES, Device
from ..client.config import address
from .cli_errors import CliError, Exit
from .console import results, write_json

if TYPE_CHECKING:
    from intaglio.engine.api import ModelCosts


@dataclass(frozen=True, slots=True, kw_only=True)
class RooflineCommand:
    """The arguments of `intaglio roofline`, as typed."""

    model: str | None
    device: str | None
    bandwidth_tb: float | None
    tflops: float | None
    batch: tuple[int, ...]
    prompt: int
    output: int
    cached: float
    element_bytes: int
    kv_bytes: int
    bench: tuple[Path, ...]
    url: str | None
    as_json: bool


def run(command: RooflineCommand) -> Exit:
    """Print the floors. Raises `CliError` for an unknown device, an unusable model or unreadable figures."""
    try:
        from intaglio.engine.api import checkpoint_costs, model_folder

        from ..bench.floors import UnreadableFigures, bench_standing, engine_standing, floor
    except ModuleNotFoundError as error:
        raise CliError(
            f"a roofline needs {error.name!r}, which is not installed",
            Exit.UNREACHABLE,
            hint="pip install 'intaglio[server]'",
        ) from error
    device = _device(command)
    folder = model_folder(command.model)
    costs = checkpoint_costs(folder, command.element_bytes, command.kv_bytes)
    try:
        standings = [
            bench_standing(_figures(path), costs, device, command.cached) for path in command.bench
        ]
        if command.url is not None:
            standings += [
                engine_standing(engine, costs, device) for engine in _engines(command.url)
            ]
    except UnreadableFigures as error:
        raise CliError(str(error), Exit.USAGE) from None
    prompt = floor(costs.prefill(command.prompt), device)
    document = {
        "model": folder.resolve().name,
        "device": asdict(device),
        "costs": asdict(costs),
        "prefill_ms": round(prompt.seconds * 1e3, 4),
        "decode": [_row(command, costs, device, batch) for batch in command.batch],
        "measured": [{**asdict(standing), "share": standing.share} for standing in standings],
    }
    if command.as_json:
        write_json(document, raw=True)
    else:
        _print(command, document)
    return Exit.OK


def _row(
    command: RooflineCommand, costs: "ModelCosts", device: Device, batch: int
) -> dict[str, Any]:
    """The floors of one number of sequences."""
    from ..bench.floors import RequestShape, floor, request_floor

    step = floor(costs.decode(batch, command.prompt + command.output / 2), device)
    shape = RequestShape(
        prompt=command.prompt, output=command.output, sequences=batch, cached=command.cached
    )
    return {
        "sequences": batch,
        "step_ms": round(step.seconds * 1e3, 4),
        "limit": "memory" if step.by_memory else "arithmetic",
        "tokens_per_s": round(batch / step.seconds, 1),
        "requests_per_s": round(1 / request_floor(costs, device, shape), 2),
    }


def _print(command: RooflineCommand, document: dict[str, Any]) -> None:
    costs, device = document["costs"], document["device"]
    results().print(
        f"{document['model']} on {device['name']}: {costs['parameters'] / 1e6:,.0f} M weights, "
        f"{costs['weight_bytes'] / 1e9:.3f} GB a step, {costs['kv_bytes_per_token'] / 1024:.1f} KiB "
        f"a token of context; {device['bandwidth'] / 1e12:g} TB/s, "
        f"{device['operations'] / 1e12:g} TFLOP/s\n"
        f"a prompt of {command.prompt} tokens alone: {document['prefill_ms']:.3f} ms"
    )
    table = Table(box=None, pad_edge=False)
    for column in ("sequences", "step ms", "limit", "tokens/s", "requests/s"):
        table.add_column(column, justify="right")
    for row in document["decode"]:
        table.add_row(
            str(row["sequences"]),
            f"{row['step_ms']:.3f}",
            row["limit"],
            f"{row['tokens_per_s']:,.0f}",
            f"{row['requests_per_s']:,.1f}",
        )
    results().print(table)
    for standing in document["measured"]:
        results().print(
            f"{standing['what']}: {standing['measured_s'] * 1e3:.3f} ms measured, "
            f"{standing['floor_s'] * 1e3:.3f} ms at least: {standing['share']:.0%} of the floor"
        )


def _device(command: RooflineCommand) -> Device:
    if command.device is not None and command.device.lower() not in DEVICES:
        raise CliError(
            f"there is no figure for the device {command.device!r}",
            Exit.USAGE,
            hint=f"there are {', '.join(DEVICES)}; or give --bandwidth and --tflops",
        )
    known = DEVICES.get((command.device or "").lower())
    bandwidth = command.bandwidth_tb * 1e12 if command.bandwidth_tb else None
    operations = command.tflops * 1e12 if command.tflops else None
    if known is None and (bandwidth is None or operations is None):
        raise CliError(
            "the device is not given",
            Exit.USAGE,
            hint=f"--device {'|'.join(DEVICES)}, or --bandwidth and --tflops",
        )
    return Device(
        known.name if known else "a device",
        bandwidth or (known.bandwidth if known else 0.0),
        operations or (known.operations if known else 0.0),
    )


def _figures(path: Path) -> Any:
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CliError(f"{path} cannot be read: {error}", Exit.USAGE) from None


def _engines(url: str) -> list[Any]:
    try:
        target = address(url, None)
        answer = httpx2.get(
            f"{target.base_url}/v1/engine/state", headers=target.headers(), timeout=30
        )
        return list(answer.raise_for_status().json()["engines"])
    except httpx2.TransportError:
        raise CliError(f"no server answers at {url}", Exit.UNREACHABLE) from None
    except (httpx2.HTTPStatusError, ValueError, KeyError) as error:
        raise CliError(
            f"{url} does not tell the state of its engine: {error}", Exit.USAGE
        ) from None
