"""T6: the chain of the audit verifies after every kill, and each request with a key is one line of it."""

import asyncio
import random
import subprocess
from collections import Counter
from pathlib import Path

from intaglio.service.keys.audit_log import entries, verified
from intaglio.service.keys.key_store import KeyGrant, KeyStore

from tests.reliability.figures import Figure
from tests.reliability.served import served
from tests.reliability.wire import Address, connect, head, reply

BODY = b'{"schema": {"type": "integer"}, "text": "<<echo 7>>"}'


async def send(address: Address, key: str, name: str) -> bool:
    """Whether a request with that id was answered."""
    headers = {
        "authorization": f"Bearer {key}",
        "connection": "close",
        "content-length": str(len(BODY)),
        "x-request-id": name,
    }
    try:
        reader, writer = await connect(address)
        writer.write(head("POST", "/v1/extract", headers) + BODY)
        data = await reader.read()
        writer.close()
        return reply(data).status == 200
    except (OSError, ValueError):
        return False


def measure(folder: Path, kills: int = 10, requests: int = 200, seed: int = 17) -> list[Figure]:
    """So many servers over one key store, each killed after some of its requests."""
    store = KeyStore(folder / "keys", create=True)
    key, made = store.create(KeyGrant())
    dice, answered, after_kill, verifies = random.Random(seed), set[str](), 0, 0
    for turn in range(kills):
        with served(
            folder, examines=False, key_store=str(folder / "keys"), errors=subprocess.DEVNULL
        ) as service:

            async def some(address: Address, turn: int) -> None:
                names = [f"{turn}-{number}" for number in range(requests)]
                sending = [asyncio.create_task(send(address, key, name)) for name in names]
                at = dice.randrange(requests // 4, requests)
                while sum(task.done() for task in sending) < at:  # noqa: ASYNC110  nothing tells of it
                    await asyncio.sleep(0.001)
                service.kill()
                done = await asyncio.gather(*sending)
                answered.update(name for name, was in zip(names, done, strict=True) if was)

            asyncio.run(some(service.address, turn))
        verifies += verified(folder / "keys", store.secret).lines > 0
    rows = Counter(
        str(entry["request_id"])
        for entry in entries(folder / "keys")
        if entry.get("key") == made.id
    )
    after_kill = len(answered - rows.keys())
    return [
        Figure(
            id="T6",
            what="kill -9 of the server under requests with a key",
            count=kills,
            bound="the chain verifies, no request has two lines",
            measured=f"verified {verifies} times; {len(answered)} answers, {len(rows)} lines, "
            f"{sum(count > 1 for count in rows.values())} twice, "
            f"{after_kill} answered in the last moment without a line",
            met=verifies == kills and max(rows.values(), default=0) == 1,
        )
    ]
