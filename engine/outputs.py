"""The deltas of a step, from the changes of its commit.

Does: join the changes of each request. Does not: know texts (`text`), or decide how a request ends.
"""

from msgspec.structs import replace

from .errors import InternalError
from .plan import Change, Changes
from .types import Delta


def deltas(changes: Changes) -> list[Delta]:
    """One delta for each request with changes, in the order of their first changes.

    Raises:
        InternalError: a request has a change after its end.
    """
    by_request: dict[str, Delta] = {}
    for change in changes.items:
        earlier = by_request.get(change.request_id)
        delta = _delta(change) if earlier is None else _joined(earlier, change)
        by_request[change.request_id] = delta
    return list(by_request.values())


def _delta(change: Change) -> Delta:
    return Delta(
        request_id=change.request_id,
        tokens=change.tokens,
        logprobs=change.logprobs,
        finish=change.finish,
        usage=change.usage,
        error=change.failure,
    )


def _joined(earlier: Delta, change: Change) -> Delta:
    """Join two changes of one step: tokens forced when the grammar arrived, then the first sampled token."""
    if earlier.finish is not None:
        raise InternalError(f"request {change.request_id!r} has a change after its end")
    later = _delta(change)
    return replace(
        later,
        tokens=earlier.tokens + later.tokens,
        logprobs=earlier.logprobs + later.logprobs,
    )
