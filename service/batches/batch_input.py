"""The input file of a batch: one request for each line.

Does: check every line, report all mistakes up to a bound, and turn lines into rows. Does not: check the bodies, which
the route of each request does when it is answered.
"""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pydantic
from intaglio.grammar.api import InvalidJson, parse_json
from intaglio.schemas.openai.batches import BatchFault, BatchFaults, BatchLine

from ..file_kind import HEAD, kind_of
from ..jobs.records.row import NewRow

MAX_REQUESTS: Final = 50_000
MAX_FAULTS: Final = 20
MAX_LINE_BYTES: Final = 8 * 1024 * 1024
_DEPTH: Final = 128
_REASONS: Final = {
    "model_type": "the line is not a JSON object",
    "missing": "this field is required",
    "extra_forbidden": "there is no such field",
}


def check_lines(path: Path, endpoint: str) -> BatchFaults | None:
    """The mistakes in a file of requests to `endpoint`; None if it has none."""
    faults: list[BatchFault] = []
    seen: set[str] = set()
    count = 0
    for number, line in _lines(path):
        count += 1
        if count > MAX_REQUESTS:
            reason = f"a batch has at most {MAX_REQUESTS} requests"
            faults.append(BatchFault(code="too_many_requests", message=reason, line=number))
            break
        fault = _fault(number, line, endpoint, seen)
        if fault is not None:
            faults.append(fault)
            if len(faults) == MAX_FAULTS:
                break
    if not count:
        faults.append(BatchFault(code="empty_file", message="the file has no requests"))
    return BatchFaults(data=faults) if faults else None


def rows_of(path: Path) -> Iterator[NewRow]:
    """The requests of a file that has been checked, in order, numbered from 1."""
    for number, (_, text) in enumerate(_lines(path), start=1):
        line = BatchLine.model_validate(parse_json(text.decode(), depth=_DEPTH))
        yield NewRow(number, line.custom_id, json.dumps(line.body, ensure_ascii=False))


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    """Lines that are not blank, with their numbers; of a longer line, one byte more than is allowed."""
    with path.open("rb") as file:
        number = 0
        while line := file.readline(MAX_LINE_BYTES + 1):
            number += 1
            rest = line
            while not rest.endswith(b"\n") and (rest := file.readline(MAX_LINE_BYTES)):
                pass
            if line.strip():
                yield number, line.removesuffix(b"\n").removeprefix(b"\xef\xbb\xbf")


def _fault(number: int, text: bytes, endpoint: str, seen: set[str]) -> BatchFault | None:
    """The mistake in a line; None if it has none. `seen` are the ids before it."""
    if len(text) > MAX_LINE_BYTES:
        reason = f"a request has at most {MAX_LINE_BYTES} bytes"
        return BatchFault(code="request_too_large", message=reason, line=number)
    try:
        line = BatchLine.model_validate(parse_json(text.decode(), depth=_DEPTH), strict=True)
    except UnicodeDecodeError:
        found = kind_of(text[:HEAD])
        reason = "the line is not UTF-8" if found is None else f"the file is {found.name}, not text"
        return BatchFault(code="invalid_json_line", message=reason, line=number)
    except InvalidJson as error:
        reason = f"the line is not JSON: {error}"
        param = ".".join(map(str, error.place or ())) or None
        return BatchFault(code="invalid_json_line", message=reason, line=number, param=param)
    except pydantic.ValidationError as error:
        cause = error.errors(include_url=False, include_input=False, include_context=False)[0]
        param = ".".join(str(part) for part in cause["loc"]) or None
        reason = _REASONS.get(cause["type"]) or cause["msg"].removeprefix("Input ")
        return BatchFault(code="invalid_request_line", message=reason, line=number, param=param)
    if line.url != endpoint:
        reason = f"the url is not the endpoint of the batch, {endpoint}"
        return BatchFault(code="mismatched_endpoint", message=reason, line=number, param="url")
    if line.body.get("stream"):
        reason = "the answers of a batch are not streamed"
        return BatchFault(code="stream_refused", message=reason, line=number, param="body.stream")
    if line.custom_id in seen:
        reason = "another request has this custom_id"
        return BatchFault(
            code="duplicate_custom_id", message=reason, line=number, param="custom_id"
        )
    seen.add(line.custom_id)
    return None
