"""Seconds from starting a server to `/ready` and to its first constrained answer, with empty caches and with full ones.

    python -m tests.bench.bench_start                                                   (the embedded model)
    python -m tests.bench.bench_start --shape 0.6b --tokenizer FOLDER [--out FILE]     (random weights, for a GPU)

Starts `intaglio serve` as a user would, each time as a process of its own. The caches of kernels, machine code and
grammars lie in a temporary folder: empty at the first start, as the first start left them at the second.
"""

import argparse
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import save_file

from tests.bench.bench_extract import SHAPES

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 20},
        "born": {"type": "string", "format": "date"},
    },
    "required": ["name", "born"],
    "additionalProperties": False,
}
PATIENCE_S = 400.0


def checkpoint(folder: Path, shape: str, tokenizer: Path) -> None:
    """Random weights of a shape, with a tokenizer and its chat template beside them."""
    from intaglio.engine.model.expected_tensors import expected_shapes
    from intaglio.engine.model.spec import read_spec

    folder.mkdir()
    (folder / "config.json").write_text(json.dumps(SHAPES[shape]))
    for name in ("tokenizer.json", "tokenizer_config.json", "chat_template.jinja"):
        if (tokenizer / name).exists():
            shutil.copy(tokenizer / name, folder / name)
    device = "cuda" if torch.cuda.is_available() else "cpu"
    weights = {
        name: (torch.randn(size, device=device) * 0.02).to(torch.bfloat16).cpu()
        for name, size in expected_shapes(read_spec(folder)).items()
    }
    save_file(weights, str(folder / "model.safetensors"), metadata={"format": "pt"})


def ask(url: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
    """The JSON that a path answers."""
    data = None if body is None else json.dumps(body).encode()
    request = urllib.request.Request(url, data, {"content-type": "application/json"})
    with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
        return dict(json.loads(answer.read()))


def start(model: Path | None, caches: Path) -> dict[str, float]:
    """One server: seconds until it is ready, and until its first answer has come."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "intaglio", "serve", "--port", str(port)]
    command += ["--model", str(model)] if model else []
    folders = {
        "XDG_CACHE_HOME": caches,
        "TRITON_CACHE_DIR": caches / "triton",
        "NUMBA_CACHE_DIR": caches / "numba",
    }
    environment = {**os.environ, **{name: str(folder) for name, folder in folders.items()}}
    began = time.perf_counter()
    with subprocess.Popen(command, env=environment) as server:
        try:
            url = f"http://127.0.0.1:{port}"
            while True:
                if server.poll() is not None or time.perf_counter() - began > PATIENCE_S:
                    raise RuntimeError("the server is not ready")
                try:
                    ask(f"{url}/ready")
                    break
                except (urllib.error.URLError, ConnectionError):
                    time.sleep(0.05)
            ready = time.perf_counter() - began
            document = {"schema": SCHEMA, "text": "Ada Lovelace was born on 10 December 1815."}
            ask(f"{url}/v1/extract", document)
            answered = time.perf_counter() - began
            ask(f"{url}/v1/extract", document)
            return {
                "ready_s": ready,
                "first_answer_s": answered,
                "second_s": time.perf_counter() - began - answered,
            }
        finally:
            server.terminate()


def main() -> None:
    parser = argparse.ArgumentParser(description="Seconds to the first answer of a server.")
    parser.add_argument("--shape", choices=SHAPES)
    parser.add_argument(
        "--tokenizer", type=Path, help="folder with a tokenizer and a chat template"
    )
    parser.add_argument("--out", type=Path)
    chosen = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        model = None
        if chosen.shape:
            if chosen.tokenizer is None:
                parser.error("--shape needs --tokenizer")
            model = Path(temporary, "model")
            checkpoint(model, chosen.shape, chosen.tokenizer)
        caches = Path(temporary, "caches")
        found = {name: start(model, caches) for name in ("empty caches", "full caches")}
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    for name, figures in found.items():
        print(f"{name}: " + ", ".join(f"{key} {value:.1f}" for key, value in figures.items()))
    if chosen.out:
        chosen.out.write_text(
            json.dumps({"device": device, "model": chosen.shape or "embedded", **found}, indent=1)
        )


if __name__ == "__main__":
    main()
