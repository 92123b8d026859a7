"""The outcome of one timed request. Does: hold figures. Does not: measure or judge."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class TimedRequest:
    """One request. Times are in seconds.

    `at` runs from the start of the run to the arrival; `seconds` from the arrival to the end of the answer;
    `first_s` to the first part of a streamed output; `gaps` from part to part. `code` is `ok`, the code of an error
    document, or what went wrong instead of one. `document` is the position of the document in the workload.
    """

    document: int
    at: float
    seconds: float
    code: str
    output: str = ""
    first_s: float | None = None
    gaps: tuple[float, ...] = ()
    prompt_tokens: int = 0
    output_tokens: int = 0
