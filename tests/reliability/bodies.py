"""A2: bodies and headers above the limits cost the server nothing but the limit."""

import asyncio

from tests.reliability.figures import Figure
from tests.reliability.served import MostResident, Served
from tests.reliability.wire import Address, connect, head, reply

PIECE = b"x" * 65_536
LIMIT = 1 << 20


async def oversized(address: Address, size: int, *, declared: bool) -> tuple[int, int]:
    """Send a body of so many bytes until the server answers; its status (0: it closed), and the bytes sent."""
    reader, writer = await connect(address)
    length = {"content-length": str(size)} if declared else {"transfer-encoding": "chunked"}
    writer.write(head("POST", "/v1/extract", length))
    sent = 0

    async def send() -> None:
        nonlocal sent
        while sent < size:
            writer.write(PIECE if declared else b"%x\r\n%s\r\n" % (len(PIECE), PIECE))
            sent += len(PIECE)
            await writer.drain()

    sending = asyncio.create_task(send())
    try:
        status = reply(await reader.read()).status
    except (OSError, ValueError):
        status = 0
    sending.cancel()
    await asyncio.wait({sending})
    writer.transport.abort()
    if not sending.cancelled():
        sending.exception()  # the connection was closed, which the status tells
    return status, sent


async def long_header(address: Address, size: int) -> int:
    """The status of a request with a header of so many bytes; 0 if the server closed the connection."""
    reader, writer = await connect(address)
    try:
        headers = {"x-long": "y" * size, "connection": "close"}
        writer.write(head("GET", "/health", headers))
        return reply(await reader.read()).status
    except (OSError, ValueError):
        return 0
    finally:
        writer.close()


SETTINGS = {"max_body_bytes": LIMIT}


def measure(service: Served, clients: int = 100, size: int = 400 << 20) -> list[Figure]:
    """`clients` bodies of `size` bytes at once, of declared length and of hidden length."""

    async def all_at_once(*, declared: bool) -> list[tuple[int, int]]:
        one = (oversized(service.address, size, declared=declared) for _ in range(clients))
        return list(await asyncio.gather(*one))

    found = []
    asyncio.run(all_at_once(declared=False))  # what a first time costs
    for declared in (True, False):
        with MostResident(service) as memory:
            ends = asyncio.run(all_at_once(declared=declared))
        statuses = {status for status, _ in ends}
        bound = 8 if declared else 8 + clients * (LIMIT + len(PIECE)) / (1 << 20)
        found.append(
            Figure(
                id="A2",
                what=f"bodies of {size >> 20} MiB, {'declared' if declared else 'chunked'}",
                count=clients,
                bound=f"413 or closed, memory +{bound:.0f} MiB",
                measured=f"{sorted(statuses)}, memory +{memory.more_mib:.1f} MiB, "
                f"at most {max(sent for _, sent in ends) >> 10} KiB sent",
                met=statuses <= {413, 0} and memory.more_mib <= bound,
            )
        )
    heads = {asyncio.run(long_header(service.address, 17_000 + n)) for n in range(20)}
    return [
        *found,
        Figure(
            id="A2",
            what="headers over 16 KiB",
            count=20,
            bound="400, 431 or closed",
            measured=f"{sorted(heads)}",
            met=heads <= {0, 400, 431},
        ),
    ]
