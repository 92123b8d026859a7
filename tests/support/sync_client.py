"""Generates the synchronous client from the asynchronous one: `make sync-client`.

Does: rewrite tokens (`unasync`), format, and put the result beside its source. A test compares the two.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

import unasync

CLIENT = Path(__file__).resolve().parents[2] / "service" / "client"
# Each written file and the one that is generated from it.
FILES = {
    CLIENT / "_async.py": CLIENT / "_sync.py",
    CLIENT / "_async_documents.py": CLIENT / "_sync_documents.py",
    CLIENT / "_async_jobs.py": CLIENT / "_sync_jobs.py",
    CLIENT / "_async_many.py": CLIENT / "_sync_many.py",
    CLIENT / "_async_schemas.py": CLIENT / "_sync_schemas.py",
    CLIENT / "_async_stream.py": CLIENT / "_sync_stream.py",
    CLIENT / "_async_wire.py": CLIENT / "_sync_wire.py",
}
HEADER = "# Generated from {} by `make sync-client`; change that file.\n"
REPLACEMENTS = {
    "AsyncClient": "Client",
    "AsyncBaseTransport": "BaseTransport",
    "AsyncConnections": "Connections",
    "AsyncDocuments": "Documents",
    "AsyncJobs": "Jobs",
    "AsyncManyTexts": "ManyTexts",
    "AsyncSchemas": "Schemas",
    "AsyncExtractionStream": "ExtractionStream",
    "AsyncWire": "Wire",
    "_async_documents": "_sync_documents",
    "_async_jobs": "_sync_jobs",
    "_async_many": "_sync_many",
    "_async_schemas": "_sync_schemas",
    "_async_stream": "_sync_stream",
    "gather_bounded": "map_bounded",
    "_async_wire": "_sync_wire",
    "asynccontextmanager": "contextmanager",
    "aiter_bytes": "iter_bytes",
    "aread": "read",
    "aclose": "close",
    "asyncio": "time",
}


def generated(written: Path) -> str:
    """The text that the file generated from `written` must have."""
    target = FILES[written]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / written.name
        source.write_text(written.read_text(encoding="utf-8"), encoding="utf-8")
        rule = unasync.Rule(f"/{written.name}", f"/{target.name}", REPLACEMENTS)
        unasync.unasync_files([str(source)], [rule])
        text = HEADER.format(written.name)
        text += source.with_name(target.name).read_text(encoding="utf-8")
    for command in (["check", "--fix-only", "--quiet"], ["format"]):
        text = subprocess.run(
            [sys.executable, "-P", "-m", "ruff", *command, "--stdin-filename", target, "-"],
            input=text,
            capture_output=True,
            text=True,
            check=True,
            cwd=CLIENT,
        ).stdout
    return text


if __name__ == "__main__":
    for written, target in FILES.items():
        target.write_text(generated(written), encoding="utf-8")
