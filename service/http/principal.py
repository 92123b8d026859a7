"""The identity behind a request: the tenant and the API key that it came with, and what they permit.

Does: define the value that `access` sets for each request, and hold it, with the tokens that the request uses, for the
code that serves the request. Does not: check keys (`access`) or enforce limits (`key_accounts`).
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass

from ..keys import DEFAULT_TENANT
from ..keys.key_limits import UNLIMITED, KeyLimits
from ..keys.scopes import ALL_SCOPES, KeyScope


@dataclass(frozen=True, slots=True, kw_only=True)
class Principal:
    """One API key and its tenant. Handlers find it as `request.state.principal`.

    `cache_salt` separates the tenant's prompts in the prefix cache. It is derived from a secret of the server and the
    name of the tenant, never from a request. `key_id` identifies the key in logs; it is not secret. `weight` is the
    tenant's share of the engine when tenants compete for it. Work `in_background`, such as a job, gives way to
    the requests of waiting clients.
    """

    tenant: str = DEFAULT_TENANT
    key_id: str = ""
    scopes: frozenset[KeyScope] = ALL_SCOPES
    cache_salt: str = ""
    limits: KeyLimits = UNLIMITED
    weight: float = 1.0
    in_background: bool = False


ANONYMOUS = Principal()
"""The principal of every request to a server without keys."""


@dataclass(slots=True)
class TokenCount:
    """The tokens of all generations of one request so far. Only `tenant_backend` writes it."""

    prompt: int = 0
    output: int = 0


_current: ContextVar[tuple[Principal, TokenCount]] = ContextVar("principal")


def current_principal() -> Principal:
    """The principal of the request that is being served.

    Raises:
        LookupError: the caller serves no request. Work in the background names its principal with `acting_as`.
    """
    return _current.get()[0]


def current_count() -> TokenCount:
    """The tokens of the request that is being served. Raises as `current_principal`."""
    return _current.get()[1]


def current_tenant() -> str:
    """The tenant of the request that is being served; empty if there is none."""
    found = _current.get(None)
    return "" if found is None else found[0].tenant


@contextmanager
def acting_as(principal: Principal) -> Iterator[TokenCount]:
    """Make `principal` the current one for the duration of the context, also in tasks that are started within it.

    Yields the count of the tokens that are generated meanwhile.
    """
    count = TokenCount()
    token = _current.set((principal, count))
    try:
        yield count
    finally:
        _current.reset(token)
