"""Continues a stream on a second engine: delivered tokens are skipped as long as the new ones equal them.

Does: remember the tokens of a stream, skip those of the next attempt that repeat them, notice a difference. Does not:
send a request again (`router`).

The same request with the same seed gives the same tokens, if the model's arithmetic does not depend on the other
requests in the batch: on a CPU. On a GPU it is sometimes rounded differently, and the stream cannot be continued.
"""

import msgspec
from intaglio.engine.api import Delta


class DifferentAnswer(Exception):
    """The next attempt gives tokens that differ from the delivered ones."""


class Replay:
    """The delivered tokens of one stream. Call `restart` before each further attempt."""

    def __init__(self) -> None:
        self._delivered: list[int] = []
        self._position = 0

    def restart(self) -> None:
        """Begin another attempt."""
        self._position = 0

    def unseen(self, delta: Delta) -> Delta | None:
        """The part of a delta that was not delivered yet; None if there is nothing in it.

        Raises:
            DifferentAnswer: the other part differs from the delivered tokens.
        """
        left = len(self._delivered) - self._position
        if not left:
            self._delivered.extend(delta.tokens)
            self._position += len(delta.tokens)
            return delta
        seen = delta.tokens[:left]
        if tuple(self._delivered[self._position : self._position + len(seen)]) != seen:
            raise DifferentAnswer
        if delta.finish is not None and len(seen) < left:
            raise DifferentAnswer
        self._position += len(seen)
        if len(seen) == len(delta.tokens) and delta.finish is None:
            return None
        fresh = delta.tokens[len(seen) :]
        self._delivered.extend(fresh)
        self._position += len(fresh)
        return msgspec.structs.replace(
            delta, tokens=fresh, logprobs=delta.logprobs[len(seen) :] if delta.logprobs else ()
        )
