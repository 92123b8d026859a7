"""Joins the deltas of a request into one message, for a reader that does not stream.

Does: hold back the deltas of the requests named to it, and release each as one delta at its end. Does not: send.

A delta a step costs the reader's process one decoded message, one queue and one wake-up for each token of each
request. A reader of whole answers needs only the last one.
"""

from collections.abc import Iterable

import msgspec

from ..types import Delta, TokenLogprob


class WholeAnswers:
    """The requests that are answered at once. `expect` and `forget` are for any thread, `join` for the stepping one."""

    def __init__(self) -> None:
        self._tokens: dict[str, list[int]] = {}
        self._logprobs: dict[str, list[TokenLogprob]] = {}

    def expect(self, request_id: str) -> bool:
        """Join the deltas of this request, which is about to be submitted; False if one of that id is running."""
        fresh: list[int] = []
        return self._tokens.setdefault(request_id, fresh) is fresh

    def forget(self, request_id: str) -> None:
        """Stop to expect a request that was refused; no effect if it is unknown."""
        self._tokens.pop(request_id, None)
        self._logprobs.pop(request_id, None)

    def join(self, deltas: Iterable[Delta]) -> tuple[Delta, ...]:
        """The deltas of one step that are to be sent now."""
        if not self._tokens:
            return tuple(deltas)
        return tuple(ready for delta in deltas if (ready := self._joined(delta)) is not None)

    def _joined(self, delta: Delta) -> Delta | None:
        """The delta itself, or None while more of its request follow, or its whole answer."""
        tokens = self._tokens.get(delta.request_id)
        if tokens is None:
            return delta
        tokens.extend(delta.tokens)
        if delta.logprobs:
            self._logprobs.setdefault(delta.request_id, []).extend(delta.logprobs)
        if delta.finish is None:
            return None
        logprobs = tuple(self._logprobs.get(delta.request_id, ()))
        self.forget(delta.request_id)
        return msgspec.structs.replace(delta, tokens=tuple(tokens), logprobs=logprobs)
