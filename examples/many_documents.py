"""Many documents at once: send them concurrently, and the service computes them in one batch.

The client retries if the service is busy; the semaphore only bounds the memory of this program. Needs a running service
(`intaglio serve`).
"""

import asyncio

from intaglio import AsyncClient, IntaglioError
from intaglio.schemas import catalogue

AT_ONCE = 32


async def main() -> None:
    entries = [catalogue.get(name) for name in ("contact", "event", "product", "order")]
    gate = asyncio.Semaphore(AT_ONCE)

    async with AsyncClient() as client:

        async def read(entry: catalogue.CatalogueEntry) -> str:
            async with gate:
                try:
                    result = await client.extract(entry.name, entry.sample)
                except IntaglioError as error:  # one failed document does not stop the others
                    return f"{entry.name}: {error.message}"
            first, value = next(iter(result.data.items()))
            return f"{entry.name}: {first} = {value!r} ({result.usage.output_tokens} tokens)"

        for line in await asyncio.gather(*map(read, entries)):
            print(line)


asyncio.run(main())
