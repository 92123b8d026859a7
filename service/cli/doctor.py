"""`intaglio doctor`: check the installation and suggest fixes.

Does: check the interpreter, the packages, the machine and the model, then run a small extraction. Does not: repair
anything or use the network.
"""

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import asdict
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.text import Text

from .cli_errors import Exit
from .console import results, spinner, write_json
from .doctor_report import Check, State

OLDEST_PYTHON = (3, 11)
PACKAGES = (
    *("torch", "safetensors", "tokenizers", "numba", "jsonschema"),
    *("numpy", "starlette", "uvicorn", "pyzmq", "msgspec"),
)
LITTLE_MEMORY = 1 << 30


def run(model: str | None, *, as_json: bool) -> Exit:
    """Run and show every check. Returns `FAILED` if any check failed."""
    console = results()
    results_: list[Check] = []
    for check in checks(model):
        results_.append(check)
        if not as_json:
            _print(console, check)
    worst = max(results_, key=lambda check: list(State).index(check.state)).state
    if as_json:
        write_json({"state": worst, "checks": [asdict(check) for check in results_]}, raw=True)
    else:
        verdicts = {
            State.OK: "All well.",
            State.WARN: "It works; see the warnings.",
            State.FAIL: "It does not work yet.",
        }
        console.print(f"\n{verdicts[worst]}")
    return Exit.FAILED if worst is State.FAIL else Exit.OK


def checks(model: str | None) -> Iterator[Check]:
    """All checks in order; those that a failure makes pointless are skipped."""
    yield python()
    yield processor()
    yield memory()
    missing = [name for name in PACKAGES if _installed(name) is None]
    yield packages(missing)
    yield gpu()
    if missing:
        return
    from .doctor_model import model_checks

    with spinner("running the model"):
        yield from model_checks(model)


def python() -> Check:
    """The version of the interpreter."""
    found = f"{platform.python_implementation()} {platform.python_version()}, {sys.executable}"
    if sys.version_info < OLDEST_PYTHON:
        return Check("python", State.FAIL, found, "Python 3.11 or newer is needed")
    return Check("python", State.OK, found)


def packages(missing: list[str]) -> Check:
    """The installed packages and their versions."""
    if missing:
        return Check(
            "packages",
            State.FAIL,
            f"not installed: {', '.join(missing)}",
            "pip install 'intaglio[server]'",
        )
    shown = ("intaglio", "torch", "numba", "tokenizers")
    return Check("packages", State.OK, ", ".join(f"{name} {_installed(name)}" for name in shown))


def processor() -> Check:
    """The cores this process may use."""
    every = os.cpu_count() or 1
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else every
    found = f"{usable} of {every} cores, {platform.machine()}"
    if usable < 2:
        return Check(
            "processor",
            State.WARN,
            found,
            "one core is enough, but the service and the engine share it: expect slow answers under load",
        )
    return Check("processor", State.OK, found)


def memory() -> Check:
    """The free main memory."""
    sizes = _meminfo()
    if sizes is None:
        return Check("memory", State.OK, "size not known on this system")
    total, available = sizes
    found = f"{available / 2**30:.1f} of {total / 2**30:.1f} GiB free"
    if available < LITTLE_MEMORY:
        return Check("memory", State.WARN, found, "free memory, or lower --max-context")
    return Check("memory", State.OK, found)


def gpu() -> Check:
    """GPUs as listed by their driver, and whether torch can use one."""
    tool = shutil.which("nvidia-smi")
    if tool is None:
        return Check("gpu", State.OK, "none found; the model runs on the CPU")
    query = [tool, "--query-gpu=name,memory.total,driver_version", "--format=csv,noheader"]
    try:
        listed = subprocess.run(  # noqa: S603  found on PATH, with fixed arguments
            query, capture_output=True, text=True, timeout=15, check=True
        )
    except (OSError, subprocess.SubprocessError) as error:
        return Check("gpu", State.WARN, f"nvidia-smi does not answer: {error}", "check the driver")
    found = "; ".join(line.strip() for line in listed.stdout.splitlines() if line.strip())
    if "+cpu" in (_installed("torch") or ""):
        return Check(
            "gpu",
            State.WARN,
            f"{found}, but this torch is built for CPUs only",
            "install torch for CUDA: https://pytorch.org/get-started/locally/",
        )
    return Check("gpu", State.OK, found or "none listed")


def _installed(name: str) -> str | None:
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def _meminfo() -> tuple[int, int] | None:
    """Total and available bytes of memory, on systems with /proc."""
    path = Path("/proc/meminfo")
    if not path.exists():
        return None
    rows = dict(line.split(":", 1) for line in path.read_text().splitlines() if ":" in line)
    return int(rows["MemTotal"].split()[0]) * 1024, int(rows["MemAvailable"].split()[0]) * 1024


def _print(console: Console, check: Check) -> None:
    style = {State.OK: "green", State.WARN: "yellow", State.FAIL: "bold red"}[check.state]
    line = Text(f"{check.state:<5}", style=style)
    line.append(f"{check.name:<11}", style="bold")
    line.append(check.found, style="default")
    console.print(line, soft_wrap=True)
    if check.fix:
        console.print(Text(f"{'':<16}→ {check.fix}", style=style), soft_wrap=True)
