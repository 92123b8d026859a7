"""Pages of PDF a second, through the children that a server uses.

    python -m tests.bench.bench_documents [--children 2] [--files 40] [--pages 20] [FILE.pdf …]

Reads made PDFs with 2,000 characters a page, or the given files, several at a time, and prints pages a second by the
clock and by the processor time of the children.
"""

import argparse
import random
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from intaglio.service.documents.document_reader import DocumentReader

from tests.conformance.hostile_documents import cpu_seconds
from tests.support.document_files import pdf

_LINES, _WIDTH = 40, 50


def made(pages: int, seed: int) -> bytes:
    """A PDF with 40 lines of 50 characters a page."""
    draw = random.Random(seed)
    letters = "etaoin shrdlu cmfwyp 0123456789,.-"
    text = [["".join(draw.choices(letters, k=_WIDTH)) for _ in range(_LINES)] for _ in range(pages)]
    return pdf(text, size=(612, 792), compressed=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--children", type=int, default=2)
    parser.add_argument("--files", type=int, default=40)
    parser.add_argument("--pages", type=int, default=20)
    parser.add_argument("given", nargs="*", type=Path)
    arguments = parser.parse_args()
    contents = [path.read_bytes() for path in arguments.given]
    contents = contents or [made(arguments.pages, seed) for seed in range(arguments.files)]
    with (
        DocumentReader(children=arguments.children) as reader,
        ThreadPoolExecutor(arguments.children) as threads,
    ):
        list(threads.map(reader.read, [contents[0]] * arguments.children))  # starts the children
        before, started = sum(map(cpu_seconds, reader.pids)), time.perf_counter()
        documents = list(threads.map(reader.read, contents))
        seconds = time.perf_counter() - started
        processor = sum(map(cpu_seconds, reader.pids)) - before
    pages = sum(len(document.pages) for document in documents)
    print(f"{pages} pages in {seconds:.2f} s with {arguments.children} children")
    print(f"{pages / seconds:.0f} pages/s by the clock, {pages / processor:.0f} a core")


if __name__ == "__main__":
    main()
