"""What runs on a GPU beside the passes of the model: whatever needs no hidden states.

Does: own that stream, and keep it behind the last choice of tokens, after which what the choice read or moved may be
touched. Does not: launch anything.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


class Beside:
    """A stream. The caller's stream waits for it where it needs what was begun there."""

    def __init__(self, device: torch.device) -> None:
        self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._chosen: torch.cuda.Event | None = None

    def choice_ends(self, event: torch.cuda.Event) -> None:
        """What is begun from now on waits for `event`."""
        self._chosen = event

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Launches within go to the stream."""
        if self._chosen is not None:
            self.stream.wait_event(self._chosen)
        with torch.cuda.stream(self.stream):
            yield
