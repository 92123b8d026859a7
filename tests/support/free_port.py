"""A port of the loopback interface on which nothing listens now."""

import socket


def free_port() -> int:
    """The number of the port."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        port: int = server.getsockname()[1]
        return port
