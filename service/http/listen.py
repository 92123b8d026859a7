"""The listening sockets of a server, and the URL for clients on the same machine.

Does: bind before anything else starts, and explain why binding failed. Does not: accept connections.
"""

import errno
import socket
from contextlib import ExitStack
from dataclasses import dataclass

_NO_SUCH_ADDRESS = frozenset({errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT})


@dataclass(eq=False)
class CannotListen(Exception):
    """The server cannot listen on the address."""

    message: str
    hint: str


def listen(host: str, port: int, *, shared: bool = False) -> list[socket.socket]:
    """Bind sockets to every address of `host`, all on one port; port 0 selects a free one.

    With `shared`, several processes of this user may listen on the port; the kernel spreads connections over them.

    Raises:
        CannotListen: the port is in use, or this machine does not have the address.
    """
    try:
        found = socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
    except (socket.gaierror, UnicodeError):
        raise CannotListen(
            f"there is no address for the host {host!r}",
            "--host takes an address of this machine: 127.0.0.1, or 0.0.0.0 for all of them",
        ) from None
    bound: list[socket.socket] = []
    missing: OSError | None = None
    with ExitStack() as undo:
        for family, _, _, _, address in dict.fromkeys(found):
            bound_port = bound[0].getsockname()[1] if bound else port
            try:
                sock = _bind(family, (str(address[0]), bound_port, *address[2:]), shared=shared)
            except OSError as error:
                if error.errno not in _NO_SUCH_ADDRESS:
                    raise _bind_error(error, host, bound_port) from None
                missing = error
                continue
            undo.callback(sock.close)
            bound.append(sock)
        undo.pop_all()
    if not bound:
        raise _bind_error(missing or OSError(errno.EADDRNOTAVAIL, ""), host, port)
    return bound


def url(sock: socket.socket, *, tls: bool = False) -> str:
    """The URL of a socket for clients on this machine: the loopback address if the socket is bound to all addresses."""
    host, port = sock.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104  compared, not bound
    return f"http{'s' if tls else ''}://{f'[{host}]' if ':' in host else host}:{port}"


def _bind(family: int, address: tuple[str | int, ...], *, shared: bool) -> socket.socket:
    # asyncio turns Nagle's algorithm off only for accepted sockets with the protocol IPPROTO_TCP, inherited from
    # this one. With it on, the body of a response waits up to 40 ms for the acknowledgement of its headers.
    sock = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if shared:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        if family == socket.AF_INET6:
            sock.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        sock.bind(address)
    except OSError:
        sock.close()
        raise
    return sock


def _bind_error(error: OSError, host: str, port: int) -> CannotListen:
    if error.errno == errno.EADDRINUSE:
        return CannotListen(
            f"port {port} of {host} is in use",
            "stop the server that listens there, or choose another port: --port 0 takes a free one",
        )
    if error.errno in (errno.EACCES, errno.EPERM):
        return CannotListen(
            f"this user may not listen on port {port}", "choose a port above 1023 with --port"
        )
    if error.errno in _NO_SUCH_ADDRESS:
        return CannotListen(
            f"this machine has no address {host}",
            "--host takes an address of this machine: 127.0.0.1, or 0.0.0.0 for all of them",
        )
    return CannotListen(
        f"cannot listen on port {port} of {host}: {error.strerror}", "choose another with --port"
    )
