"""An engine without a model that reads records: it answers with the lines of its prompt.

A line `Entry 17: Ada paid 3.50` is an item of `entries`, `Branch: Bremen` is the `branch`, which is null without such a
line if the constraint allows that, else "made up". An image is read as the line that `seen_line` gives for its first
byte. An answer that is longer than `max_tokens` has as many entries as fit, and says that its budget completed it.
"""

import json
import re
import time
from typing import Any

import msgspec
from intaglio.engine.host.assembly import Assembly
from intaglio.engine.host.process import main
from intaglio.engine.host.supervisor import Launch
from intaglio.engine.types import Delta, Request, Usage

from tests.support.answering_engine import BLOCKS, AnsweringEngine, Answers
from tests.support.modelless_engine import assembled, engine_info, launched

# At the beginning of a line, or of a message after its role.
_ENTRY = re.compile(r"(?:^|: )Entry (\d+): (\w+) paid (\d+\.\d\d)$", re.M)
_BRANCH = re.compile(r"(?:^|: )Branch: (\w+)$", re.M)

ENTRY: dict[str, Any] = {
    "type": "object",
    "properties": {
        "number": {"type": "integer"},
        "name": {"type": "string"},
        "paid": {"type": "number"},
    },
    "required": ["number", "name", "paid"],
    "additionalProperties": False,
}
LEDGER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "branch": {"type": "string"},
        "entries": {"type": "array", "items": ENTRY, "minItems": 1},
    },
    "required": ["branch", "entries"],
    "additionalProperties": False,
}


def entries(text: str) -> list[dict[str, Any]]:
    """The records of a text."""
    return [
        {"number": int(number), "name": name, "paid": float(paid)}
        for number, name, paid in _ENTRY.findall(text)
    ]


def ledger_text(count: int, branch: str | None = "Bremen", page_of: int = 7) -> str:
    """A document of so many records, some of them alike but for their number, on pages of so many."""
    names = ("Ada", "Bob", "Cleo", "Dora", "Emil")
    lines = ["A ledger", *([f"Branch: {branch}"] if branch else [])]
    for number in range(count):
        end = "\f" if number % page_of == page_of - 1 else ""
        lines.append(f"Entry {number}: {names[number // 3 % 5]} paid {number // 2 % 40}.50\n{end}")
    return "\n".join(lines)


def seen_line(value: int) -> str:
    """What is read of an image whose first byte is `value`."""
    return f"Entry {1000 + value}: Seen paid 1.50"


def text_of(request: Request) -> str:
    """The prompt of a request, with a line for each image."""
    found, at = list[bytes](), 0
    for image in request.images:
        found.append(_bytes_of(request.prompt[at : image.start]))
        found.append(f"\n{seen_line(image.pixels[0])}\n".encode())
        at = image.end
    return b"".join((*found, _bytes_of(request.prompt[at:]))).decode(errors="replace")


def _bytes_of(tokens: tuple[int, ...]) -> bytes:
    return bytes(token for token in tokens if token < 256)


class ReadingEngine(AnsweringEngine):
    """Answers each request from its prompt."""

    def __init__(self) -> None:
        super().__init__(Answers({}))
        self.prompts: list[str] = []
        self._forced: set[str] = set()

    def submit(self, request: Request) -> None:
        prompt = text_of(request)
        self.prompts.append(prompt)
        found, branch = entries(prompt), _BRANCH.search(prompt)
        source = "" if request.constraint is None else request.constraint.source
        absent = None if '"null"' in source else "made up"
        while True:
            data = {"branch": branch[1] if branch else absent, "entries": found}
            tokens = tuple(json.dumps(data, separators=(",", ":")).encode())
            if len(tokens) <= request.sampling.max_tokens or not found:
                break
            found = found[:-1]
            self._forced.add(request.id)
        self._accept(request.id, (request, tokens, time.monotonic()))

    def _delta(
        self, request: Request, tokens: tuple[int, ...], since: float, *, aborted: bool
    ) -> Delta:
        delta = super()._delta(request, tokens, since, aborted=aborted)
        usage = Usage(len(request.prompt), len(tokens), budget_forced=request.id in self._forced)
        return msgspec.structs.replace(delta, usage=usage)


def assembly(context_length: int = 4096) -> Assembly:
    """An engine of this process."""
    info = engine_info(model="reading", context_length=context_length, blocks=BLOCKS)
    return assembled(ReadingEngine(), info)


def build(configuration: bytes) -> Assembly:
    return assembly(int(configuration))


def reading(context_length: int = 4096) -> Launch:
    """Start this engine in place of the real one."""
    return launched(run, b"%d" % context_length)


def run() -> None:
    """The process of the engine."""
    raise SystemExit(main(build))
