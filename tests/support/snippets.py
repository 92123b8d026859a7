"""The snippets of the documents: found, run, and compared with the answers that the pages show.

Does: read fenced blocks out of Markdown, run each page's in order in a folder of its own against one server, say where
an answer differs. `python -m tests.support.snippets` writes the new answers into the pages (`make docs-answers`).

How a block is read:

    ```json title="order.json"               a file of that name
    ```console                               commands after "$ ", each with what it prints below it
    ```python                                a program; blocks of a page share their names
    ```json or ```text, without a title      what the block before it prints, where it follows a runnable one
    ```{ .bash data-not-run="needs a GPU" }  anything else, and why it is not run

In an answer, a line `…` stands for any lines and `…` within a line for anything on it. JSON is compared as JSON,
without ids and times. `localhost:8000` is the server's address.
"""

import json
import os
import re
import select
import shlex
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from intaglio import Client, ConnectionFailed

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = Path(sys.executable).with_name("intaglio")
PROCESS = Path(__file__).with_name("snippet_process.py")
SHOWN_ADDRESS = "localhost:8000"
PATIENCE_S = 240.0
FENCE = re.compile(
    r"^(?P<indent> *)```(?P<info>[^`\n]*)\n(?P<body>.*?)^(?P=indent)```[ ]*$",
    re.MULTILINE | re.DOTALL,
)
RUNNABLE = ("console", "python")
ANSWERS = ("json", "text")
# What differs from run to run.
CHANGING_KEYS = {
    *("id", "created", "created_at", "changed", "timings", "request_id", "cost"),
    "accepted_tokens",  # drafts are accepted as far as they were computed in time
}
TEMPORARY = (
    (re.compile(r"\b(ext|req|job)_[0-9a-f]{8,}"), r"\1_…"),
    (re.compile(r"\d+(\.\d+)? ms\b"), "… ms"),
    (re.compile(r"\d+(\.\d+)? s\b"), "… s"),
)


@dataclass(frozen=True, slots=True)
class Block:
    """One fenced block. `start` and `end` are where its body lies in the page's text."""

    page: Path
    place: str
    language: str
    title: str | None
    reason: str | None
    body: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Failure:
    """A snippet that did not do what the page says; `start` to `end` of the page would have to be `correct`."""

    place: str
    reason: str
    page: Path
    start: int = 0
    end: int = 0
    correct: str | None = None

    def __str__(self) -> str:
        return f"{self.place}: {self.reason}"


def pages() -> tuple[Path, ...]:
    """Every page with snippets."""
    return (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))


def blocks(page: Path, root: Path = ROOT) -> Iterator[Block]:
    """The fenced blocks of a page. Places are relative to `root`."""
    text = page.read_text(encoding="utf-8")
    for found in FENCE.finditer(text):
        info = found["info"].strip()
        named = re.search(r'title="([^"]*)"', info)
        reason = re.search(r'data-not-run="([^"]*)"', info)
        language = re.match(r"(?:\{ *\.)?([\w+-]*)", info)
        assert language is not None
        yield Block(
            page=page,
            place=f"{page.relative_to(root)}:{text.count(chr(10), 0, found.start()) + 1}",
            language=language[1],
            title=named[1] if named else None,
            reason=reason[1] if reason else None,
            body=found["body"],
            start=found.start("body"),
            end=found.end("body"),
        )


def unrunnable(page: Path, root: Path = ROOT) -> Iterator[str]:
    """Places of blocks that are not run and give no reason."""
    before: Block | None = None
    for block in blocks(page, root):
        answer = block.language in ANSWERS and before is not None
        known = block.title or block.language in RUNNABLE or answer
        if not known and not block.reason:
            yield f'{block.place}: run it, or say why not: data-not-run="…"'
        before = block if block.language in RUNNABLE and not (block.title or block.reason) else None


