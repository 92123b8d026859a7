"""Generates the synchronous client from the asynchronous one: `make sync-client`.

Does: rewrite tokens (`unasync`), format, and put the result beside its source. A test compares the two.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import unasync

CLIENT = Path(__file__).resolve().parents[2] / "service" / "client"
WRITTEN, GENERATED = CLIENT / "_async.py", CLIENT / "_sync.py"
HEADER = "# Generated from _async.py by `make sync-client`; change that file.\n"
REPLACEMENTS = {
    "AsyncClient": "Client",
    "AsyncBaseTransport": "BaseTransport",
    "aclose": "close",
    "asyncio": "time",
}


def generated() -> str:
    """The text that `_sync.py` must have."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / WRITTEN.name
        source.write_text(WRITTEN.read_text(encoding="utf-8"), encoding="utf-8")
        rule = unasync.Rule(f"/{WRITTEN.name}", f"/{GENERATED.name}", REPLACEMENTS)
        unasync.unasync_files([str(source)], [rule])
        text = HEADER + source.with_name(GENERATED.name).read_text(encoding="utf-8")
    for command in (["check", "--fix-only", "--quiet"], ["format"]):
        text = subprocess.run(
            [sys.executable, "-P", "-m", "ruff", *command, "--stdin-filename", GENERATED, "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            cwd=CLIENT,
        ).stdout
    return text


if __name__ == "__main__":
    GENERATED.write_text(generated(), encoding="utf-8")
