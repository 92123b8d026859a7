"""The streams of a GPU: one computes; two side streams copy inputs and sampled tokens at the same time.

Does: own the side streams: one prepares the inputs of passes and of sampling, the other copies sampled tokens to the
host; order them with the stream that computes. Does not: launch anything.

    computes   pass 1 | sampling 1 | pass 2 | sampling 2 | pass 3
    prepares     masks 1     inputs 2   masks 2     inputs 3
    fetches                  tokens 1               tokens 2

So nothing is copied between sampling and the next pass: starting a small copy takes as long as a layer of a small
model.
"""

import torch


class SideStream:
    """A context manager: launches go to `stream`, after the last record of `event`, and `caller` is restored."""

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
    """The caller's stream, which is the current one at construction, and two side streams.

    The caller's stream is never looked up again: asking torch for the current stream takes longer than a launch.
    `inputs` is for launches that write the inputs of passes, after the last pass. `sampling_inputs` is for launches
    that write the inputs of sampling, after the last sampling. `fetching` is for launches that read the results of the
    last sampling.
    """

    def __init__(self, device: torch.device) -> None:
        self.caller = torch.cuda.current_stream(device)
        self._prepares = torch.cuda.Stream(device)
        self._fetches = torch.cuda.Stream(device)
        self._computed = torch.cuda.Event()
        self._sampled = torch.cuda.Event()
        self._prepared = torch.cuda.Event()
        self._fetched = torch.cuda.Event()
        self.inputs = SideStream(self.caller, self._prepares, self._computed)
        self.sampling_inputs = SideStream(self.caller, self._prepares, self._sampled)
        self.fetching = SideStream(self.caller, self._fetches, self._sampled)

    def pass_ends(self) -> None:
        """Record that all launches that read the inputs of this pass were made."""
        self._computed.record(self.caller)

    def sampling_ends(self) -> None:
        """Record that all launches that read or change the inputs of this sampling were made."""
        self._sampled.record(self.caller)

    def wait_for_inputs(self) -> None:
        """Make the caller's stream wait for all inputs prepared so far."""
        self._prepared.record(self._prepares)
        self.caller.wait_event(self._prepared)

    def wait_for_fetches(self) -> None:
        """Make the caller's stream wait for all copies of sampled tokens that were started so far."""
        self._fetched.record(self._fetches)
        self.caller.wait_event(self._fetched)