class Python:
    """A Python process that runs one snippet after the other, all in one namespace."""

    def __init__(self, folder: Path, environment: Mapping[str, str]) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-P", str(PROCESS)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=folder,
            env=dict(environment),
        )

    def run(self, block: Block) -> tuple[str, str]:
        """The output of the snippet, with its traceback if it failed."""
        stdin, stdout = self._process.stdin, self._process.stdout
        assert stdin is not None
        assert stdout is not None
        stdin.write(json.dumps({"body": block.body, "place": block.place}) + "\n")
        stdin.flush()
        if not select.select([stdout], [], [], PATIENCE_S)[0]:
            return "", f"no end within {PATIENCE_S:g} s"
        answer = stdout.readline()
        if not answer:
            return "", "the process ended"
        printed, failed = json.loads(answer)
        return printed, failed

    def close(self) -> None:
        """End the process, also while a snippet hangs."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()


@dataclass
class Run:
    """One page being run in `folder` against the server at `url`."""

    page: Path
    folder: Path
    url: str
    root: Path = ROOT
    status: int = 0
    failures: list[Failure] = field(default_factory=list)
    _python: Python | None = None

    def __post_init__(self) -> None:
        self.environment = environment(self.url)

    def all(self) -> list[Failure]:
        """Run every block of the page, in order."""
        found = list(blocks(self.page, self.root))
        try:
            for place, block in enumerate(found):
                after = found[place + 1] if place + 1 < len(found) else None
                shows = after is not None and after.language in ANSWERS
                answer = after if after and shows and not (after.title or after.reason) else None
                if block.reason is not None:
                    continue
                if block.title is not None:
                    path = self.folder / block.title
                    path.parent.mkdir(parents=True, exist_ok=True)
                    path.write_text(block.body, encoding="utf-8")
                elif block.language == "python":
                    self._run_python(block, answer)
                elif block.language == "console":
                    self._run_console(block, answer)
        finally:
            if self._python is not None:
                self._python.close()
        return self.failures

    def _run_python(self, block: Block, answer: Block | None) -> None:
        self._python = self._python or Python(self.folder, self.environment)
        address = self.url.removeprefix("http://")
        body = block.body.replace(SHOWN_ADDRESS, address)
        printed, failed = self._python.run(replace(block, body=body))
        if failed:
            self.failures.append(Failure(block.place, failed, block.page))
        elif answer is not None:
            self._compare(answer.place, answer.body, printed, answer)
        elif printed:
            reason = f"the page does not show what this prints:\n{printed}"
            self.failures.append(Failure(block.place, reason, block.page))

    def _run_console(self, block: Block, answer: Block | None) -> None:
        commands = list(_commands(block.body))
        for number, (command, shown, start, end) in enumerate(commands):
            printed = self._shell(command, block)
            part = Block(
                block.page,
                block.place,
                "text",
                None,
                None,
                shown,
                block.start + start,
                block.start + end,
            )
            last = number == len(commands) - 1
            if answer is not None and last and not shown:
                self._compare(answer.place, answer.body, printed, answer)
            else:
                self._compare(f"{block.place} ({command.splitlines()[0]})", shown, printed, part)

    def _shell(self, command: str, block: Block) -> str:
        """What a command prints; where it fails, its errors after that. `$?` is the status of the one before."""
        command = command.replace(SHOWN_ADDRESS, self.url.removeprefix("http://"))
        words, rest = _our_program(command)
        done = self._done(words or ["bash", "-c", f"(exit {self.status})\n{command}"])
        self.status, printed = done.returncode, done.stdout
        if rest:
            after = self._done(["bash", "-c", f"cat {rest}"], printed)
            self.status, printed = self.status if rest[0] == ">" else after.returncode, after.stdout
        return printed + (done.stderr if self.status else "")

    def _done(self, words: list[str], given: str = "") -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            words,
            input=given,
            capture_output=True,
            text=True,
            cwd=self.folder,
            env=self.environment,
            timeout=PATIENCE_S,
        )

    def _compare(self, place: str, shown: str, printed: str, block: Block) -> None:
        printed = printed.replace(self.url.removeprefix("http://"), SHOWN_ADDRESS)
        if not same(shown, printed):
            reason = f"the page shows\n{shown}\nand this came\n{printed}"
            correct = "".join(line.rstrip() + "\n" for line in printed.splitlines())
            if block.language == "json":
                correct = _pretty(correct)
            self.failures.append(
                Failure(place, reason, block.page, block.start, block.end, correct)
            )


def _commands(body: str) -> Iterator[tuple[str, str, int, int]]:
    """Each command of a console block, the output shown below it, and the place of that output in the block.

    A command goes on over lines as long as the shell would ask for more.
    """
    lines = body.splitlines(keepends=True)
    index = position = 0
    while index < len(lines):
        assert lines[index].startswith("$ "), (
            f"a console block begins with a command: {lines[index]!r}"
        )
        command = lines[index][2:]
        position += len(lines[index])
        index += 1
        while _unfinished(command):
            command += lines[index]
            position += len(lines[index])
            index += 1
        start = position
        while index < len(lines) and not lines[index].startswith("$ "):
            position += len(lines[index])
            index += 1
        yield command.rstrip("\n"), body[start:position], start, position


def _our_program(command: str) -> tuple[list[str], str]:
    """The words of a command that runs `intaglio`, and what the shell does with its output; no words for others.

    A program that the shell starts is not forked (`tests/support/forked_programs.py`).
    """
    line = command.replace("\\\n", "")
    found = re.fullmatch(r"(intaglio (?:'[^']*'|[\w ./:=@,+-])*)(?: ([|>] .*))?", line)
    return ([str(PROGRAM), *shlex.split(found[1])[1:]], found[2] or "") if found else ([], "")


def _unfinished(command: str) -> bool:
    if command.rstrip("\n").endswith("\\"):
        return True
    done = subprocess.run(["bash", "-n"], input=command, capture_output=True, text=True)
    return (
        "unexpected EOF" in done.stderr
        or "unexpected end of file" in done.stderr
        or "here-document" in done.stderr
    )


def same(shown: str, printed: str) -> bool:
    """Whether the answer on the page equals the real one, apart from values that differ between runs."""
    left, right = _json(shown), _json(printed)
    if left is not None and right is not None:
        return bool(left == right)
    pattern = ""
    for line in shown.strip().splitlines():
        if line.strip() in ("…", "..."):
            pattern += r"(?:.*\n)*?"
        else:
            pieces = _plain(line).rstrip().split("…")
            pattern += ".*?".join(map(re.escape, pieces)) + r"[ ]*\n"
    text = "".join(_plain(line).rstrip() + "\n" for line in printed.strip().splitlines())
    return re.fullmatch(pattern, text) is not None


def _plain(line: str) -> str:
    for kind, stand_in in TEMPORARY:
        line = kind.sub(stand_in, line)
    return line


def _json(text: str) -> Any:
    """The JSON value, or the values of lines, without values that differ between runs; None for other text."""
    try:
        return _lasting(json.loads(text))
    except ValueError:
        pass
    try:
        return [_lasting(json.loads(line)) for line in text.strip().splitlines()] or None
    except ValueError:
        return None


def _lasting(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _lasting(each) for key, each in value.items() if key not in CHANGING_KEYS}
    return [_lasting(each) for each in value] if isinstance(value, list) else value


def _pretty(text: str) -> str:
    """JSON in the form that the pages have it: a line for each member that does not fit on one with all others."""
    try:
        value = json.loads(text)
    except ValueError:
        return text
    return _laid_out(value, 0) + "\n"


def _laid_out(value: Any, indent: int) -> str:
    flat = json.dumps(value, ensure_ascii=False)
    if (
        (len(flat) + indent <= 110 and (indent or len(flat) <= 100))
        or not isinstance(value, dict | list)
        or not value
    ):
        return flat
    blanks = " " * (indent + 2)
    if isinstance(value, dict):
        parts = [
            f"{blanks}{json.dumps(key)}: {_laid_out(each, indent + 2)}"
            for key, each in value.items()
        ]
        return "{\n" + ",\n".join(parts) + "\n" + " " * indent + "}"
    return (
        "[\n"
        + ",\n".join(blanks + _laid_out(each, indent + 2) for each in value)
        + "\n"
        + " " * indent
        + "]"
    )


def environment(url: str | None = None, **more: str) -> dict[str, str]:
    """The environment variables of snippets: the server's address, and few others."""
    shared = {
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "PYTHONSAFEPATH": "1",
        "LANG": "C.UTF-8",
        "OMP_NUM_THREADS": "1",
        "COLUMNS": "100",
        "INTAGLIO_ENGINE_GRAMMAR_DEADLINE_S": "60",
        "INTAGLIO_ENGINE_GRAMMAR_CPU_S": "60",
        "INTAGLIO_ENGINE_GRAMMAR_WARM": "0",
    }
    names = ("HOME", "XDG_CACHE_HOME", "SSL_CERT_FILE")
    passed = {name: os.environ[name] for name in names if name in os.environ}
    return shared | passed | ({"INTAGLIO_BASE_URL": url} if url else {}) | more


