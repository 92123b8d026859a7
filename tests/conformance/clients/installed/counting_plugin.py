"""A plugin of pytest that counts outcomes and knows which refusals are right. Runs where the client is installed.

`CLIENTS_EXPECTED` names a JSON file of `{"pattern of test names": [status, "reason"]}`: such a test passes exactly if
the service answers it with that status. `CLIENTS_REPORT` names the file for the counts. `CLIENTS_FILES` are names of
files that the plugin uploads to `CLIENTS_URL` before each test.
"""

import fnmatch
import json
import os
import urllib.request
from collections import Counter
from collections.abc import Generator
from pathlib import Path
from typing import Any

import pytest

_EXPECTED = json.loads(Path(os.environ["CLIENTS_EXPECTED"]).read_text("utf-8"))
_counts: Counter[str] = Counter()
_failed: list[str] = []


@pytest.fixture(autouse=True)
def files_of_the_suite() -> None:
    for name in os.environ.get("CLIENTS_FILES", "").split():
        url = f"{os.environ['CLIENTS_URL']}/v1/files/{name}"
        request = urllib.request.Request(url, data=b"{}\n", method="PUT")
        urllib.request.urlopen(request, timeout=30).close()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[Any]
) -> Generator[None, Any, Any]:
    report = yield
    if call.when == "call":
        expected = _expected(item.nodeid)
        error = None if call.excinfo is None else call.excinfo.value
        status = getattr(error, "status_code", None)
        if type(error).__name__ == "APIResponseValidationError":
            _counts["validation_errors"] += 1
        if expected is None:
            _counts[report.outcome] += 1
        elif status == expected:
            report.outcome = "passed"
            _counts["refused_as_expected"] += 1
        else:
            report.outcome = "failed"
            report.longrepr = f"expected status {expected}, not {status}: {error}"
            _counts["failed"] += 1
        if report.outcome == "failed":
            _failed.append(item.nodeid)
    elif report.outcome == "skipped":
        _counts["skipped"] += 1
    elif report.outcome == "failed":
        _counts["failed"] += 1
        _failed.append(f"{item.nodeid} ({call.when})")
    return report


def pytest_sessionfinish() -> None:
    names = ("passed", "refused_as_expected", "skipped", "failed", "validation_errors")
    found: dict[str, Any] = {name: _counts[name] for name in names}
    found["failures"] = sorted(set(_failed))
    Path(os.environ["CLIENTS_REPORT"]).write_text(json.dumps(found), "utf-8")


def _expected(nodeid: str) -> int | None:
    """The status that a test should get; None if it should succeed."""
    name = nodeid.rpartition("/")[2]
    if "path_params" in name:
        return None  # refused by the client
    for pattern, (status, _) in _EXPECTED.items():
        if fnmatch.fnmatchcase(name, pattern):
            return int(status)
    return None
