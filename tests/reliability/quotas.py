"""T2: limits of keys under many requests at once to two API processes: none too many, and the sums are the audit's.

Each limit has a key of its own, which is asked for far more than it permits; a tenth of the clients disconnect when
they have sent their request. `tests/service/keys/test_usage.py` tries the same at the store itself.
"""

import asyncio
import random
import time
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from intaglio.service.keys.audit_log import entries, verified
from intaglio.service.keys.key_limits import KeyLimits
from intaglio.service.keys.key_store import KeyGrant, KeyStore
from intaglio.service.keys.usage import UsageStore

from tests.reliability.figures import Figure
from tests.reliability.served import served
from tests.reliability.wire import PATIENCE_S, Address, connect, post, reply
from tests.support.live_service import until

AT_ONCE: Final = 200
LEAVES: Final = 0.1
"""The share of clients that disconnect."""
PROCESSES: Final = 2
HELD_S: Final = 60.0
"""How long requests beyond a limit of requests in flight have to be refused, while the others are held."""


@dataclass(slots=True)
class Sent:
    """Clients that sent a request: their number, and the statuses of the answers; 0 for those that left."""

    count: int
    seconds: float
    statuses: Counter[int] = field(default_factory=Counter)
    most_held: int = 0


async def one(address: Address, request: bytes, sent: Sent, *, leaves: bool) -> None:
    reader, writer = await connect(address)
    try:
        writer.write(request)
        await writer.drain()
        if leaves:
            await asyncio.sleep(0.02)
            sent.statuses[0] += 1
            return
        async with asyncio.timeout(PATIENCE_S):
            sent.statuses[reply(await reader.read()).status] += 1
    finally:
        writer.close()


def body(key: str, order: str) -> bytes:
    """A request whose answer is short."""
    options = {"max_tokens": 8}
    extract = {"schema": {"type": "integer"}, "text": f"<<{order}>>", "options": options}
    return post("/v1/extract", extract, key)


async def flood(address: Address, key: str, count: int, dice: random.Random) -> Sent:
    """Send requests, `AT_ONCE` at a time."""
    sent, places, began = Sent(count, 0.0), asyncio.Semaphore(AT_ONCE), time.monotonic()

    async def placed() -> None:
        async with places:
            await one(address, body(key, "echo 7"), sent, leaves=dice.random() < LEAVES)

    await asyncio.gather(*(placed() for _ in range(count)))
    sent.seconds = time.monotonic() - began
    return sent


async def hold(
    address: Address, key: str, count: int, limit: int, folder: Path, dice: random.Random
) -> Sent:
    """Send requests in rounds of `AT_ONCE`, whose answers wait until all beyond the limit are refused."""
    sent, began = Sent(count, 0.0), time.monotonic()
    for turn in range(count // AT_ONCE):
        release, before = folder / f"release-{turn}", sent.statuses[200]
        request = body(key, f"hold {release}")
        sending = [
            asyncio.create_task(one(address, request, sent, leaves=dice.random() < LEAVES))
            for _ in range(AT_ONCE)
        ]
        due = time.monotonic() + HELD_S
        while sum(not task.done() for task in sending) > limit and time.monotonic() < due:
            await asyncio.wait(sending, timeout=0.05, return_when=asyncio.FIRST_COMPLETED)
        release.touch()
        await asyncio.gather(*sending)
        sent.most_held = max(sent.most_held, sent.statuses[200] - before)
    sent.count, sent.seconds = AT_ONCE * (count // AT_ONCE), time.monotonic() - began
    return sent


def measure(folder: Path, count: int = 10_000, seed: int = 17) -> list[Figure]:
    """So many attempts in all, at the limits of four keys."""
    store, dice, figures = KeyStore(folder / "keys", create=True), random.Random(seed), []
    share = max(AT_ONCE, count // 4)
    bounds = (
        KeyLimits(requests_per_day=share // 3),
        KeyLimits(requests_per_minute=share // 3),
        KeyLimits(tokens_per_day=100 * share // 3),
        KeyLimits(concurrent=8),
    )
    settings: dict[str, Any] = {"key_store": str(folder / "keys"), "max_requests": 4 * AT_ONCE}
    with served(folder, api_workers=PROCESSES, **settings) as service:
        for limits in bounds:
            key, made = store.create(KeyGrant(limits=limits))
            if limits.concurrent is None:
                sent = asyncio.run(flood(service.address, key, share, dice))
            else:
                holding = hold(service.address, key, share, limits.concurrent, folder, dice)
                sent = asyncio.run(holding)
            figures.append(_judged(folder / "keys", limits, made.id, sent))
    assert verified(folder / "keys", store.secret).lines > 0
    return figures


def _audited(keys: Path, key: str) -> list[dict[str, Any]]:
    """The lines of a key once no more come: they are written after the answers, and of clients that left later."""
    found: list[dict[str, Any]] = []

    def complete() -> bool:
        nonlocal found
        time.sleep(0.5)
        before, found = found, [row for row in entries(keys) if row.get("key") == key]
        return len(before) == len(found)

    until(complete)
    return found


def _judged(keys: Path, limits: KeyLimits, key: str, sent: Sent) -> Figure:
    rows = _audited(keys, key)
    usage = UsageStore(keys)
    requests, tokens = usage.today(key)
    usage.close()
    answered, used = sent.statuses[200], 0
    for row in rows:
        used += int(row["prompt_tokens"]) + int(row["output_tokens"])
    faults = []
    if set(sent.statuses) - {0, 200, 429} or not answered:
        faults.append("other answers")
    if limits.requests_per_day is not None and requests != limits.requests_per_day:
        faults.append("requests of the day")
    minutes = sent.seconds / 60
    if (each := limits.requests_per_minute) is not None and requests > each * (1 + minutes) + 1:
        faults.append("requests of a minute")
    if limits.tokens_per_day is not None and not tokens == used <= limits.tokens_per_day:
        faults.append("tokens")
    if limits.concurrent is not None and sent.most_held != limits.concurrent:
        faults.append("requests in flight")
    names = ", ".join(f"{name} {value}" for name, value in limits.given().items())
    return Figure(
        id="T2",
        what=f"requests with a key of {names}; a tenth of the clients leave",
        count=sent.count,
        bound="none too many, sums equal to the audit's",
        measured=f"{dict(sorted(sent.statuses.items()))} in {sent.seconds:.0f} s, at most {sent.most_held} held; "
        f"counted {requests} requests and {tokens} tokens; audited {len(rows)} lines and {used} tokens; "
        f"wrong: {faults}",
        met=not faults,
    )
