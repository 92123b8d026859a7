"""The free reading of a document: an answer without a constraint, which becomes the draft of the constrained one.

Does: make the request for it, and give the constrained request its draft. Does not: run requests, or write drafts
(`draft_text`).
"""

from dataclasses import replace
from uuid import uuid4

from intaglio.engine.api import EngineStopped, Finish, Request

from ..errors import RequestDeadlineExceeded
from .draft_text import draft_tokens
from .engine_output import EngineOutput
from .extract import Prepared
from .failures import request_error
from .second_reading import time_left
from .text_model import TextModel


def free_request(prepared: Prepared) -> Request | None:
    """The request for the free reading before `prepared.request`; None if none is asked for.

    It has the prompt, the seed and the sampling of that request, so that both readings draw alike.
    """
    if prepared.free_tokens is None:
        return None
    given = prepared.request.sampling
    sampling = replace(
        given,
        max_tokens=min(prepared.free_tokens, given.max_tokens),
        logprobs=None,
        masked_share=False,
    )
    return replace(
        prepared.request, id=uuid4().hex, sampling=sampling, constraint=None, limits=None
    )


def with_draft(prepared: Prepared, free: EngineOutput, text: TextModel) -> Prepared:
    """`prepared` after its free reading: its request has the draft, and the time that is left.

    Raises:
        RequestDeadlineExceeded, EngineStopped: the free reading was not complete.
        EngineError, GenerationFailed: the engine reported a failure.
    """
    if free.error is not None and free.finish is Finish.ERROR:
        raise request_error(free.error)
    if free.finish is Finish.DEADLINE:
        raise RequestDeadlineExceeded(
            f"the free reading was not complete after {prepared.request.deadline:g} s",
            param="options.deadline_s",
            hint="raise deadline_s, or leave draft out",
        )
    if free.finish not in (Finish.STOP, Finish.LENGTH):
        raise EngineStopped("the engine aborted the request", hint="try again")
    constraint = prepared.request.constraint
    draft: tuple[int, ...] = ()
    if constraint is not None:
        draft = draft_tokens(text.text(free.tokens), constraint, text.tokenizer.canonical)
    left = time_left(prepared, "constrained reading")
    request = replace(prepared.request, draft=draft, deadline=left)
    return replace(prepared, request=request, free_tokens=None, free_usage=free.usage)
