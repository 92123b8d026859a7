"""Every example runs unchanged against the included model: offline, or through `intaglio serve`."""

import os
import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from intaglio import Client

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# What each example prints, line by line, as a pattern: the values are those that stand in its documents. Greedy answers
# are the same everywhere; counts of tokens and of drawn answers are left open.
PRINTS = {
    "handle_errors.py": (
        r"refused at /schema/pattern: back-reference.*",
        r"too long: shorten the text by at least \d+ tokens, or set long_documents to windows",
        r"404 unknown_schema: did you mean invoice",
        r"retryable: True; cannot connect to http",
    ),
    "many_documents.py": (
        r"contact: full_name = 'Helena Brandt' \(\d+ tokens\)",
        r"event: name = 'Evening of Early Music' \(\d+ tokens\)",
        r"product: name = 'Aurora 40 Desk Lamp' \(\d+ tokens\)",
        r"order: order_number = 'FO-77215' \(\d+ tokens\)",
    ),
    "own_schema.py": (
        r'{"parcel": "GX-204417", "status": "delivered", "weight_kg": 2.4, "signed_by": "A. Lindqvist"}',
        r'{"parcel": "GX-204418", "status": "on the way", "weight_kg": 0.8, "signed_by": null}',
    ),
    "quickstart.py": (
        r"CORNER & CRUMB BAKERY, 07 November 2026: 10\.50",
        r"  1 x Sourdough loaf, 4\.20",
        r"  3 x Cinnamon bun, 6\.30",
        r"valid: True, \d+ tokens",
    ),
    "ray_serve.py": (r"valid: True; {'parcel_number': 'DE-4471', 'weight_kg': 2.4}",),
    "sampling.py": (
        r"greedy: closed",
        r"sampled: [1-8] x closed(, [1-7] x (open|in progress))*",
    ),
    "typed_client.py": (
        r"\[high\] Label printer shows an error",
        r"  by Martin Okafor, order QF-553018, error E-217",
    ),
}
pytestmark = pytest.mark.timeout(900)  # a cluster takes its time to start
# Ray Serve gives its proxy 15 s to start and kills it after that, which a busy machine takes. Ray starts workers in
# advance, which would have no work here; the process that examines schemas is not what the example shows.
CLUSTER = {
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "55",
    "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "55",
    "RAY_enable_worker_prestart": "0",
    "RAY_num_prestart_python_workers": "0",
    "INTAGLIO_ENGINE_GRAMMAR_ISOLATION": "never",
}
NEED_A_SERVICE = {"handle_errors.py", "many_documents.py", "typed_client.py"}


@pytest.fixture(scope="module")
def service() -> Iterator[str]:
    """`intaglio serve` with the model in the package, on a free port."""
    program = Path(sys.executable).with_name("intaglio")
    process = subprocess.Popen(
        [program, "serve", "--port", "0"], stderr=subprocess.PIPE, text=True, env=environment()
    )
    assert process.stderr is not None
    url = next(line.split()[-1] for line in process.stderr if line.startswith("Intaglio"))
    try:
        with Client(url) as client:
            client.wait_until_ready(300)
        yield url
    finally:
        process.terminate()
        process.communicate(timeout=120)


def environment(**more: str) -> dict[str, str]:
    # Tests share the cores: threads that spin would starve each other, and a schema may wait for its turn.
    shared = {"OMP_NUM_THREADS": "1", "INTAGLIO_ENGINE_GRAMMAR_DEADLINE_S": "60"}
    shared |= {
        name: os.environ[name]
        for name in ("XDG_CACHE_HOME", "INTAGLIO_ENGINE_GRAMMAR_WARM", "SSL_CERT_FILE")
    }
    return {"PATH": os.environ["PATH"], "PYTHONSAFEPATH": "1", **shared, **more}


def test_every_example_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("*.py")} == set(PRINTS)


@pytest.mark.parametrize("name", sorted(PRINTS))
def test_the_example_runs(name: str, request: pytest.FixtureRequest, tmp_path: Path) -> None:
    more = {}
    if name in NEED_A_SERVICE:
        more["INTAGLIO_BASE_URL"] = request.getfixturevalue("service")
    if name == "ray_serve.py":
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            more |= CLUSTER | {"PORT": str(free.getsockname()[1]), "COPIES": "1"}
    done = subprocess.run(
        [sys.executable, "-P", EXAMPLES / name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(**more),
        timeout=600,  # a cluster takes its time to start
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    if name == "ray_serve.py":
        # Ray's own reports stand between the lines of the example.
        lines = [line for line in lines if line.startswith("valid")]
    assert len(lines) == len(PRINTS[name]), done.stdout
    for line, pattern in zip(lines, PRINTS[name], strict=True):
        assert re.fullmatch(pattern, line), line
