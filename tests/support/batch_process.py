"""`python batch_process.py FOLDER SECONDS`: run the batches of a folder until it is killed or all have ended.

A request is answered after SECONDS with its own body. Each answer is noted in the file `answered` before it is given.
"""

import asyncio
import json
import sys
from pathlib import Path

from intaglio.service.batches.batch_host import BatchHost
from intaglio.service.batches.batch_ledger import BatchOwner
from intaglio.service.batches.replies import Reply
from intaglio.service.jobs.folder import DataFolder


async def run(folder: Path, seconds: float) -> None:
    host = BatchHost(folder, DataFolder(folder, 1 << 30), 100, _raise)

    async def respond(path: str, body: bytes, owner: BatchOwner) -> Reply:
        await asyncio.sleep(seconds)
        with (folder / "answered").open("a") as file:
            file.write(body.decode() + "\n")
        reply = {"echo": json.loads(body), "path": path, "tenant": owner.tenant}
        return Reply(200, json.dumps(reply).encode(), "req_1")

    host.start(respond, 8)
    for _ in iter(host.ledger.next_open, None):
        await asyncio.sleep(0.02)
    await host.close()


def _raise(_where: str, error: Exception) -> None:
    raise error


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), float(sys.argv[2])))
