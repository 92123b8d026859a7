"""Replies to the requests of a batch, as kept in the rows of the ledger and written to its files.

Does: turn a reply into the outcome of a row, and a row into a line of an output file. Does not: send requests.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from intaglio.schemas.problem import Code

from ..jobs.records.row import Claim, Failure, Outcome, RowResult
from ..jobs.tables import DEAD, DONE

REPLIED: Final = "reply"  # code of a failure that has a reply, as JSON, for its reason
_MAX_ATTEMPTS: Final = 4
_PAUSE_S: Final = 1.0


@dataclass(frozen=True, slots=True)
class Reply:
    """The response to one request. `body` is JSON."""

    status: int
    body: bytes
    request_id: str


def outcome_of(claim: Claim, reply: Reply, seconds: float, now: float) -> Outcome:
    """The outcome of a request. Overload and a lost engine are tried again; the first is not counted as an attempt."""
    if reply.status < 400:
        value = json.loads(reply.body)
        prompt, output = _tokens(value)
        return Outcome(
            claim,
            _kept(reply, value),
            prompt_tokens=prompt,
            output_tokens=output,
            seconds=seconds,
        )
    value = _parsed(reply.body)
    code = str(value.get("error", {}).get("code", "")) if isinstance(value, dict) else ""
    is_lost = code == Code.ENGINE_LOST
    if is_lost and claim.attempt < _MAX_ATTEMPTS:
        # The code marks the request as a suspect if it is lost again.
        failure = Failure(code, "the engine was lost", may_retry=True)
        return Outcome(claim, failure=failure, due=now)
    if reply.status in (429, 503) and not is_lost:
        failure = Failure(REPLIED, _kept(reply, value), may_retry=True, charged=False)
        return Outcome(claim, failure=failure, due=now + _PAUSE_S)
    return Outcome(claim, failure=Failure(REPLIED, _kept(reply, value)))


def line_of(batch: str, row: RowResult, *, expired: bool) -> tuple[bool, str] | None:
    """(whether the request succeeded, its line) of an ended request; None for one that has not ended.

    With `expired`, a request that has not ended has an error that says so.
    """
    line: dict[str, Any] = {
        "id": f"batch_req_{batch.removeprefix('batch_')}_{row.row}",
        "custom_id": row.id,
        "response": None,
        "error": None,
    }
    if row.state == DONE:
        line["response"] = row.data
    elif row.state == DEAD and row.failure is not None:
        if row.failure.code == REPLIED:
            line["response"] = json.loads(row.failure.reason)
        else:
            line["error"] = {"code": row.failure.code, "message": row.failure.reason}
    elif expired:
        line["error"] = {
            "code": "batch_expired",
            "message": "the request was not answered before the batch expired",
        }
    else:
        return None
    return row.state == DONE, json.dumps(line, ensure_ascii=False) + "\n"


def _kept(reply: Reply, value: Any) -> str:
    kept = {"status_code": reply.status, "request_id": reply.request_id, "body": value}
    return json.dumps(kept, ensure_ascii=False, separators=(",", ":"))


def _parsed(body: bytes) -> Any:
    try:
        return json.loads(body)
    except ValueError:
        return {}


def _tokens(value: Any) -> tuple[int, int]:
    """The token counts of an answer, in the names of chat completions or of responses."""
    usage = value.get("usage") if isinstance(value, Mapping) else None
    if not isinstance(usage, Mapping):
        return 0, 0
    prompt = usage.get("prompt_tokens", usage.get("input_tokens", 0))
    return prompt, usage.get("completion_tokens", usage.get("output_tokens", 0))
