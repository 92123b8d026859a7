"""Access control of a server: API keys and allowed Host headers.

Does: refuse requests without a valid key if keys are set, and requests with the Host header of another service. Does
not: manage users, quotas or TLS (a proxy's task). `/health` and `/ready` are exempt, so that a load balancer can probe
them.

A web page can make its own domain resolve to 127.0.0.1 and then read the responses of a local server (DNS rebinding).
Its requests carry that domain in the Host header. A server on a loopback address without keys therefore answers only to
local names: loopback addresses, `localhost`, and names without a dot, which public DNS does not have. With a key, such
a page learns nothing; and a server that listens for other machines cannot know all its names. Both accept any Host
header unless `allowed_hosts` is set.
"""

import hashlib
import hmac
from collections.abc import Iterable
from ipaddress import ip_address

from starlette.types import Scope

from ..config import ServiceConfig
from ..errors import AuthenticationFailed, HostNotAllowed

PUBLIC_PATHS = frozenset({"/health", "/healthz", "/ready", "/readyz"})
_ANY = "*"


class Access:
    """The API keys and allowed host names of one server."""

    def __init__(self, config: ServiceConfig) -> None:
        self._keys = [_digest(key.encode()) for key in config.api_keys]
        self._hosts = frozenset(_normalized(host) for host in config.allowed_hosts)
        self._local = is_loopback(config.host)

    @property
    def exposed(self) -> bool:
        """Whether other machines can reach the server without a key."""
        return not self._keys and not self._local

    def check(self, scope: Scope) -> None:
        """Return if the request may be answered.

        Raises:
            AuthenticationFailed: the key is missing or wrong.
            HostNotAllowed: the Host header names another service.
        """
        if scope["path"] in PUBLIC_PATHS:
            return
        self._check_host(scope)
        if self._keys:
            self._check_key(_header(scope, b"authorization"))

    def _check_host(self, scope: Scope) -> None:
        if not (self._hosts or self._is_exposed_to_rebinding(scope)) or _ANY in self._hosts:
            return
        host = _host_of(_header(scope, b"host").decode("latin-1"))
        if host in self._hosts or (not self._hosts and _is_local_name(host)):
            return
        raise HostNotAllowed(
            "this server does not answer to the name in the Host header",
            hint="use localhost or 127.0.0.1, or name the host in INTAGLIO_SERVICE_ALLOWED_HOSTS",
        )

    def _is_exposed_to_rebinding(self, scope: Scope) -> bool:
        """Whether DNS rebinding is possible: the connection arrived on a loopback address and no key is set."""
        listener = scope.get("server")
        return self._local and not self._keys and listener is not None and _is_local_ip(listener[0])

    def _check_key(self, given: bytes) -> None:
        scheme, _, key = given.strip().partition(b" ")
        digest = _digest(key.strip())
        # Compare every key, each in constant time, so that timing reveals nothing.
        found = [hmac.compare_digest(digest, known) for known in self._keys]
        if scheme.lower() != b"bearer" or not any(found):
            raise AuthenticationFailed(
                "the API key is wrong" if key else "this server needs an API key",
                hint="send `Authorization: Bearer KEY`; the client and the command line take it "
                "from INTAGLIO_API_KEY",
            )


def is_loopback(host: str) -> bool:
    """Whether a host name or address refers to this machine only."""
    name = _normalized(host)
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


def _host_of(header: str) -> str:
    """The host in a Host header, without the port."""
    if header.startswith("["):
        return _normalized(header.partition("]")[0] + "]")
    return _normalized(header.partition(":")[0])


def _normalized(host: str) -> str:
    return host.strip().lower().removesuffix(".")
