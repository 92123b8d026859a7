"""An HTTP/1.1 connection that frames the pieces of a chunked body itself.

Does: put the length around each piece, as h11 does; everything else is h11's. Does not: read or write a socket.

In the middle of a body a piece changes nothing about a connection. h11 walks its state machine for each one all the
same: 2.5 us for each token of each stream, instead of 0.9.
"""

from typing import Any

import h11

_IS_CHUNKED = b"\r\ntransfer-encoding: chunked\r\n"


class FramedChunks(h11.Connection):
    """The server's side of a connection."""

    _in_chunks = False

    def send(self, event: Any) -> Any:  # h11 declares a return type for each type of event
        """The bytes of `event`; see `h11.Connection`."""
        if type(event) is h11.Data and self._in_chunks and self.our_state is h11.SEND_BODY:
            piece = event.data
            return b"%x\r\n%b\r\n" % (len(piece), piece) if piece else b""
        data = super().send(event)
        if type(event) is h11.Response:
            self._in_chunks = _IS_CHUNKED in data.lower()
        return data
