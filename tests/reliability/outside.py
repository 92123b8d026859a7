"""A9: under any requests, the service connects to no host and writes nothing outside its folders.

The API process and its children run under strace, while requests of every operation are sent that `tests.fuzz` makes.
"""

import random
import re
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
from intaglio.service.http.interface import OPERATIONS
from intaglio.service.http.openapi import document

from tests.fuzz.api_requests import request
from tests.reliability.figures import Figure
from tests.reliability.served import Served, served
from tests.reliability.wire import PATIENCE_S

_CONNECTS = re.compile(r"connect\(\d+, \{sa_family=AF_INET6?.*")
_OPENS = re.compile(r'(?:openat\(\w+|open\(|creat\(), "([^"]*)"(.*)')
_WRITES = ("O_WRONLY", "O_RDWR", "O_CREAT", "O_TRUNC")
_OWN = ("/proc/self", "/proc/", "/dev/null", "/dev/shm/", "pipe:")
HOSTILE = (
    {"schema": {"$ref": "http://127.0.0.1:9/x"}, "text": "<<echo 1>>"},
    {"schema": {"$ref": "file:///etc/passwd"}, "text": "<<echo 1>>"},
    {"schema": {"$schema": "http://example.com/schema", "type": "integer"}, "text": "<<echo 1>>"},
    {"schema": {"$id": "https://example.com/a", "$ref": "b"}, "text": "<<echo 1>>"},
)


def lines(trace: Path) -> Iterator[str]:
    """The system calls in a trace, of all processes."""
    for file in sorted(trace.parent.glob(f"{trace.name}*")):
        yield from file.read_text(encoding="utf-8", errors="replace").splitlines()


def violations(calls: Iterator[str], writable: Sequence[str], readable: Sequence[str]) -> list[str]:
    """Connections over the network, files written elsewhere, and files read elsewhere that exist."""
    found = []
    for call in calls:
        if _CONNECTS.search(call):
            found.append(call)
        opened = _OPENS.search(call)
        if opened is None or " = -1 " in call:
            continue
        path, rest = opened[1], opened[2]
        allowed = writable if any(flag in rest for flag in _WRITES) else (*writable, *readable)
        if path.startswith("/") and not path.startswith((*allowed, *_OWN)):
            found.append(call)
    return found


def ask(service: Served, cases: int, seed: int) -> Counter[int]:
    """Send requests of every operation, and schemas that refer to elsewhere; the statuses."""
    dice, described, statuses = random.Random(seed), document(OPERATIONS), Counter[int]()
    with httpx2.Client(timeout=PATIENCE_S) as http:
        for body in HOSTILE:
            statuses[http.post(f"{service.url}/v1/extract", json=body).status_code] += 1
        for _ in range(cases):
            sent = request(described, dice.getrandbits(63))
            headers: Any = {name.encode(): value.encode() for name, value in sent.headers.items()}
            try:
                url = service.url + sent.path
                answer = http.request(sent.method, url, content=sent.body, headers=headers)
                statuses[answer.status_code] += 1
            except (httpx2.HTTPError, httpx2.InvalidURL, UnicodeError):
                statuses[0] += 1
    return statuses


def readable() -> list[str]:
    """Where programs and libraries are."""
    code = Path(__file__).parents[2]
    prefixes = {sys.prefix, sys.base_prefix, *(path for path in sys.path if path), str(code)}
    return [*prefixes, "/usr/", "/lib", "/etc/", "/sys/", "/bin/"]


def measure(folder: Path, cases: int = 2000, seed: int = 17) -> list[Figure]:
    """So many requests under a trace. Without strace there is no figure."""
    strace = shutil.which("strace")
    if strace is None:
        return []
    data, trace = folder / "data", folder / "trace"
    with served(folder, data=str(data)) as service:
        command = [strace, "-ff", "-qq", "-e", "trace=connect,open,openat,creat", "-o", str(trace)]
        watching = subprocess.Popen(
            [*command, "-p", str(service.popen.pid)], stderr=subprocess.PIPE
        )
        try:
            statuses = ask(service, cases, seed)
        finally:
            watching.send_signal(signal.SIGINT)
            watching.wait()
            assert watching.stderr is not None
            watching.stderr.close()
        found = violations(lines(trace), [str(folder), "/tmp/intaglio-", "/tmp/tmp"], readable())
    return [
        Figure(
            id="A9",
            what="connections and files outside, in any process of the service",
            count=statuses.total(),
            bound="none",
            measured=f"{len(found)} {found[:3]}",
            met=not found,
        )
    ]
