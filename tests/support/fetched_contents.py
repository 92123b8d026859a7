"""What a `PeerTier` fetches, waited for."""

import threading
from collections.abc import Mapping, Sequence

from intaglio.engine.memory.block_contents import Content
from intaglio.engine.memory.peer_tier import PeerTier, Question
from intaglio.engine.types import Request, SamplingParams

REQUEST = Request(id="r", prompt=(1,), sampling=SamplingParams(max_tokens=1))


def fetched(
    peers: PeerTier, seq_id: int, address: str, chains: Sequence[bytes], request: Request = REQUEST
) -> Mapping[bytes, Content]:
    """The contents that arrive for these chains."""
    arrived = threading.Event()
    peers.ask(seq_id, address, Question(request, tuple(chains)), arrived.set)
    assert arrived.wait(60)
    return peers.received(seq_id).contents
