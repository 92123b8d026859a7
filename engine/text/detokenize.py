"""Incremental detokenisation: token ids to text.

Does: decode bytes to whole characters; end the text at a stop string. Does not: know about end tokens, sequences or
requests.
"""

import codecs
from collections.abc import Iterable, Sequence

from intaglio.grammar.api import Vocabulary


class Detokenizer:
    """The text of one output, decoded incrementally. One for each sequence.

    The concatenated results of `push` and `finish` are the UTF-8 text of all tokens up to a stop string; invalid bytes
    become U+FFFD. The text does not depend on the division of the tokens into calls. The text ends before the stop
    string that is complete first (of two that end together, the longer one).
    """

    def __init__(self, vocabulary: Vocabulary, stop: Sequence[str] = ()) -> None:
        if "" in stop:
            raise ValueError("an empty stop string would end every text")
        self._vocabulary = vocabulary
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._stop = tuple(stop)
        self._held = ""
        self._stopped: str | None = None

    @property
    def stopped(self) -> str | None:
        """The stop string that ended the text; None if none has."""
        return self._stopped

    @property
    def held(self) -> str:
        """Decoded text that was not returned yet, because it may become a stop string."""
        return self._held

    def push(self, tokens: Iterable[int]) -> str:
        """Add tokens; the text that is now certain and was not returned before. Tokens without text are ignored."""
        if self._stopped is not None:
            return ""
        text = self._vocabulary.text
        data = b"".join([piece for token in tokens if (piece := text(token))])
        return self._release(self._decoder.decode(data))

    def finish(self) -> str:
        """The rest of the text, after the last token."""
        if self._stopped is not None:
            return ""
        text = self._release(self._decoder.decode(b"", final=True))
        rest, self._held = self._held, ""
        return text + rest

    def _release(self, new: str) -> str:
        if not self._stop:  # most texts have none, and this runs for every token
            return new
        text = self._held + new
        ends = [(at + len(stop), at, stop) for stop in self._stop if (at := text.find(stop)) >= 0]
        if ends:
            _, at, self._stopped = min(ends)
            self._held = ""
            return text[:at]
        keep = max((_overlap(text, stop) for stop in self._stop), default=0)
        self._held = text[len(text) - keep :]
        return text[: len(text) - keep]


def _overlap(text: str, stop: str) -> int:
    """The length of the longest suffix of `text` that is a proper prefix of `stop`."""
    for size in range(min(len(text), len(stop) - 1), 0, -1):
        if text.endswith(stop[:size]):
            return size
    return 0
