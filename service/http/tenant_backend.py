"""The engine as the tenants of one server share it.

Does: give every generation the cache salt of its tenant, charge its tokens to its key and let it wait for its tenant's
turn, whatever route it came by. Does not: trust a caller to do so: a generation without a principal is an error.
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
from .fair_queue import FairQueue, Turn
from .key_accounts import KeyAccounts
from .principal import Principal, TokenCount, current_count, current_principal

_LEAST_S = 0.001


class TenantBackend(BackendLayer):
    """A backend that runs every generation for the current principal."""

    def __init__(
        self,
        engine: Backend,
        accounts: KeyAccounts | None = None,
        queue: FairQueue | None = None,
    ) -> None:
        super().__init__(engine)
        self._accounts = accounts or KeyAccounts()
        self._queue = queue

    def generate(self, request: Request, *, whole: bool = False) -> AsyncGenerator[Delta, None]:
        """Stream the deltas of one request for the current principal; `whole` as in `Backend`.

        Raises:
            LimitReached: the key may not use so many tokens now.
        """
        principal, count = current_principal(), current_count()
        salted = replace(request, cache_salt=principal.cache_salt)
        return self._counted(salted, principal, count, whole)

    async def _counted(
        self, request: Request, principal: Principal, count: TokenCount, whole: bool
    ) -> AsyncGenerator[Delta, None]:
        tokens, turn = len(request.prompt), Turn()
        async with AsyncExitStack() as held:
            held.enter_context(self._accounts.charged(principal, request, count))
            if self._queue is not None:
                wanted = self._queue.turn(
                    principal.tenant,
                    weight=principal.weight,
                    prompt=tokens,
                    priority=request.priority,
                )
                turn = await held.enter_async_context(wanted)
                request = _after_waiting(request, turn.waited_s)
            deltas = self._engine.generate(request, whole=whole)
            await held.enter_async_context(aclosing(deltas))
            count.prompt += tokens
            turn.prompt = tokens
            async for delta in deltas:
                count.output += len(delta.tokens)
                turn.output += len(delta.tokens)
                yield delta


def _after_waiting(request: Request, waited_s: float) -> Request:
    """The request with what is left of its deadline. One that has passed ends in the engine at once."""
    if request.deadline is None:
        return request
    return replace(request, deadline=max(_LEAST_S, request.deadline - waited_s))
