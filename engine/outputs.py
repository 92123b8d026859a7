"""What the callers are told of a step.

Does: put together what happened to each request. Does not: know texts (`text`), or decide how a request ends.
"""

from msgspec.structs import replace

from .errors import InternalError
from .plan import Change, Changes
from .types import Delta


def deltas(changes: Changes) -> list[Delta]:
    """One delta for each request something happened to, in the order in which it first did.

    Raises:
        InternalError: something happened to a request after its end.
    """
    told: dict[str, Delta] = {}
    for change in changes.items:
        earlier = told.get(change.request_id)
        told[change.request_id] = _delta(change) if earlier is None else _joined(earlier, change)
    return list(told.values())


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
    """Two changes of one step: tokens forced when the grammar arrived, then the first that was picked."""
    if earlier.finish is not None:
        raise InternalError(f"request {change.request_id!r} went on after its end")
    later = _delta(change)
    return replace(
        later,
        tokens=earlier.tokens + later.tokens,
        logprobs=earlier.logprobs + later.logprobs,
    )
