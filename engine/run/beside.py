"""What runs on a GPU beside the passes of the model: whatever needs no hidden states.

Does: own that stream, and keep it behind the last choice of tokens, after which what the choice read or moved may be
touched. Does not: launch anything.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import torch


class Beside:
    """A stream beside the one that is current where this is made, which is the caller's.

    Streams and events are named and used again: to ask torch for the current stream takes longer than a launch.
    """

    def __init__(self, device: torch.device) -> None:
        self.caller = torch.cuda.current_stream(device)
        self.stream = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._begun = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._chosen: torch.cuda.Event | None = None

    def choice_ends(self, event: torch.cuda.Event) -> None:
        """What is begun from now on waits for `event`."""
        self._chosen = event

    @contextmanager
    def begun(self) -> Iterator[None]:
        """Launches within go to the stream."""
        if self._chosen is not None:
            self.stream.wait_event(self._chosen)
        torch.cuda.set_stream(self.stream)
        try:
            yield
        finally:
            torch.cuda.set_stream(self.caller)

    def awaited(self) -> None:
        """The caller's stream goes on after all that was begun so far."""
        self._begun.record(self.stream)
        self.caller.wait_event(self._begun)
