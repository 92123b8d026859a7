"""The engine's output for one request: gathered from its deltas, and checked to be complete.

Does: add up deltas, and turn every irregular end into an error. Does not: read the text of an output.
"""

import time
from dataclasses import dataclass, field

from intaglio.engine.api import Delta, EngineStopped, Failure, Finish, Request, TokenLogprob, Usage

from ..errors import Incomplete, RequestDeadlineExceeded
from .failures import request_error


@dataclass(slots=True)
class EngineOutput:
    """The output of one request so far. `first_token_s` is the time to first token in seconds."""

    started: float = field(default_factory=time.perf_counter)
    tokens: list[int] = field(default_factory=list)
    first_token_s: float | None = None
    finish: Finish | None = None
    usage: Usage | None = None
    error: Failure | None = None
    logprobs: list[TokenLogprob] = field(default_factory=list)

    def add(self, delta: Delta) -> None:
        """Append the next delta of the request."""
        if delta.tokens and self.first_token_s is None:
            # One message for the whole answer has no time of its first token; the engine's clocks do.
            engine = delta.usage
            self.first_token_s = (
                time.perf_counter() - self.started
                if engine is None
                else engine.queue_s + engine.prefill_s
            )
        self.tokens.extend(delta.tokens)
        self.logprobs.extend(delta.logprobs)
        self.finish, self.usage, self.error = delta.finish, delta.usage, delta.error


def require_complete(request: Request, output: EngineOutput, capacity: int) -> Usage:
    """The usage of an output that ended by itself. `capacity`: the most tokens of a prompt and its output.

    Raises:
        Incomplete, RequestDeadlineExceeded, EngineStopped: the output is not complete.
        GrammarError, EngineError, GenerationFailed: the engine reported a failure.
    """
    budget = request.sampling.max_tokens
    if output.finish is Finish.ERROR and output.error is not None:
        raise request_error(output.error)
    if output.finish is Finish.LENGTH:
        limit = capacity - len(request.prompt)
        raise Incomplete(
            f"the answer was not complete after {budget} tokens",
            param="options.max_tokens",
            hint=f"raise max_tokens (up to {limit} for this text)"
            if budget < limit
            else "shorten the text, or limit the schema's strings and arrays",
        )
    # With an error, the engine found that the deadline cannot be met.
    if output.finish is Finish.DEADLINE and output.error is not None:
        raise RequestDeadlineExceeded(
            output.error.message, param="options.deadline_s", hint=output.error.hint
        )
    if output.finish is Finish.DEADLINE:
        raise RequestDeadlineExceeded(
            f"the answer was not complete after {request.deadline:g} s",
            param="options.deadline_s",
            hint="raise deadline_s, or try again when the service has less load",
        )
    if output.finish is not Finish.STOP or output.usage is None:
        raise EngineStopped("the engine aborted the request", hint="try again")
    return output.usage
