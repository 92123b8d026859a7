"""Prefix-affine routing: a request goes to the engine that likely has its prefix, unless that engine is overloaded.

Does: name the prefix of a request, order engines by it, choose among them by load. Does not: know whether an engine
runs, or count its load (`router`).

The order is rendezvous hashing (Thaler and Ravishankar, 1998): every process finds the same order without talking to
others, and an engine that leaves or returns does not change the order of the others for any prefix. The bound on the
load is that of consistent hashing with bounded loads (Mirrokni, Thorup and Zadimoghaddam, 2016): the first engine in
the order with less than 1 + `SLACK` times its share of the work.
"""

import hashlib
from collections.abc import Mapping, Sequence
from typing import Final

import msgspec
from intaglio.engine.api import Request

PREFIX_TOKENS: Final = 64
"""The tokens of a prompt that count: four KV blocks. Requests that share more share these."""

SLACK: Final = 0.25
LEAST_ALLOWED: Final = 16_384
"""Tokens that every engine may have in flight before the bound counts: a handful of requests is not an imbalance."""

_encoder = msgspec.msgpack.Encoder()


def prefix_key(request: Request) -> bytes:
    """A key of what a request can share with others: the first tokens of its prompt, its constraint, its salt.

    The constraint counts because the engine that compiled it has its masks as well.
    """
    constraint = request.constraint
    shared = (
        request.cache_salt,
        request.prompt[:PREFIX_TOKENS],
        None if constraint is None else (constraint.kind, constraint.source),
    )
    return hashlib.blake2b(_encoder.encode(shared), digest_size=16).digest()


def preferred(key: bytes, engines: Sequence[int]) -> list[int]:
    """The engines in the order in which a prefix prefers them."""
    return sorted(engines, key=lambda engine: _weight(key, engine), reverse=True)


def _weight(key: bytes, engine: int) -> bytes:
    return hashlib.blake2b(key, digest_size=8, salt=engine.to_bytes(8, "big")).digest()


def chosen(key: bytes, loads: Mapping[int, int], cost: int) -> int:
    """The engine for a request of this many tokens, among those with `loads`, the tokens in flight at each.

    Raises:
        ValueError: there is no engine.
    """
    if not loads:
        raise ValueError("there is no engine to choose")
    if len(loads) == 1:
        return next(iter(loads))
    share = (sum(loads.values()) + cost) / len(loads)
    bound = max(share * (1 + SLACK), LEAST_ALLOWED)
    order = preferred(key, tuple(loads))
    for engine in order:
        if loads[engine] + cost <= bound:
            return engine
    return min(order, key=lambda engine: loads[engine])
