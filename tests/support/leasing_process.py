"""A process that calls `main` leases contents at an address until it is killed.

It prints a line when it listens. Chains are those of `chain_of`, and contents those of the blocks from `FIRST_BLOCK`.
"""

import sys
from pathlib import Path

from intaglio.engine.memory.exported_blocks import BlockServer
from intaglio.engine.memory.leased_blocks import LeasedBlocks
from intaglio.engine.memory.page_key import Chain, first_chain, next_chain

from tests.support.file_memory import FileMemory


def chain_of(number: int) -> Chain:
    return next_chain(first_chain(b""), number.to_bytes(4, "little"))


def main(address: str, memory: str, version: str, contents: str, first_block: str) -> None:
    count, first = int(contents), int(first_block)
    leased = LeasedBlocks(FileMemory(Path(memory), count))
    leased.export([(chain_of(number), first + number) for number in range(count)])
    server = BlockServer(Path(address), version.encode(), leased.serve)
    print("listening", flush=True)
    sys.stdin.read()
    server.close()