@contextmanager
def server(folder: Path) -> Iterator[str]:
    """`intaglio serve` with the embedded model and a data folder, on a free port; its address."""
    command: list[str | Path] = [PROGRAM, "serve", "--port", "0", "--data", folder / "data"]
    (folder / "data").mkdir()
    with (folder / "server.log").open("w+") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, env=environment())
        try:
            url = _announced(process, folder / "server.log")
            _until_ready(process, url, folder / "server.log")
            yield url
        finally:
            process.terminate()
            process.wait(PATIENCE_S)


def _until_ready(process: subprocess.Popen[bytes], url: str, log: Path) -> None:
    end = time.monotonic() + PATIENCE_S
    with Client(url) as client:
        while process.poll() is None and time.monotonic() < end:
            with suppress(ConnectionFailed):
                if client.ready():
                    return
            time.sleep(0.1)
    raise AssertionError(f"the server is not ready; status {process.poll()}:\n{log.read_text()}")


def _announced(process: subprocess.Popen[bytes], log: Path) -> str:
    end = time.monotonic() + PATIENCE_S
    while process.poll() is None and time.monotonic() < end:
        found = re.search(r"^Intaglio .* (http://\S+)$", log.read_text(), re.MULTILINE)
        if found:
            return found[1]
        time.sleep(0.05)
    raise AssertionError(f"the server did not start:\n{log.read_text()}")


