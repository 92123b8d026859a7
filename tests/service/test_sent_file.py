"""Files as responses: ranges that are sent, ignored and refused, and temporary files that never stay."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from intaglio.service.errors import RangeNotSatisfiable
from intaglio.service.http.sent_file import SentFile

CONTENT = b"0123456789"


def sent(path: Path, header: str | None, *, leaves: bool = False) -> tuple[int, bytes]:
    """Status and body of a temporary file that a client asks for, or stops to read."""
    path.write_bytes(CONTENT)
    messages: list[Any] = []

    async def send(message: Any) -> None:
        messages.append(message)
        if leaves:
            raise OSError("the client disconnected")

    async def receive() -> Any:
        await asyncio.sleep(3600)

    headers = [] if header is None else [(b"range", header.encode())]
    scope = {"type": "http", "method": "GET", "headers": headers, "asgi": {"spec_version": "2.4"}}
    file = SentFile(path, media="text/plain", filename="a.txt", temporary=True)
    asyncio.run(file(scope, receive, send))
    return messages[0]["status"], b"".join(message.get("body", b"") for message in messages)


@pytest.mark.parametrize(
    ("header", "expected"),
    [("bytes=2-4", b"234"), ("bytes=7-", b"789"), ("bytes=-3", b"789"), ("bytes=9-99", b"9")],
)
def test_one_range_is_sent(tmp_path: Path, header: str, expected: bytes) -> None:
    assert sent(tmp_path / "f", header) == (206, expected)
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize(
    "header",
    [
        None,
        "bytes=x",
        "bytes=",
        "pages=1-2",
        "bytes=5-2",
        "bytes=0-1,4-5",
        "bytes=-",
        "x",
        "9" * 99,
    ],
)
def test_no_range_or_one_that_means_nothing_is_the_whole_file(
    tmp_path: Path, header: str | None
) -> None:
    assert sent(tmp_path / "f", header) == (200, CONTENT)
    assert not (tmp_path / "f").exists()


@pytest.mark.parametrize("header", ["bytes=10-", "bytes=999-1000", "bytes=-0"])
def test_a_range_beyond_the_end_is_refused_and_leaves_no_file(tmp_path: Path, header: str) -> None:
    with pytest.raises(RangeNotSatisfiable, match="10 bytes"):
        sent(tmp_path / "f", header)
    assert not (tmp_path / "f").exists()


def test_a_client_that_disconnects_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(Exception, match="disconnected"):
        sent(tmp_path / "f", None, leaves=True)
    assert not (tmp_path / "f").exists()
