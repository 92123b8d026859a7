"""The text of one choice, token by token: whole characters, ended by stop strings, with log-probabilities.

Does: detokenise, hold back what may become a stop string, attribute each token to the text that it begins. The result
does not depend on how the tokens were divided into deltas. Does not: know choices, the engine or a protocol.
"""

from collections import deque
from collections.abc import Sequence

from intaglio.engine.api import Detokenizer, TokenLogprob

from ..extraction.text_model import TextModel
from .generation_events import ScoredToken


class ChoiceText:
    """Turns the tokens of one output into text. `scored`: whether the tokens come with log-probabilities."""

    def __init__(
        self,
        model: TextModel,
        stop: tuple[str, ...] = (),
        *,
        scored: bool = False,
        keep_stop: bool = False,
    ) -> None:
        self._text: Detokenizer = model.detokenizer(stop)
        self._single = bool(stop) or scored
        self._keep_stop = keep_stop
        self._held: deque[ScoredToken] = deque()
        self._released = 0
        self.consumed = 0
        """Tokens so far, up to and including the one that completed a stop string."""

    @property
    def stopped(self) -> str | None:
        """The stop string that ended the text; None if none has."""
        return self._text.stopped

    def push(
        self, tokens: Sequence[int], scores: Sequence[TokenLogprob]
    ) -> tuple[str, tuple[ScoredToken, ...]]:
        """Add tokens; the text and the scored tokens that are certain now. Tokens after a stop string are ignored."""
        if not self._single:
            self.consumed += len(tokens)
            return self._text.push(tokens), ()
        found = []
        for index, token in enumerate(tokens):
            if self.stopped is not None:
                break
            if index < len(scores):
                self._hold(scores[index])
            found.append(self._push_one(token))
        return "".join(found), self._certain()

    def finish(self) -> tuple[str, tuple[ScoredToken, ...]]:
        """The rest, after the last token."""
        rest = self._text.finish()
        self._released += len(rest)
        if self.stopped is not None:
            rest = self.stopped if self._keep_stop else ""
            self._released += len(rest)
            return rest, self._certain()
        tokens = tuple(self._held)
        self._held.clear()
        return rest, tokens

    def _push_one(self, token: int) -> str:
        text = self._text.push((token,))
        self.consumed += 1
        self._released += len(text)
        return text

    def _hold(self, score: TokenLogprob) -> None:
        offset = self._released + len(self._text.held)
        self._held.append(ScoredToken(score.token, score.logprob, score.top, offset))

    def _certain(self) -> tuple[ScoredToken, ...]:
        """The held tokens that begin in text which has been released."""
        found = []
        while self._held and self._held[0].offset < self._released:
            found.append(self._held.popleft())
        return tuple(found)
