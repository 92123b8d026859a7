"""A connection that frames chunks itself sends the bytes that h11 sends, and refuses what h11 refuses."""

import random

import h11
import pytest
from intaglio.service.http.framed_chunks import FramedChunks

REQUESTS = (
    b"GET / HTTP/1.1\r\nhost: a\r\n\r\n",
    b"HEAD / HTTP/1.1\r\nhost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nconnection: close\r\n\r\n",
    b"GET / HTTP/1.0\r\n\r\n",
)
PIECES = (b"", b"a", b"data: {}\n\n", b"0\r\n\r\n", bytes(70_000))


def answered(connection: h11.Connection, dice: random.Random) -> list[bytes | None]:
    """What the connection sends for one request: head, pieces, end, and what comes after them."""
    request = dice.choice(REQUESTS)
    connection.receive_data(request)
    connection.next_event()
    connection.next_event()
    pieces = dice.choices(PIECES, k=dice.randrange(6))
    if request.startswith(b"HEAD"):  # uvicorn sends no body then
        pieces = [b"" for _ in pieces]
    size = str(sum(map(len, pieces)))
    headers = dice.choice([[], [("content-length", size)], [("transfer-encoding", "chunked")]])
    events = [
        h11.InformationalResponse(status_code=100, headers=[]),
        h11.Response(status_code=200, headers=headers),
        *(h11.Data(data=piece) for piece in pieces),
        h11.EndOfMessage(),
    ]
    return [connection.send(event) for event in events]


def test_the_bytes_are_those_of_h11() -> None:
    for seed in range(200):
        ours, theirs = FramedChunks(h11.SERVER), h11.Connection(h11.SERVER)
        both = [answered(one, random.Random(seed)) for one in (ours, theirs)]
        assert both[0] == both[1], seed
        assert ours.states == theirs.states


def test_several_answers_of_one_connection() -> None:
    ours, theirs = FramedChunks(h11.SERVER), h11.Connection(h11.SERVER)
    for headers in ([], [("content-length", "4")], []):
        for one in (ours, theirs):
            one.receive_data(REQUESTS[0])
            one.next_event()
            one.next_event()
        for event in (
            h11.Response(status_code=200, headers=headers),
            h11.Data(data=b"four"),
            h11.EndOfMessage(),
        ):
            assert ours.send(event) == theirs.send(event)
        ours.start_next_cycle()
        theirs.start_next_cycle()


def test_a_piece_after_the_end_is_an_error() -> None:
    connection = FramedChunks(h11.SERVER)
    connection.receive_data(REQUESTS[0])
    connection.next_event()
    connection.send(h11.Response(status_code=200, headers=[]))
    connection.send(h11.EndOfMessage())
    with pytest.raises(h11.LocalProtocolError):
        connection.send(h11.Data(data=b"late"))
