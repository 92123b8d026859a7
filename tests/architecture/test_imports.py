"""Importing does no work: no torch behind the SDK, no files, sockets or processes, and it is quick."""

import subprocess
import sys
from pathlib import Path

from tests.architecture.source import modules

FORBIDDEN_BY_SDK = (
    "torch",
    "numpy",
    "triton",
    "starlette",
    "uvicorn",
    "zmq",
    "msgspec",
    "xgrammar",
)

# Imports every module while an audit hook refuses side effects.
PROBE = """
import sys, importlib, warnings, gc
gc.disable()  # a fifth of the time
allowed = ("sys.", "import", "compile", "exec", "marshal.", "os.listdir", "os.scandir", "object.")
def hook(event, args):
    if "__pycache__" in str(args):  # byte code, and the folder a JIT compiler looks its own up in
        return
    if event in ("socket.connect", "socket.bind", "subprocess.Popen", "os.mkdir", "os.remove", "os.fork"):
        raise RuntimeError(f"side effect at import: {event} {args}")
    if event == "open" and isinstance(args[1], str) and any(c in args[1] for c in "wax+"):
        raise RuntimeError(f"side effect at import: open {args}")
for heavy in sys.argv[1].split(","):
    if heavy:
        try:
            importlib.import_module(heavy)
        except ImportError:
            pass
sys.addaudithook(hook)
for name in sys.argv[2:]:
    importlib.import_module(name)
"""

# Libraries that do work of their own when imported; they are loaded before the hook is set.
HEAVY = "torch,triton,numba,zmq,multiprocessing,ctypes,uuid,typer,rich,uvicorn,jinja2"


def test_importing_has_no_side_effects() -> None:
    names = [m.name for m in modules()]
    subprocess.run(
        [sys.executable, "-P", "-B", "-c", PROBE, HEAVY, *names],
        check=True,
        cwd=Path("/"),
        timeout=120,
    )


def test_the_sdk_loads_nothing_heavy() -> None:
    program = (
        "import sys, intaglio; from intaglio import Client, AsyncClient;"
        f"loaded = [n for n in {FORBIDDEN_BY_SDK!r} if n in sys.modules];"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True, cwd=Path("/"), timeout=60)


def test_the_checkout_does_not_shadow_a_published_package() -> None:
    """transformers probes for a package called `kernels`; ours must not be what it finds."""
    program = "import importlib.util as u; spec = u.find_spec('kernels'); assert spec is None, spec"
    subprocess.run([sys.executable, "-P", "-c", program], check=True, timeout=60)


def test_an_api_process_loads_no_torch() -> None:
    program = (
        "import sys, intaglio.service.http.server, intaglio.service.http.api_process;"
        "loaded = [n for n in ('torch', 'numba', 'triton', 'transformers') if n in sys.modules];"
        "assert not loaded, loaded"
    )
    subprocess.run([sys.executable, "-P", "-c", program], check=True, cwd=Path("/"), timeout=60)
