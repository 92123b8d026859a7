"""Run other people's clients and their tests against the service; write the counts to `results.json`.

    python -m tests.conformance.clients.run --work /tmp/clients [SUITE...]

Each suite gets a virtual environment of its own below the working folder and a server over the gold engine
(`gold_engine`). Needs a package index; nothing of the clients is kept in this repository.
"""

import argparse
import json
import os
import subprocess
import sys
import tarfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx2

from tests.conformance.clients.suites import HERE, SUITES, Suite

ROOT = HERE.parents[2]
RESULTS = HERE / "results.json"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="folder for environments")
    parser.add_argument("suites", nargs="*", help="names of suites; default: all")
    given = parser.parse_args()
    chosen = [suite for suite in SUITES if not given.suites or suite.name in given.suites]
    results = json.loads(RESULTS.read_text("utf-8")) if RESULTS.exists() else {}
    for suite in chosen:
        results[suite.name] = found = run(suite, given.work.absolute())
        print(suite.name, json.dumps(found, indent=1), flush=True)
        RESULTS.write_text(json.dumps(results, indent=2, sort_keys=True) + "\n", "utf-8")
    return int(any(results[suite.name]["failed"] for suite in chosen))


def run(suite: Suite, work: Path) -> dict[str, Any]:
    """Install and run one suite; its counts."""
    work.mkdir(parents=True, exist_ok=True)
    home = work / suite.name.replace(" ", "-")
    python = environment(suite, home)
    folder = _sources(suite, python, home) if suite.sources else HERE / "installed"
    report = home / "report.json"
    report.unlink(missing_ok=True)
    with server(suite, home) as url:
        subprocess.run(
            [
                *(str(python), "-m", "pytest", "-q", "-p", "counting_plugin"),
                *("-p", "no:cacheprovider", "-W", "ignore", "-o", "addopts=--tb=short"),
                *("--confcutdir", str(folder)),
                *("-o", "asyncio_mode=auto", "-o", "asyncio_default_test_loop_scope=session"),
                *suite.paths,
            ],
            cwd=folder,
            env={
                **{name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
                "PYTHONPATH": str(HERE / "installed"),
                "TEST_API_BASE_URL": f"{url}/v1",
                "OPENAI_BASE_URL": f"{url}/v1",
                "OPENAI_API_KEY": "none",
                "CLIENTS_URL": url,
                "CLIENTS_MODEL": suite.model,
                "CLIENTS_REPORT": str(report),
                "CLIENTS_EXPECTED": str(HERE / suite.expected),
                "CLIENTS_FILES": " ".join(suite.files),
            },
            check=False,
        )
    found: dict[str, Any] = {"versions": _versions(suite), "failed": 1, "failures": ["no report"]}
    return found | (json.loads(report.read_text("utf-8")) if report.exists() else {})


def environment(suite: Suite, home: Path) -> Path:
    """The interpreter of a virtual environment with the suite's requirements."""
    python = home / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(home / "venv")], check=True)
    subprocess.run([str(python), "-m", "pip", "install", "-qq", *suite.installs], check=True)
    return python


def _sources(suite: Suite, python: Path, home: Path) -> Path:
    """The unpacked source distribution of the client."""
    name, _, version = suite.installs[0].partition("==")
    folder = home / f"{name}-{version}"
    if not folder.exists():
        download = ["download", "-qq", "--no-deps", "--no-binary", ":all:", suite.installs[0]]
        subprocess.run([str(python), "-m", "pip", *download, "-d", str(home)], check=True)
        with tarfile.open(home / f"{name}-{version}.tar.gz") as archive:
            archive.extractall(home, filter="data")
    return folder


def _versions(suite: Suite) -> dict[str, str]:
    return dict(one.split("==", 1) for one in suite.installs if not one.startswith("pytest"))


@contextmanager
def server(suite: Suite, home: Path) -> Iterator[str]:
    """The service over the gold engine; gives its address."""
    gold = {
        "model": suite.model,
        "rules": [{"when": when, "answer": answer} for when, answer in suite.rules],
    }
    command = [sys.executable, "-P", str(HERE / "serve_gold.py"), str(home / "models")]
    process = subprocess.Popen(
        [*command, json.dumps(gold), str(home / "data")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert process.stdout is not None
        url = process.stdout.readline().strip()
        _wait_until_ready(url)
        yield url
    finally:
        process.terminate()
        process.wait()


def _wait_until_ready(url: str) -> None:
    for _ in range(600):
        if httpx2.get(f"{url}/ready", timeout=60).status_code == 200:
            return
        time.sleep(0.1)
    raise RuntimeError("the server is not ready after a minute")


if __name__ == "__main__":
    raise SystemExit(main())
