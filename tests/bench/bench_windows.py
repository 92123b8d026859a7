"""A made document of 300 pages with 2,000 records, streamed in windows over HTTP: time, order and memory.

    python -m tests.bench.bench_windows [CONTEXT_LENGTH]

The engine is a double that reads the records of a window without error, so the figures are those of the service. Memory
is that of service and client together, in one process.
"""

import json
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from intaglio.service.client import Client

from tests.support.live_service import EXAMINING, live, until
from tests.support.reading_engine import LEDGER, entries, ledger_text, reading
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PAGES, RECORDS = 300, 2000
FILLER = (
    "This page lists the payments of one week as they were booked, without claim to completeness.\n"
)
PAGE_SIZE = 4096


def made() -> str:
    """The document: 12 lines of prose on each page, then its records."""
    pages = ["A ledger\nBranch: Bremen\n"]
    lines = iter(ledger_text(RECORDS).replace("\f", "").splitlines()[2:])
    records = [line for line in lines if line]
    for page in range(PAGES):
        begin, end = page * RECORDS // PAGES, (page + 1) * RECORDS // PAGES
        pages.append(
            f"# Week {page + 1}\n\n{FILLER * 12}\n" + "\n".join(records[begin:end]) + "\n\f"
        )
    return "".join(pages)


@contextmanager
def most_memory() -> Iterator[list[int]]:
    """The resident bytes of this process: at the beginning, and the most of all later readings."""
    found, stop = [_resident(), 0], threading.Event()

    def watch() -> None:
        while not stop.wait(0.02):
            found[1] = max(found[1], _resident())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    yield found
    stop.set()
    watcher.join()


def _resident() -> int:
    return int(Path("/proc/self/statm").read_text().split()[1]) * PAGE_SIZE


def main() -> None:
    """Stream the document once with sources and once without."""
    text = made()
    context = int(sys.argv[1]) if len(sys.argv) > 1 else 16384
    print(f"{len(text):,} characters, {PAGES} pages, {len(entries(text)):,} records")
    with tempfile.TemporaryDirectory() as folder:
        checkpoint = write_checkpoint(Path(folder) / "model", LLAMA)
        with live(reading(context), checkpoint, grammar=EXAMINING) as service:
            until(lambda: service.http.get("/ready").status_code == 200)
            service.extract(LEDGER, ledger_text(300), options={"long_documents": "windows"})
            for grounding in ("off", "locate"):
                report(service.url, text, grounding)


def report(url: str, text: str, grounding: Any) -> None:
    """One stream, and what it gave."""
    items, first = list[Any](), 0.0
    began = time.perf_counter()
    with most_memory() as memory, Client(url, timeout=600) as client:
        with client.extract_stream(
            LEDGER, text, long_documents="windows", grounding=grounding
        ) as stream:
            for event in stream:
                if event.type == "field.completed" and event.pointer.count("/") == 2:
                    first = first or time.perf_counter() - began
                    items.append(event.value)
        seconds, result = time.perf_counter() - began, stream.result()
    assert result.reading is not None
    same = items == entries(text) == result.data["entries"]
    print(
        json.dumps(
            {
                "grounding": grounding,
                "all records in order": same,
                "windows": result.reading.windows,
                "first record s": round(first, 2),
                "all s": round(seconds, 2),
                "more memory MiB": round((memory[1] - memory[0]) / 2**20, 1),
            }
        )
    )


if __name__ == "__main__":
    main()
