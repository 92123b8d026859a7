"""Documents are read in child processes: limits hold, nothing can be opened, and the reader survives their death."""

import os
import signal
import threading
import time
from collections.abc import Callable, Iterator

import pytest
from intaglio.service.documents import child_process
from intaglio.service.documents.child_messages import ReadingLimits, ReadQuestion, RefusedAnswer
from intaglio.service.documents.child_pool import ChildPool, ReaderFailure
from intaglio.service.documents.document_reader import DocumentReader
from intaglio.service.errors import (
    DocumentTooLarge,
    EncryptedDocument,
    NoTextLayer,
    ServiceNotReady,
    UnreadableDocument,
    UnsupportedDocument,
)

from tests.support.document_files import docx, paragraph, pdf

_CHILD = f"""
import os, resource, signal, socket, sys
import {child_process.__name__} as child_process
from intaglio.service.documents.parsed_document import ParsedDocument

def parse(content, *, silent=False):
    exec(content.decode())
    return ParsedDocument("text/plain", "read")

child_process.parse_document = parse
child_process._load_all = lambda: None
raise SystemExit(child_process.main(int(sys.argv[1])))
"""


@pytest.fixture(scope="module")
def reader() -> Iterator[DocumentReader]:
    with DocumentReader(children=1) as found:
        yield found


@pytest.fixture
def pool() -> Iterator[Callable[..., ChildPool]]:
    """Makes pools of children that execute what they are to read."""
    made: list[ChildPool] = []

    def make(limits: ReadingLimits | None = None) -> ChildPool:
        made.append(ChildPool(limits or ReadingLimits(), 1, _CHILD))
        return made[-1]

    yield make
    for each in made:
        each.close()


def ask(pool: ChildPool, program: str, cpu_s: float = 30.0) -> object:
    return pool.ask(ReadQuestion(program.encode(), cpu_s))


def test_documents_are_read_by_one_child_after_another(reader: DocumentReader) -> None:
    assert reader.read(pdf([["one"]])).text == "one"
    pids = reader.pids
    assert reader.read(docx(paragraph("two"))).text == "two"
    assert reader.pids == pids
    assert reader.draw(pdf([["one"]]), 1, 1.0).startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("content", "error"),
    [
        (b"%PDF-1.4", UnreadableDocument),
        (b"\x89PNG\r\n\x1a\n", UnsupportedDocument),
        (pdf([[]]), NoTextLayer),
    ],
)
def test_refusals_are_errors_of_the_service(
    reader: DocumentReader, content: bytes, error: type[Exception]
) -> None:
    with pytest.raises(error) as raised:
        reader.read(content, "document.base64")
    assert getattr(raised.value, "param", None) == "document.base64"


def test_a_file_over_the_limit_reaches_no_child() -> None:
    with DocumentReader(ReadingLimits(content=10)) as small:
        with pytest.raises(DocumentTooLarge):
            small.read(b"eleven bytes")
        assert small.pids == ()


def test_a_child_over_its_processor_time_is_killed(pool: Callable[..., ChildPool]) -> None:
    children = pool()
    answer = ask(children, "while True: pass", cpu_s=0.2)
    assert isinstance(answer, RefusedAnswer)
    assert (answer.code, "processor time" in answer.message) == ("document_too_large", True)
    assert children.pids == ()
    assert not isinstance(ask(children, ""), RefusedAnswer)


def test_a_child_that_does_not_answer_is_killed(pool: Callable[..., ChildPool]) -> None:
    answer = ask(pool(ReadingLimits(wall_s=0.5)), "signal.pause()")
    assert isinstance(answer, RefusedAnswer)
    assert (answer.code, "longer" in answer.message) == ("document_too_large", True)


@pytest.mark.parametrize("program", ["os.abort()", "os._exit(3)", "raise SystemExit", "1 / 0"])
def test_the_death_of_a_child_is_a_refusal(pool: Callable[..., ChildPool], program: str) -> None:
    children = pool()
    answer = ask(children, program)
    assert isinstance(answer, RefusedAnswer)
    assert answer.code == "unreadable_document"
    assert not isinstance(ask(children, ""), RefusedAnswer)


def test_memory_is_bounded(pool: Callable[..., ChildPool]) -> None:
    answer = ask(pool(), "bytearray(300 << 20)")
    assert isinstance(answer, RefusedAnswer)
    assert answer.code == "document_too_large"


@pytest.mark.parametrize(
    "program",
    ["open('/etc/passwd')", "socket.socket()", "os.open('/tmp', os.O_RDONLY)"],
)
def test_a_child_can_open_nothing(pool: Callable[..., ChildPool], program: str) -> None:
    refused = f"try: {program}\nexcept OSError: pass\nelse: os._exit(4)"
    assert not isinstance(ask(pool(), refused), RefusedAnswer)


def test_a_child_that_was_killed_while_idle_is_replaced(reader: DocumentReader) -> None:
    reader.read(b"a text")
    (pid,) = reader.pids
    os.kill(pid, signal.SIGKILL)
    for _ in range(2):  # it may die while it is asked
        try:
            assert reader.read(b"a text").text == "a text"
        except UnreadableDocument:
            continue
    assert reader.pids != (pid,)


def test_a_child_that_never_starts_is_a_failure() -> None:
    broken = ChildPool(ReadingLimits(), 1, "raise SystemExit(1)")
    with pytest.raises(ReaderFailure):
        ask(broken, "")


def test_closing_ends_a_reading(pool: Callable[..., ChildPool]) -> None:
    children = pool()
    ends: list[object] = []

    def wait() -> None:
        try:
            ends.append(ask(children, "signal.pause()"))
        except ReaderFailure as failure:
            ends.append(failure)

    thread = threading.Thread(target=wait)
    thread.start()
    while not children.pids:
        time.sleep(0.01)
    children.close()
    thread.join(60)
    assert [type(end) for end in ends] == [ReaderFailure]


def test_a_closed_reader_reads_nothing() -> None:
    reader = DocumentReader()
    reader.close()
    with pytest.raises(ServiceNotReady):
        reader.read(b"text")


def test_encrypted_documents_have_an_error_of_their_own(reader: DocumentReader) -> None:
    content = bytearray(docx(paragraph("a")))
    content[content.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(EncryptedDocument):
        reader.read(bytes(content))
