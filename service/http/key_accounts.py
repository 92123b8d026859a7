"""Scopes, limits and audit of API keys, as requests meet them.

Does: refuse operations that a key does not permit; count requests and tokens against the key's limits; record the use
of keys. Does not: find keys (`access`) or keep figures (`service/keys`). A server without a key store has no limits to
enforce, and keeps no audit.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from intaglio.engine.api import Request

from ..errors import KeyNotPermitted
from ..keys.audit_log import AuditLog, Plain
from ..keys.scopes import KeyScope
from ..keys.usage import UsageStore
from .principal import Principal, TokenCount


class KeyAccounts:
    """The accounts of all keys of one server."""

    def __init__(self, usage: UsageStore | None = None, audit: AuditLog | None = None) -> None:
        self._usage = usage
        self._audit = audit

    @classmethod
    def open(cls, folder: Path, secret: bytes) -> Self:
        """The accounts in the folder of a key store.

        Raises:
            KeyStoreError: a file cannot be opened.
        """
        return cls(UsageStore(folder), AuditLog(folder, secret))

    @contextmanager
    def admitted(self, principal: Principal, scope: KeyScope) -> Iterator[None]:
        """Admit one request to an operation for the duration of the context.

        Raises:
            KeyNotPermitted: the key lacks the scope.
            LimitReached: the key has used what it may use.
        """
        if scope not in (KeyScope.NONE, KeyScope.ANY) and scope not in principal.scopes:
            raise KeyNotPermitted(
                f"this API key does not have the scope {scope.value!r}",
                hint=f"use a key that has it; this one has {', '.join(sorted(principal.scopes))}",
            )
        bounded = scope is KeyScope.EXTRACT and principal.limits.bounds_requests
        if not bounded or self._usage is None:
            yield
            return
        self._usage.enter(principal.key_id, principal.limits)
        try:
            yield
        finally:
            self._usage.leave(principal.key_id, principal.limits)

    @contextmanager
    def charged(self, principal: Principal, request: Request, count: TokenCount) -> Iterator[None]:
        """Charge one generation: the most tokens it may use on entry, the growth of `count` at the end.

        Raises:
            LimitReached: the limits of the key do not allow that many tokens now.
        """
        if self._usage is None or not principal.limits.bounds_tokens:
            yield
            return
        before = count.prompt + count.output
        reserved = self._usage.reserve(principal.key_id, principal.limits, most_tokens(request))
        try:
            yield
        finally:
            used = count.prompt + count.output - before
            self._usage.settle(reserved, principal.limits, used)

    def record(self, principal: Principal, facts: dict[str, Plain]) -> None:
        """Record the use of a key in the audit.

        Raises:
            OSError, KeyStoreError: the audit cannot be written.
        """
        if self._audit is not None and principal.key_id:
            owner = {"key": principal.key_id, "tenant": principal.tenant}
            self._audit.append("request", {**owner, **facts})

    def close(self) -> None:
        """Close the files."""
        if self._usage is not None:
            self._usage.close()
        if self._audit is not None:
            self._audit.close()


def most_tokens(request: Request) -> int:
    """The tokens that are reserved for a request: its prompt, and its budget.

    A request without `max_tokens` has the rest of the context as its budget. Then the room beyond its shortest answer
    is the better estimate.
    """
    budget = request.sampling.max_tokens
    room = request.limits.room if request.limits is not None else None
    return len(request.prompt) + (budget if room is None else min(budget, room))
