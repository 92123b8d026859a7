"""The keys by which contents of KV blocks are found outside the device: hashes of all tokens up to the end of a block.

A chain is BLAKE2b-256 over the chain before and the tokens of the block; the first one is over the root: salt and
adapter, since keys and values depend on the weights that made them. Unlike the short names of the prefix cache, which
only locate a block, a chain counts as proof of equality: no collision of BLAKE2b-256 is known. Tokens and salts are not
kept with contents.
"""

from hashlib import blake2b
from typing import Final

Chain = bytes
CHAIN_BYTES: Final = 32


def root_of(salt: str, adapter: str = "") -> bytes:
    """The bytes that no other salt and adapter have: no text contains the byte 255. `adapter` "" stands for none."""
    return b"\xff".join((adapter.encode(), salt.encode())) if adapter else salt.encode()


def first_chain(root: bytes) -> Chain:
    """The chain before the first block of the prompts with this root."""
    return blake2b(root, digest_size=CHAIN_BYTES, person=b"kv salt").digest()


def next_chain(before: Chain, tokens: bytes) -> Chain:
    """The chain of a block of these tokens after another one."""
    return blake2b(before + tokens, digest_size=CHAIN_BYTES, person=b"kv block").digest()
