"""The hand-over of a prompt over TCP: layer by layer while it is computed, and whole when it has ended.

    python -m tests.bench.bench_layer_feed [--rounds 21] [--out FILE]

Two engine processes compute prompts of 1,000 tokens for a third one, by turns: one sends layers while it computes, the
other one everything at the end. The hand-over is the time from the end of the pass, of which the clock of the same host
tells, until all contents have arrived; `first_token` until the third engine has sampled. On a loaded host look at the
least times and the quartiles.
"""

import argparse
import json
import os
import platform
import secrets
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Any

from intaglio.engine.api import EngineConfig, Request, SamplingParams, model_folder
from intaglio.engine.host.build_engine import build
from intaglio.engine.types import Delta

from tests.support.free_port import free_port

PROMPT = 1000


def config(key: str, **settings: object) -> EngineConfig:
    given = {"model": str(model_folder(None)), "device": "cpu", "threads": 1, "max_context": 2048}
    return EngineConfig.load(
        {**given, "grammar_store": "off", "kv_key_file": key, **settings},
        {},
    )


def compute_prompts(key: str, port: str, way: str) -> None:
    """Compute prompts until the standard input ends, and print when each of their passes ended."""
    assembly = build(config(key, kv_listen=port))
    engine: Any = assembly.engine
    if way == "whole":
        engine._engine._scheduler._memory._offload.feed = None  # so nothing is planned for it
    print("ready", flush=True)
    over = threading.Event()

    def end_with_input() -> None:
        sys.stdin.read()
        over.set()

    threading.Thread(target=end_with_input, daemon=True).start()
    runner = engine._engine
    step = runner.step

    def timed() -> list[Delta]:
        deltas: list[Delta] = step()
        if any(delta.finish is not None for delta in deltas):
            print(time.monotonic(), flush=True)
        return deltas

    runner.step = timed
    while not over.is_set():
        engine.step()
        engine.wait(0.05)
    assembly.close()


@contextmanager
def computing(key: str, port: int, way: str) -> Iterator["subprocess.Popen[str]"]:
    command = [sys.executable, "-m", "tests.bench.bench_layer_feed"]
    command += ["--compute", key, str(port), way]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        assert child.stdin is not None
        assert child.stdout.readline() == "ready\n"
        yield child
        child.stdin.close()


def measure(rounds: int) -> dict[str, Any]:
    """Milliseconds by way: least, quartiles."""
    dice, found = Random(3), {}
    with tempfile.TemporaryDirectory() as folder:
        key = Path(folder) / "key"
        key.touch(0o600)
        key.write_text(secrets.token_hex(32))
        ports = {"by_layer": free_port(), "whole": free_port()}
        with (
            computing(str(key), ports["by_layer"], "by_layer") as one,
            computing(str(key), ports["whole"], "whole") as other,
        ):
            children = {"by_layer": one, "whole": other}
            peers = ",".join(f"127.0.0.1:{port}" for port in ports.values())
            assembly = build(config(str(key), kv_peers=peers))
            engine: Any = assembly.engine
            tier = engine._scheduler._memory._offload.peers
            times: dict[str, list[float]] = {}
            for number in range(rounds + 2):
                for way in list(ports)[:: 1 - 2 * (number % 2)]:
                    prompt = tuple(dice.randrange(300, 4000) for _ in range(PROMPT))
                    sampling = SamplingParams(max_tokens=1, temperature=0)
                    peer = f"127.0.0.1:{ports[way]}"
                    engine.submit(Request(id="r", prompt=prompt, sampling=sampling, kv_peer=peer))
                    arrived = 0.0
                    while engine.open_requests:
                        engine.step()
                        engine.wait(0.05)
                        if not arrived and any(f.answer for f in tier._fetches.values()):
                            arrived = time.monotonic()
                    first = time.monotonic()
                    stdout = children[way].stdout
                    assert stdout is not None
                    ended = float(stdout.readline())
                    if number >= 2:
                        times.setdefault(way, []).append(1000 * (arrived - ended))
                        times.setdefault(f"{way}_first_token", []).append(1000 * (first - ended))
            found["faults"] = tier.faults
            found["fetched_tokens"] = engine.metrics().offloaded.decided["fetch_peer"]
            assembly.close()
    for name, values in times.items():
        quarters = quantiles(values, n=4)
        found[name] = {
            "least": round(min(values), 2),
            "quartiles": [round(each, 2) for each in quarters],
        }
    return found


def main() -> int:
    if sys.argv[1:2] == ["--compute"]:
        compute_prompts(*sys.argv[2:])
        return 0
    parser = argparse.ArgumentParser(description="Measures the hand-over of a prompt over TCP.")
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--commit", default="unknown")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    load = os.getloadavg()[0]
    figures = measure(args.rounds)
    print(json.dumps(figures, indent=1))
    if args.out:
        found = {
            "date": datetime.now(UTC).date().isoformat(),
            "command": f"python -m tests.bench.bench_layer_feed --rounds {args.rounds}",
            "commit": args.commit,
            "device": f"{os.cpu_count()} cores, {platform.machine()}, load {load:.1f} before",
            "model": "embedded",
            "ms": figures,
        }
        args.out.write_text(json.dumps(found, indent=1) + "\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
