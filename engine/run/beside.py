"""What runs on a GPU beside the passes of the model and the choices of tokens, and in which order to these.

Does: own two streams: one prepares what passes and choices read, the other brings picks to the host. Keep them in order
with the stream that computes. Does not: launch anything.

    computes   pass 1 | choice 1 | pass 2 | choice 2 | pass 3
    prepares     masks 1   inputs 2   masks 2   inputs 3
    fetches                picks 1            picks 2

So between a choice and the next pass nothing is copied: small copies take as long to begin as a layer of a small model.
"""

import torch


class SideStream:
    """Within it launches go to `stream`, after `event` as it was recorded last. Events and streams are used again."""

    def __init__(
        self, caller: torch.cuda.Stream, stream: torch.cuda.Stream, event: torch.cuda.Event
    ) -> None:
        self._caller, self._stream, self._event = caller, stream, event

    def __enter__(self) -> torch.cuda.Stream:
        self._stream.wait_event(self._event)
        torch.cuda.set_stream(self._stream)
        return self._stream

    def __exit__(self, *_: object) -> None:
        torch.cuda.set_stream(self._caller)


class StreamSet:
    """Streams beside the one that is current where this is made, which is the caller's and never asked for again: to
    ask torch for the current stream takes longer than a launch.

    `inputs`: launches within write what passes read, after the last pass. `begun`: they write what choices read, after
    the last choice. `fetching`: they read what the last choice left.
    """

    def __init__(self, device: torch.device) -> None:
        self.caller = torch.cuda.current_stream(device)
        self._prepares = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._fetches = torch.cuda.Stream(device)  # type: ignore[no-untyped-call]
        self._computed = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._chosen = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._prepared = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self._fetched = torch.cuda.Event()  # type: ignore[no-untyped-call]
        self.inputs = SideStream(self.caller, self._prepares, self._computed)
        self.begun = SideStream(self.caller, self._prepares, self._chosen)
        self.fetching = SideStream(self.caller, self._fetches, self._chosen)

    def pass_ends(self) -> None:
        """What was launched so far reads the inputs of a pass; nothing that follows does before the next pass."""
        self._computed.record(self.caller)

    def choice_ends(self) -> None:
        """What was launched so far reads and moves what a choice depends on; what follows does not before the next."""
        self._chosen.record(self.caller)

    def awaited(self) -> None:
        """The caller's stream goes on after all that was prepared so far."""
        self._prepared.record(self._prepares)
        self.caller.wait_event(self._prepared)

    def fetch_awaited(self) -> None:
        """The caller's stream goes on after all that was fetched so far."""
        self._fetched.record(self._fetches)
        self.caller.wait_event(self._fetched)
