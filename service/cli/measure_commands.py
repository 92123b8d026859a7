"""The commands that measure and compute: `intaglio bench`, `intaglio roofline` and `intaglio plan`.

Does: declare options and help. Does not: measure (`bench_command`) or compute (`roofline_command`, `plan_command`).
"""

from pathlib import Path
from typing import Annotated

import typer

from .cli_errors import Exit, reporting
from .finite_numbers import finite

Bandwidth = Annotated[
    float | None,
    typer.Option(min=0.0001, callback=finite, help="Memory bandwidth in TB/s, as you measured it."),
]
Tflops = Annotated[
    float | None,
    typer.Option(
        min=0.001, callback=finite, help="TFLOP/s of matrix products, as you measured it."
    ),
]
Cached = Annotated[
    float,
    typer.Option(min=0, max=1, callback=finite, help="Share of the prompts in the prefix cache."),
]


@reporting
def bench(
    url: Annotated[
        str | None,
        typer.Option(help="Server; default: INTAGLIO_BASE_URL or http://localhost:8000."),
    ] = None,
    protocol: Annotated[
        str, typer.Option(help="Protocol: extract, chat or completions (OpenAI's).")
    ] = "extract",
    requests: Annotated[int, typer.Option("--requests", "-n", min=1, help="Requests.")] = 200,
    clients: Annotated[
        int | None,
        typer.Option(
            "--clients",
            "-c",
            min=1,
            help="Closed loop: clients that wait for answers.  [default: 8]",
        ),
    ] = None,
    rate: Annotated[
        float | None,
        typer.Option(
            min=0.001,
            callback=finite,
            help="Open loop instead: arrivals a second, as a Poisson process.",
        ),
    ] = None,
    processes: Annotated[
        int, typer.Option(min=1, max=64, help="Processes of the load generator.")
    ] = 1,
    stream: Annotated[bool, typer.Option("--stream", help="Request streamed answers.")] = False,
    schema: Annotated[
        str | None,
        typer.Option(
            "--schema", "-s", help="Schema of the catalogue; with --documents a file, too."
        ),
    ] = None,
    documents: Annotated[
        Path | None,
        typer.Option(help='JSONL of {"text": …, "schema": …}; default: the catalogue\'s samples.'),
    ] = None,
    unique: Annotated[
        bool, typer.Option("--unique", help="Make every document different, against caches.")
    ] = False,
    warmup: Annotated[
        int, typer.Option(min=0, help="Requests of each process that are not counted.")
    ] = 2,
    max_tokens: Annotated[
        int | None, typer.Option(min=1, help="Maximum number of output tokens.")
    ] = None,
    temperature: Annotated[
        float, typer.Option(min=0, max=10, callback=finite, help="Sampling temperature.")
    ] = 0.0,
    timeout: Annotated[
        float, typer.Option(min=0.1, callback=finite, help="Seconds a client waits.")
    ] = 600.0,
    seed: Annotated[int, typer.Option(help="Seed of arrivals and of sampling.")] = 0,
    model: Annotated[
        str | None,
        typer.Option(help="Model or adapter to name in requests.  [default: the server's first]"),
    ] = None,
    out: Annotated[Path | None, typer.Option(help="File for the figures as JSON.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the figures as JSON.")] = False,
) -> Exit:
    """Put load on a server; print rates, latencies, errors and whether the outputs are valid.

    Works with any server that implements one of the protocols. Exit code 1 if an answer was missing or invalid.
    """
    from .bench_command import BenchCommand, run

    return run(
        BenchCommand(
            url=url,
            protocol=protocol,
            requests=requests,
            clients=clients,
            rate=rate,
            processes=processes,
            stream=stream,
            schema=schema,
            documents=documents,
            unique=unique,
            warmup=warmup,
            max_tokens=max_tokens,
            temperature=temperature,
            timeout_s=timeout,
            seed=seed,
            model=model,
            out=out,
            as_json=as_json,
        )
    )


@reporting
def roofline(
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Model folder; default: the included model."),
    ] = None,
    device: Annotated[
        str | None, typer.Option("--device", "-d", help="Device, for example h200.")
    ] = None,
    bandwidth: Bandwidth = None,
    tflops: Tflops = None,
    batch: Annotated[
        list[int] | None,
        typer.Option(min=1, help="Sequences at once; repeatable.  [default: 1 8 64 256 512]"),
    ] = None,
    prompt: Annotated[int, typer.Option(min=1, help="Tokens of a prompt.")] = 1000,
    output: Annotated[int, typer.Option(min=1, help="Tokens of an output.")] = 200,
    cached: Cached = 0.0,
    element_bytes: Annotated[
        int, typer.Option(min=1, max=4, help="Bytes of a weight that is not quantised.")
    ] = 2,
    kv_bytes: Annotated[int, typer.Option(min=1, max=4, help="Bytes of a key or value.")] = 2,
    bench: Annotated[
        list[Path] | None,
        typer.Option("--bench", help="Figures of `intaglio bench --out` to compare; repeatable."),
    ] = None,
    url: Annotated[str | None, typer.Option(help="Running server to compare.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print raw JSON on one line.")] = False,
) -> Exit:
    """Print the least times that a model can take on a device, and compare measured times with them.

    A step moves all weights and the keys and values of each sequence, and computes with them; it takes at least the
    longer of the two.
    """
    from .roofline_command import RooflineCommand, run

    return run(
        RooflineCommand(
            model=model,
            device=device,
            bandwidth_tb=bandwidth,
            tflops=tflops,
            batch=tuple(batch or (1, 8, 64, 256, 512)),
            prompt=prompt,
            output=output,
            cached=cached,
            element_bytes=element_bytes,
            kv_bytes=kv_bytes,
            bench=tuple(bench or ()),
            url=url,
            as_json=as_json,
        )
    )


@reporting
def plan(
    gpus: Annotated[int, typer.Option(min=1, max=64, help="GPUs of one host.")],
    rate: Annotated[float, typer.Option(min=0.001, callback=finite, help="Requests a second.")],
    ttft: Annotated[
        float, typer.Option(min=0.1, callback=finite, help="Milliseconds to the first token.")
    ],
    device: Annotated[str, typer.Option("--device", "-d", help="Kind of GPU.")] = "h200",
    model: Annotated[
        str | None,
        typer.Option("--model", "-m", help="Model folder; default: the included model."),
    ] = None,
    prompt: Annotated[int, typer.Option(min=1, help="Tokens of a prompt.")] = 1000,
    output: Annotated[int, typer.Option(min=1, help="Tokens of an output.")] = 200,
    as_json: Annotated[bool, typer.Option("--json", help="Print raw JSON on one line.")] = False,
) -> Exit:
    """Propose how many engines, on how many GPUs each, serve a rate within a time to the first token.

    Prints the figures of every layout, from the least times of its steps, and why it is chosen or not.
    """
    from .plan_command import PlanCommand, run

    return run(
        PlanCommand(
            model=model,
            device=device,
            gpus=gpus,
            rate=rate,
            ttft_ms=ttft,
            prompt=prompt,
            output=output,
            as_json=as_json,
        )
    )
