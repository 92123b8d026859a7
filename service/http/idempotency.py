"""`Idempotency-Key`: a request that is sent again gets the answer of its first run.

Does: claim the key for the duration of a request, wait while another run of the request is in flight, keep successful
answers. Does not: keep errors: a request that failed runs again.
"""

import asyncio
import hashlib
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from ..errors import InvalidBody
from ..idempotency.answer_store import LEASE_S, AnswerStore, Claimed, KeptAnswer, KeyName
from .operations import Parameter
from .principal import current_principal
from .routes import while_connected
from .service_state import Service

_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")
_FIRST_PAUSE_S: Final = 0.02
_LONGEST_PAUSE_S: Final = 0.5
REPLAYED: Final = "idempotency-replayed"

KEY_PARAMETER: Final = Parameter(
    "Idempotency-Key",
    "header",
    "Makes the request safe to repeat: the same key with the same body gets the answer of the first run, which is kept "
    "for a day.",
)


@dataclass(slots=True)
class OnceOnly:
    """One run of a request. `kept` is the answer of an earlier run; the request need not run then."""

    service: Service
    name: KeyName | None = None
    claimed: Claimed | None = None
    kept: KeptAnswer | None = None

    async def keep(self, media: str, body: bytes) -> None:
        """Keep the answer, if the request has a key."""
        if self.name is None or self.claimed is None:
            return
        name, claimed, answer = self.name, self.claimed, KeptAnswer(media, body)
        self.claimed = None
        store = self.service.answers
        await self.service.offload(lambda: store.keep(name, claimed, answer))

    def replay(self) -> Response | None:
        """The answer of an earlier run; None if the request has to run."""
        if self.kept is None:
            return None
        headers = {"content-type": self.kept.media, REPLAYED: "true"}
        return Response(self.kept.body, headers=headers)


@asynccontextmanager
async def once_only(service: Service, request: Request, body: bytes) -> AsyncIterator[OnceOnly]:
    """Claim the key of a request, if it has one, until the context ends. Waits for a run that is in flight.

    Raises:
        InvalidBody: the key is malformed.
        IdempotencyKeyReused: the key was used for another request.
        ClientDisconnected: the client disconnected.
    """
    key = request.headers.get("idempotency-key")
    if key is None:
        yield OnceOnly(service)
        return
    if not _KEY.fullmatch(key):
        raise InvalidBody(
            "Idempotency-Key must be 1 to 255 printable ASCII characters without spaces",
            param="Idempotency-Key",
            hint="a random UUID serves well",
        )
    digest = hashlib.sha256(request.url.path.encode() + b"\0" + body).digest()
    name = KeyName(current_principal().tenant, key, digest)
    found = await while_connected(request.receive, _claim(service, name))
    if isinstance(found, KeptAnswer):
        yield OnceOnly(service, kept=found)
        return
    once = OnceOnly(service, name, found)
    renewing = asyncio.create_task(_renew(service, service.answers, name, found))
    try:
        yield once
    finally:
        renewing.cancel()
        await asyncio.shield(_released(service, once))


async def _claim(service: Service, name: KeyName) -> Claimed | KeptAnswer:
    pause = _FIRST_PAUSE_S
    while True:
        found = await service.offload(partial(service.answers.claim, name))
        if found is not None:
            return found
        await asyncio.sleep(pause)
        pause = min(_LONGEST_PAUSE_S, 2 * pause)


async def _renew(service: Service, store: AnswerStore, name: KeyName, claimed: Claimed) -> None:
    while True:
        await asyncio.sleep(LEASE_S / 3)
        await service.offload(partial(store.renew, name, claimed))


async def _released(service: Service, once: OnceOnly) -> None:
    """Free the key if nothing was kept."""
    if once.name is not None and once.claimed is not None:
        await service.offload(partial(service.answers.release, once.name, once.claimed))
