"""A backend that applies tenant, priority and quota to every generation.

Does: give every generation the tenant, weight, lane and cache salt of its principal, and charge its tokens to its key,
for every route. Does not: trust callers to do so (a generation without a principal is an error), or order generations,
which the engine does: only the engine sees those of all API processes.
"""

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, aclosing
from dataclasses import replace

from intaglio.engine.api import (
    Delta,
    Request,
)

from .backend import Backend
from .backend_layer import BackendLayer
from .key_accounts import KeyAccounts
from .principal import Principal, TokenCount, current_count, current_principal


class TenantBackend(BackendLayer):
    """A backend that runs every generation for the current principal."""

    def __init__(
        self,
        engine: Backend,
        accounts: KeyAccounts | None = None,
    ) -> None:
        super().__init__(engine)
        self._accounts = accounts or KeyAccounts()

    def generate(self, request: Request, *, whole: bool = False) -> AsyncGenerator[Delta, None]:
        """Stream the deltas of one request for the current principal; `whole` as in `Backend`.

        Raises:
            LimitReached: the limits of the key do not allow that many tokens now.
        """
        principal, count = current_principal(), current_count()
        owned = replace(
            request,
            cache_salt=principal.cache_salt,
            tenant=principal.tenant if principal.key_id else "",
            weight=principal.weight,
            bulk=principal.in_background,
        )
        return self._counted(owned, principal, count, whole)

    async def _counted(
        self, request: Request, principal: Principal, count: TokenCount, whole: bool
    ) -> AsyncGenerator[Delta, None]:
        async with AsyncExitStack() as held:
            held.enter_context(self._accounts.charged(principal, request, count))
            deltas = self._engine.generate(request, whole=whole)
            await held.enter_async_context(aclosing(deltas))
            count.prompt += len(request.prompt)
            async for delta in deltas:
                count.output += len(delta.tokens)
                yield delta