def run(
    wanted: Sequence[Path], folder: Path, url: str, *, at_once: int = 2, root: Path = ROOT
) -> list[Failure]:
    """Run the snippets of pages, `at_once` pages at a time; the failures, in the order of the pages."""

    def one(page: Path) -> list[Failure]:
        own = folder / page.relative_to(root).with_suffix("")
        own.mkdir(parents=True)
        begun = Run(page, own, url, root)
        begun.environment["INTAGLIO_SERVICE_LEDGER"] = str(own / "ledger.db")
        return begun.all()

    with ThreadPoolExecutor(at_once) as pool:
        return [failure for found in pool.map(one, wanted) for failure in found]


def rewrite(failures: Sequence[Failure]) -> None:
    """Replace the answers on the pages by the real ones."""
    for failure in sorted(failures, key=lambda each: (each.page, -each.start)):
        if failure.correct is not None:
            text = failure.page.read_text(encoding="utf-8")
            text = text[: failure.start] + failure.correct + text[failure.end :]
            failure.page.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    named = [Path(name).resolve() for name in sys.argv[1:]]
    with TemporaryDirectory() as scratch, server(Path(scratch)) as address:
        wrong = run(named or pages(), Path(scratch) / "pages", address)
    rewrite(wrong)
    for failure in wrong:
        print(failure)
