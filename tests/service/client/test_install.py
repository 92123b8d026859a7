"""The base install: the public names of `intaglio`, and that the SDK needs no engine."""

import subprocess
import sys
from pathlib import Path

import intaglio
import intaglio.service.client

SURFACE = [
    "APIStatusError",
    "AsyncClient",
    "Client",
    "ConfigError",
    "ConnectionFailed",
    "Extraction",
    "IntaglioError",
    "LLM",
    "ModelError",
    "NotReady",
    "Overloaded",
    "SchemaRefused",
    "TimedOut",
    "TooLong",
    "Verbatim",
    "__version__",
    "extract",
    "extract_frame",
    "register_pandas",
]
CLIENT_METHODS = [
    "base_url",
    "close",
    "engine_state",
    "extract",
    "extract_many",
    "extract_stream",
    "health",
    "models",
    "ready",
    "version",
    "wait_until_ready",
]

# Refuses every package that the base install does not bring along, as if it were not installed.
BLOCKED = """
import sys
import time

class Blocker:
    names = {"torch", "numpy", "triton", "starlette", "uvicorn", "zmq", "msgspec", "xgrammar", "numba",
             "tokenizers", "safetensors", "transformers", "jsonschema", "jinja2", "typer", "rich", "structlog",
             "prometheus_client", "psutil"}
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in self.names:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None

sys.meta_path.insert(0, Blocker())
start = time.perf_counter()
import intaglio
from intaglio import AsyncClient, Client, SchemaRefused
print(time.perf_counter() - start)
try:
    intaglio.LLM
except ImportError as error:
    assert "LLM needs" in str(error) and "pip install 'intaglio[server]'" in str(error), error
else:
    raise SystemExit("there should be no LLM here")
client = Client()
try:
    client.extract({"type": "null"}, "text", timeout=0.001, max_retries=0)
except intaglio.ConnectionFailed:
    client.close()
else:
    raise SystemExit("something answered")
"""


def test_the_sdk_works_without_what_computes() -> None:
    done = subprocess.run(
        [sys.executable, "-P", "-c", BLOCKED],
        capture_output=True,
        text=True,
        cwd=Path("/"),
        timeout=60,
        env={"INTAGLIO_BASE_URL": "http://127.0.0.1:9"},
    )
    assert done.returncode == 0, done.stderr
    assert float(done.stdout) < 5.0  # ten times what it may take on an idle machine


def test_the_face_offers_these_names_and_no_others() -> None:
    assert dir(intaglio) == SURFACE
    assert sorted([*intaglio.__all__, "__version__"]) == SURFACE
    assert not hasattr(intaglio, "engine_internals")


def test_the_clients_offer_the_same_methods() -> None:
    for kind in (intaglio.Client, intaglio.AsyncClient):
        public = {name for name in vars(kind) if not name.startswith("_")}
        assert sorted(public | {"base_url"}) == CLIENT_METHODS


def test_every_error_of_the_tree_is_exported() -> None:
    base = intaglio.IntaglioError
    known = {name for name in vars(intaglio.service.client.errors) if not name.startswith("_")}
    tree = {
        name
        for name in known
        if isinstance(kind := getattr(intaglio.service.client.errors, name), type)
        and issubclass(kind, base)
    }
    assert tree <= set(intaglio.service.client.__all__)
