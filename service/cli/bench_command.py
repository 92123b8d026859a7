"""`intaglio bench`: load on a server, and the figures.

Does: build the plan and the workload from options, show progress and a table, or JSON. Does not: send requests
(`service/bench`).
"""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import httpx2
from rich.progress import Progress
from rich.table import Table

from ..bench.load_plan import LoadPlan
from ..bench.load_summary import Percentiles, Summary, schema_check, summarise
from ..bench.processes import LoadFailed, run_load
from ..bench.protocols import PROTOCOLS
from ..bench.workload import LoadTask, WorkloadError, catalogue_tasks, read_tasks
from ..client.config import Address, address
from .cli_errors import CliError, Exit
from .console import errors, results, write_json
from .documents import read_schema
from .output_file import require_outputs, write_whole
from .schema_command import named

_CLIENTS: Final = 8


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchCommand:
    """The arguments of `intaglio bench`, as typed."""

    url: str | None
    protocol: str
    requests: int
    clients: int | None
    rate: float | None
    processes: int
    stream: bool
    schema: str | None
    documents: Path | None
    unique: bool
    warmup: int
    max_tokens: int | None
    temperature: float
    timeout_s: float
    seed: int
    model: str | None
    out: Path | None
    as_json: bool


def run(command: BenchCommand) -> Exit:
    """Run the load and print its figures.

    Returns `Exit.OK` if every answer was valid, else `Exit.FAILED`. Raises `CliError` for unusable options, and if the
    load generator fails.
    """
    if command.protocol not in PROTOCOLS:
        raise CliError(
            f"there is no protocol {command.protocol!r}",
            Exit.USAGE,
            hint=f"there are {', '.join(PROTOCOLS)}",
        )
    if command.clients is not None and command.rate is not None:
        raise CliError(
            "--clients has no effect with --rate",
            Exit.USAGE,
            hint="clients wait for answers, arrivals of a rate do not: omit one of them",
            where="--clients",
        )
    try:
        target = address(command.url, None)
    except ValueError as error:
        raise CliError(str(error), Exit.USAGE) from None
    require_outputs({"--out": command.out}, (command.documents, command.schema))
    tasks = _tasks(command)
    plan = _plan(command, target)
    with Progress(console=errors(), disable=not errors().is_terminal) as bar:
        task = bar.add_task("requests", total=plan.requests)
        try:
            result = run_load(
                plan,
                tasks,
                key=target.api_key,
                progress=lambda count: bar.update(task, completed=count),
            )
        except LoadFailed as error:
            raise CliError(str(error), Exit.FAILED) from None
    summary = summarise(plan, tasks, result, schema_check())
    document = {"plan": plan.as_dict(), "summary": summary.as_dict()}
    if command.out is not None:
        write_whole(command.out, json.dumps(document, indent=1) + "\n")
    if command.as_json:
        write_json(document, raw=True)
    else:
        results().print(_table(plan, summary))
    if "ConnectError" in summary.errors and not summary.succeeded:
        raise CliError(f"no server answers at {plan.url}", Exit.UNREACHABLE)
    whole = summary.succeeded == summary.requests and not summary.invalid
    return Exit.OK if whole else Exit.FAILED


def _plan(command: BenchCommand, target: Address) -> LoadPlan:
    return LoadPlan(
        url=target.base_url,
        protocol=command.protocol,
        requests=command.requests,
        clients=command.clients or _CLIENTS,
        rate=command.rate,
        processes=command.processes,
        stream=command.stream,
        warmup=command.warmup,
        max_tokens=command.max_tokens,
        temperature=command.temperature,
        timeout_s=command.timeout_s,
        seed=command.seed,
        model=command.model or _loaded_model(command, target),
        unique=command.unique,
    )


def _loaded_model(command: BenchCommand, target: Address) -> str:
    """The first model of the server, which OpenAI's protocols must name; others need none."""
    if command.protocol == "extract":
        return ""
    try:
        answer = httpx2.get(f"{target.base_url}/v1/models", headers=target.headers(), timeout=30)
        return str(answer.raise_for_status().json()["data"][0]["id"])
    except httpx2.TransportError:
        raise CliError(f"no server answers at {target.base_url}", Exit.UNREACHABLE) from None
    except (httpx2.HTTPStatusError, ValueError, KeyError, IndexError):
        raise CliError(
            f"{target.base_url} does not list its models",
            Exit.UNREACHABLE,
            hint="name one: --model",
        ) from None


def _tasks(command: BenchCommand) -> tuple[LoadTask, ...]:
    if command.documents is None:
        return catalogue_tasks([named(command.schema).name] if command.schema else ())
    schema = None if command.schema is None else read_schema(command.schema)
    if isinstance(schema, str):
        schema = named(schema).schema
    try:
        return read_tasks(command.documents, schema)
    except WorkloadError as error:
        raise CliError(str(error), Exit.USAGE) from None


def _table(plan: LoadPlan, summary: Summary) -> Table:
    how = f"{plan.clients} clients" if plan.rate is None else f"{plan.rate:g} requests/s, Poisson"
    table = Table(
        title=f"{plan.url} · {plan.protocol}{', streamed' * plan.stream} · {how}",
        title_justify="left",
        box=None,
        show_header=False,
        pad_edge=False,
    )
    rows = [
        ("requests", f"{summary.succeeded} of {summary.requests} answered"),
        *((f"  {code}", str(count)) for code, count in summary.errors.items()),
        ("outputs", _validity(summary)),
        ("time", f"{summary.seconds:g} s"),
        ("requests/s", f"{summary.requests_per_s:,.1f}"),
        ("output tokens/s", f"{summary.output_tokens_per_s:,.0f}"),
        ("tokens", f"{summary.prompt_tokens:g} in, {summary.output_tokens:g} out, a request"),
        ("latency", _spread(summary.latency)),
    ]
    if plan.stream:
        rows += [
            ("first token", _spread(summary.first_token)),
            ("between tokens", _spread(summary.between_tokens)),
        ]
    for name, value in rows:
        table.add_row(name, value)
    return table


def _spread(found: Percentiles | None) -> str:
    if found is None:
        return "-"
    return f"{found.p50:,.1f} ms p50 · {found.p90:,.1f} p90 · {found.p99:,.1f} p99"


def _validity(summary: Summary) -> str:
    if summary.unchecked:
        return f"{summary.unchecked} not checked: pip install jsonschema"
    return f"{summary.valid} valid, {summary.invalid} invalid"
