"""The child process that reads documents, which its parent may kill at any time.

Does: load all readers, drop every privilege that they do not need, then answer one question after another from the
socket that is its standard input. Does not: open files or connections, which it may no longer do then.
"""

import encodings.aliases
import importlib
import importlib.util
import os
import resource
import signal
import socket
from pathlib import Path
from typing import Final

from .child_messages import (
    Answer,
    ChildExited,
    DrawAnswer,
    DrawQuestion,
    ImageAnswer,
    ImageQuestion,
    PageQuestion,
    Question,
    ReadAnswer,
    RefusedAnswer,
    decode_question,
    encode,
    receive,
    send,
)
from .parse_document import parse_document
from .read_image import load_decoders, read_image
from .read_pdf import page_cells, page_image
from .refused import ReadingRefused, too_large

_NICENESS: Final = 5  # generation has priority
_GROWN: Final = 96 << 20  # resident bytes at which a child is replaced
READY: Final = b"ready"

# Readers import parts of the standard library when they need them first, which is too late here.
_SAMPLES: Final = (
    (
        b"From: a@example.org\nTo: b@example.org\nDate: Mon, 1 Jan 2024 00:00:00 +0000\nSubject: =?utf-8?q?a?=\n"
        b'MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary="b"\n\n--b\nContent-Type: text/html\n\n<p>a</p>\n'
        b"--b\nContent-Disposition: attachment; filename=a.txt\nContent-Transfer-Encoding: base64\n\nYQ==\n--b--\n"
    ),
    b"<html><body><table><tr><td>a</td></tr></table></body></html>",
    "Gr\u00fc\u00dfe aus K\u00f6ln, gestern".encode("latin-1"),
)


def main(memory: int) -> int:
    """Entry point of a child with an address space of at most `memory` bytes; returns when its parent is gone."""
    channel = socket.socket(fileno=0)
    _load_all()
    memory_use = _confine(memory)
    try:
        send(channel, READY)
        while True:
            answer = _answer(decode_question(receive(channel)), memory_use)
            send(channel, encode(answer))
            if answer.last:
                return 0
    except ChildExited:
        return 0


def _load_all() -> None:
    for name in set(encodings.aliases.aliases.values()):
        # Some exist on one operating system only.
        if importlib.util.find_spec(f"encodings.{name}") and name not in ("mbcs", "oem"):
            importlib.import_module(f"encodings.{name}")
    for sample in _SAMPLES:
        parse_document(sample)
    load_decoders()


def _confine(memory: int) -> int:
    """Bound memory, and allow neither files, connections nor processes from here on.

    Returns the descriptor of the file in which the kernel counts the pages of this process; -1 if there is none.
    """
    os.nice(_NICENESS)
    silent = os.open(os.devnull, os.O_RDWR)
    os.dup2(silent, 1)
    os.dup2(silent, 2)
    os.close(silent)
    resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))
    score = Path("/proc/self/oom_score_adj")
    if score.exists():
        score.write_text("1000")
    counts = Path("/proc/self/statm")
    memory_use = os.open(counts, os.O_RDONLY) if counts.exists() else -1
    most = max(2, memory_use) + 1  # those that are open
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    return memory_use


def _answer(question: Question, memory_use: int) -> Answer:
    # The kernel counts the time and kills the process, whatever state its libraries are in.
    signal.setitimer(signal.ITIMER_PROF, question.cpu_s)
    try:
        if isinstance(question, DrawQuestion):
            image = page_image(question.content, question.page, question.scale)
            return DrawAnswer(image, _has_grown(memory_use))
        if isinstance(question, ImageQuestion):
            found = read_image(question.content, question.size)
            return ImageAnswer(*found, _has_grown(memory_use))
        if isinstance(question, PageQuestion):
            found = page_cells(question.content, question.page, question.size)
            return ImageAnswer(*found, _has_grown(memory_use))
        parsed = parse_document(question.content, silent=question.silent)
        return ReadAnswer(parsed, _has_grown(memory_use))
    except ReadingRefused as refused:
        return RefusedAnswer(refused.code, refused.message, refused.hint, _has_grown(memory_use))
    except (MemoryError, RecursionError):
        limit = too_large("the document needs more memory or nesting than allowed")
        return RefusedAnswer(limit.code, limit.message, limit.hint, last=True)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _has_grown(memory_use: int) -> bool:
    if memory_use < 0:
        return False
    resident = int(os.pread(memory_use, 256, 0).split()[1]) * resource.getpagesize()
    return resident > _GROWN
