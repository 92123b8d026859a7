"""Every example runs as it stands, against the model in the package: offline, or through `intaglio serve`."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from intaglio import Client

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"

# A line that each example must print; values are the model's and are judged elsewhere.
PRINTS = {
    "handle_errors.py": (
        "refused at /schema/pattern: back-reference",
        "too long: shorten the text",
        "404 unknown_schema: did you mean invoice",
        "retryable: True; cannot connect",
    ),
    "many_documents.py": ("contact: full_name = ", "event: name = ", "receipt: merchant = "),
    "own_schema.py": ('{"parcel": "', '"status": "'),
    "quickstart.py": ("valid: True",),
    "ray_serve.py": ("valid: True; {'parcel': '",),
    "sampling.py": ("greedy: ", "sampled: "),
    "typed_client.py": ("[high]", "  by "),
}
pytestmark = pytest.mark.timeout(900)  # a cluster takes its time to start
# Ray Serve gives its proxy 15 s to start and kills it after that, which a busy machine takes.
PATIENT = {
    "RAY_SERVE_PROXY_READY_CHECK_TIMEOUT_S": "55",
    "RAY_SERVE_PROXY_HEALTH_CHECK_TIMEOUT_S": "55",
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
            more |= PATIENT | {"PORT": str(free.getsockname()[1]), "COPIES": "1"}
    done = subprocess.run(
        [sys.executable, "-P", EXAMPLES / name],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env=environment(**more),
        timeout=600,  # a cluster takes its time to start
    )
    assert done.returncode == 0, done.stderr
    for words in PRINTS[name]:
        assert words in done.stdout
