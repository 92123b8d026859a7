"""Who may use a server: API keys, and the names it answers to.

Does: refuse a request without a key where keys are set, and one whose Host header names another service. Does not: know
users, quotas or TLS (a proxy's work). `/health` and `/ready` need neither, so that a load balancer can ask them.

A page on the web can have a name of its own resolve to 127.0.0.1 and then read what a server there answers (DNS
rebinding). Its requests carry that name, so a server on a loopback address answers to local names alone: loopback
addresses, `localhost`, and names without a dot, which the public DNS does not have. With a key such a page learns
nothing, and a server that others reach cannot know all its names: both answer to any, unless `allowed_hosts` says
otherwise.
"""

import hashlib
import hmac
from collections.abc import Iterable
from ipaddress import ip_address

from starlette.types import Scope

from .config import ServiceConfig
from .errors import HostNotAllowed, Unauthorized

OPEN_TO_ALL = frozenset({"/health", "/healthz", "/ready", "/readyz"})
_ANY = "*"


class Access:
    """The keys and names of one server."""

    def __init__(self, config: ServiceConfig) -> None:
        self._keys = [_digest(key.encode()) for key in config.api_keys]
        self._hosts = frozenset(_plain(host) for host in config.allowed_hosts)
        self._local = is_loopback(config.host)

    @property
    def exposed(self) -> bool:
        """Whether other machines may reach the server, and none needs a key."""
        return not self._keys and not self._local

    def check(self, scope: Scope) -> None:
        """Pass a request that may be answered.

        Raises:
            Unauthorized: it has no key, or a wrong one.
            HostNotAllowed: its Host header names another service.
        """
        if scope["path"] in OPEN_TO_ALL:
            return
        self._check_host(scope)
        if self._keys:
            self._check_key(_header(scope, b"authorization"))

    def _check_host(self, scope: Scope) -> None:
        if not (self._hosts or self._guards(scope)) or _ANY in self._hosts:
            return
        host = _name(_header(scope, b"host").decode("latin-1"))
        if host in self._hosts or (not self._hosts and _is_local_name(host)):
            return
        raise HostNotAllowed(
            "this server does not answer to the name in the Host header",
            hint="use localhost or 127.0.0.1, or name the host in INTAGLIO_SERVICE_ALLOWED_HOSTS",
        )

    def _guards(self, scope: Scope) -> bool:
        """Whether rebinding is to be feared: the connection came in on a loopback address, and there is no key."""
        came_to = scope.get("server")
        return self._local and not self._keys and came_to is not None and _is_local_ip(came_to[0])

    def _check_key(self, given: bytes) -> None:
        scheme, _, key = given.strip().partition(b" ")
        digest = _digest(key.strip())
        # Every key is compared, each in constant time: how long it takes tells nothing.
        found = [hmac.compare_digest(digest, known) for known in self._keys]
        if scheme.lower() != b"bearer" or not any(found):
            raise Unauthorized(
                "the API key is wrong" if key else "this server needs an API key",
                hint="send `Authorization: Bearer KEY`; the client and the command line take it "
                "from INTAGLIO_API_KEY",
            )


def is_loopback(host: str) -> bool:
    """Whether a host name or address is this machine's own, out of reach for others."""
    name = _plain(host)
    return name == "localhost" or name.endswith(".localhost") or _is_local_ip(name)


def _is_local_name(host: str) -> bool:
    return is_loopback(host) or (bool(host) and not set(host) & set(".:[]"))


def _is_local_ip(text: str) -> bool:
    try:
        return ip_address(text.strip("[]")).is_loopback
    except ValueError:
        return False


def _digest(key: bytes) -> bytes:
    return hashlib.sha256(key).digest()


def _header(scope: Scope, name: bytes) -> bytes:
    headers: Iterable[tuple[bytes, bytes]] = scope["headers"]
    return next((value for key, value in headers if key == name), b"")


def _name(header: str) -> str:
    """The host in a Host header, without its port."""
    if header.startswith("["):
        return _plain(header.partition("]")[0] + "]")
    return _plain(header.partition(":")[0])


def _plain(host: str) -> str:
    return host.strip().lower().removesuffix(".")
