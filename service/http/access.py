"""Access control of a server: API keys and allowed Host headers.

Does: refuse requests without a valid key if keys are set, and requests with the Host header of another service; name
the principal of every other request. Does not: manage quotas. `/health` and `/ready` are exempt, so that a load
balancer can probe them.

A web page can make its own domain resolve to 127.0.0.1 and then read the responses of a local server (DNS rebinding).
Its requests carry that domain in the Host header. A server on a loopback address without keys therefore answers only to
local names: loopback addresses, `localhost`, and names without a dot, which public DNS does not have. With a key, such
a page learns nothing; and a server that listens for other machines cannot know all its names. Both accept any Host
header unless `allowed_hosts` is set.
"""

import hashlib
import hmac
import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from ipaddress import ip_address

from starlette.types import Scope

from ..config import ServiceConfig
from ..errors import AuthenticationFailed, HostNotAllowed
from ..keys import DEFAULT_TENANT
from ..keys.key_store import KeyStore, StoredKey, digest_of
from .principal import ANONYMOUS, Principal

PUBLIC_PATHS = frozenset({"/health", "/healthz", "/ready", "/readyz"})
_STATIC = ("/docs", "/page")  # files of the package, without data
_ANY = "*"


class Access:
    """The API keys and allowed host names of one server."""

    def __init__(self, config: ServiceConfig, store: KeyStore | None = None) -> None:
        self._keys = _configured_keys(config.api_keys, None if store is None else store.secret)
        self._store = store
        self._salts: dict[str, str] = {}
        self._hosts = frozenset(_normalized(host) for host in config.allowed_hosts)
        self._local = is_loopback(config.host)

    @property
    def _keyed(self) -> bool:
        """Whether requests need a key. A key store without keys lets none in."""
        return bool(self._keys) or self._store is not None

    def check(self, scope: Scope) -> Principal:
        """The principal of a request that may be answered.

        Raises:
            AuthenticationFailed: the key is missing or wrong.
            HostNotAllowed: the Host header names another service.
        """
        if scope["path"] in PUBLIC_PATHS or _is_static(scope):
            return ANONYMOUS
        self._check_host(scope)
        return self._principal(_header(scope, b"authorization")) if self._keyed else ANONYMOUS

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
        return (
            self._local and not self._keyed and listener is not None and _is_local_ip(listener[0])
        )

    def _principal(self, given: bytes) -> Principal:
        scheme, _, key = given.strip().partition(b" ")
        # Finding a digest takes a time that depends on the digest, of which a caller without the key knows nothing.
        digest = digest_of(key.strip())
        found = self._keys.get(digest) or self._stored(digest)
        if scheme.lower() != b"bearer" or found is None:
            raise AuthenticationFailed(
                "the API key is wrong" if key else "this server needs an API key",
                hint="send `Authorization: Bearer KEY`; the client and the command line take it "
                "from INTAGLIO_API_KEY",
            )
        return found

    def owner(self, key_id: str) -> Principal:
        """The principal of a key in the key store by its id; without an id that of the default tenant.

        Work in the background, such as a job, acts for the key that began it.

        Raises:
            AuthenticationFailed: the key is not valid any more.
        """
        if not key_id:
            return _in_background(next(iter(self._keys.values()), ANONYMOUS))
        key = None if self._store is None else self._store.named(key_id)
        if key is None or self._store is None or not key.is_valid(time.time()):
            raise AuthenticationFailed(
                "the API key that began this is not valid any more", hint="begin it with another"
            )
        return _in_background(self._principal_of(key, self._store.secret))

    def tenant_of(self, key_id: str) -> str:
        """The tenant of a key in the key store by its id, valid or not; empty if there is none.

        Without an id it is the default tenant.
        """
        if not key_id or self._store is None:
            return DEFAULT_TENANT
        known = {key.id: key.tenant for key in self._store.all()}
        return known.get(key_id, "")

    def _stored(self, digest: bytes) -> Principal | None:
        """The principal of a valid key in the key store."""
        key = None if self._store is None else self._store.find(digest)
        if key is None or self._store is None:
            return None
        return self._principal_of(key, self._store.secret)

    def _principal_of(self, key: StoredKey, secret: bytes) -> Principal:
        if key.tenant not in self._salts:
            self._salts[key.tenant] = cache_salt(secret, key.tenant)
        return Principal(
            tenant=key.tenant,
            key_id=key.id,
            scopes=key.scopes,
            cache_salt=self._salts[key.tenant],
            limits=key.limits,
            weight=key.weight,
        )


def _is_static(scope: Scope) -> bool:
    """Whether a request asks for a page of this server or a file of one."""
    path: str = scope["path"]
    if path == "/":
        return b"text/html" in _header(scope, b"accept")
    return any(path == folder or path.startswith(f"{folder}/") for folder in _STATIC)


def _configured_keys(keys: Sequence[str], secret: bytes | None) -> dict[bytes, Principal]:
    """The principals of keys in the configuration, by digest. They are of one tenant; positions identify them.

    Without the `secret` of a key store the keys themselves are the secret.
    """
    secret = secret or digest_of(b"intaglio cache salt\0" + "\0".join(sorted(keys)).encode())
    salt = cache_salt(secret, DEFAULT_TENANT) if keys else ""
    return {
        digest_of(key.encode()): Principal(key_id=f"env-{position}", cache_salt=salt)
        for position, key in enumerate(keys, start=1)
    }


def cache_salt(secret: bytes, tenant: str) -> str:
    """The salt of a tenant in the prefix cache: HMAC-SHA256, of which 128 bits are kept."""
    return hmac.new(secret, tenant.encode(), hashlib.sha256).hexdigest()[:32]


def is_loopback(host: str) -> bool:
    """Whether a host name or address refers to this machine only."""
    name = _normalized(host)
    return name == "localhost" or name.endswith(".localhost") or _is_local_ip(name)


def _in_background(principal: Principal) -> Principal:
    return replace(principal, in_background=True)


def _is_local_name(host: str) -> bool:
    return is_loopback(host) or (bool(host) and not set(host) & set(".:[]"))


# Every request asks for the address of the server and for the name that its client uses.
@lru_cache(maxsize=256)
def _is_local_ip(text: str) -> bool:
    try:
        return ip_address(text.strip("[]")).is_loopback
    except ValueError:
        return False


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
