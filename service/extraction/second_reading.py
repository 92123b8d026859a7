"""The request for a second reading: the same prompt once more, with some chance in the choice of tokens.

Does: make the request. Does not: run it, or compare the readings (`grounding/agreement`).

The prompt of the first reading is in the prefix cache by then, so a second reading costs little more than its answer.
"""

import time
from dataclasses import replace
from typing import Final
from uuid import uuid4

from intaglio.engine.api import Finish, Request

from ..errors import RequestDeadlineExceeded
from .engine_output import EngineOutput
from .extract import Prepared

TEMPERATURE: Final = 0.7
"""Of a second reading, where the first took the most likely tokens."""


def second_request(prepared: Prepared, first: EngineOutput) -> Request | None:
    """The request for the second reading of a document; None if none is asked for, or the first one has failed.

    Raises:
        RequestDeadlineExceeded: no time is left for it.
    """
    if prepared.report.confidence != "second_reading" or first.finish is not Finish.STOP:
        return None
    given = prepared.request.sampling
    sampling = replace(
        given,
        temperature=given.temperature or TEMPERATURE,
        seed=0 if given.seed is None else given.seed + 1,
        logprobs=None,
        masked_share=False,
    )
    return replace(
        prepared.request,
        id=uuid4().hex,
        sampling=sampling,
        deadline=time_left(prepared, "second reading"),
    )


def time_left(prepared: Prepared, reading: str) -> float | None:
    """The seconds left for a further reading of the document; None without a deadline.

    Raises:
        RequestDeadlineExceeded: there are none.
    """
    deadline = prepared.deadline_s
    if deadline is None:
        return None
    left = prepared.started + deadline - time.perf_counter()
    if left > 0:
        return left
    raise RequestDeadlineExceeded(
        f"the {reading} was not complete after {deadline:g} s",
        param="options.deadline_s",
        hint="raise deadline_s, or ask for one reading only",
    )
