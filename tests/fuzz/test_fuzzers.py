"""Short runs of the fuzzers: no request ends an engine. The long ones are commands, see their modules."""

from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.fuzz import api_fuzzer, engine_fuzzer, http_fuzzer
from tests.fuzz.api_requests import Sent
from tests.fuzz.effort import Effort


def test_no_request_ends_an_engine(tmp_path: Path) -> None:
    found = engine_fuzzer.run(15, Effort(requests=192), tmp_path)
    for tally in found.values():
        assert tally.sent > 0
        # Some requests ran, and some were refused.
        assert {"length", "invalid_request"} <= tally.ends.keys()


def test_no_body_ends_an_engine(tmp_path: Path) -> None:
    found = http_fuzzer.run(15, Effort(requests=128), tmp_path)
    assert {"ok", "invalid_request"} <= found.keys()


# starlette leaves the file of a form to the garbage collector if the form breaks off in its middle.
@pytest.mark.filterwarnings("ignore:Exception ignored in. <function SpooledTemporaryFile")
def test_no_spoilt_request_to_any_operation_is_answered_wrongly(tmp_path: Path) -> None:
    found = api_fuzzer.run(seed=15, cases=100, folder=tmp_path, context=512)
    assert found.faults == found.failures == found.leaks == []
    assert found.statuses["200"] > 10
    assert found.statuses["400"] > 20
    assert len(found.operations) > 30


def test_a_fault_in_an_answer_is_found() -> None:
    paths: dict[str, Any] = {"/x": {"post": {"responses": {"200": {}, "400": {}}}}}
    sent = Sent(("POST", "/x"), "POST", "/x")
    error = {"error": {"message": "no", "type": "invalid_request_error", "code": "invalid_request"}}
    told = {"error": {**error["error"], "message": "KeyError at 0x7f00aa11"}}

    def faults(status: int, body: Any) -> list[str]:
        return api_fuzzer.check(sent, httpx2.Response(status, json=body), paths)

    assert faults(200, {}) == faults(400, error) == []
    assert "5xx" in faults(500, error)
    assert "undocumented status 418" in faults(418, error)
    assert faults(400, {"detail": "no"}) == ["no error document"]
    assert len(faults(400, told)) == 1
