"""The audit: one line an event, and no line changes unnoticed."""

import json
import multiprocessing
import stat
from pathlib import Path

import pytest
from intaglio.service.keys.audit_log import AuditHead, AuditLog, BrokenAudit, entries, verified
from intaglio.service.keys.store_errors import KeyStoreError

SECRET = b"s" * 32


def written(folder: Path, count: int) -> Path:
    log = AuditLog(folder, SECRET, clock=lambda: 5.0)
    for number in range(count):
        log.append("request", {"request_id": f"r{number}", "route": "/v1/extract"})
    log.close()
    return folder / "audit.jsonl"


def test_a_file_that_nothing_changed_verifies(tmp_path: Path) -> None:
    file = written(tmp_path, 50)
    head = verified(tmp_path, SECRET)
    assert head.lines == 50
    assert [entry["request_id"] for entry in entries(tmp_path)] == [f"r{n}" for n in range(50)]
    assert json.loads(file.read_bytes().splitlines()[-1])["code"] == head.code
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("fault", ["change", "drop", "swap", "repeat", "forge", "first"])
def test_each_change_is_found(tmp_path: Path, fault: str) -> None:
    file = written(tmp_path, 20)
    lines = file.read_bytes().splitlines(keepends=True)
    if fault == "change":
        lines[7] = lines[7].replace(b"/v1/extract", b"/v1/explain")
    elif fault == "drop":
        del lines[7]
    elif fault == "swap":
        lines[7], lines[8] = lines[8], lines[7]
    elif fault == "repeat":
        lines.insert(7, lines[7])
    elif fault == "forge":
        (tmp_path / "forged").mkdir()
        AuditLog(tmp_path / "forged", b"another secret").append("request", {})
        lines[0] = (tmp_path / "forged" / "audit.jsonl").read_bytes()
    else:
        del lines[0]
    file.write_bytes(b"".join(lines))
    with pytest.raises(BrokenAudit, match="line"):
        verified(tmp_path, SECRET)


def test_every_single_bit_counts(tmp_path: Path) -> None:
    file = written(tmp_path, 2)
    whole = file.read_bytes()
    for position in range(len(whole)):
        file.write_bytes(whole[:position] + bytes([whole[position] ^ 1]) + whole[position + 1 :])
        with pytest.raises(BrokenAudit):
            verified(tmp_path, SECRET)


def test_a_log_continues_where_it_ended_even_after_a_torn_line(tmp_path: Path) -> None:
    file = written(tmp_path, 3)
    with file.open("ab") as end:
        end.write(b'{"line":4,"at":1')
    with pytest.raises(BrokenAudit):
        verified(tmp_path, SECRET)
    written(tmp_path, 2)
    assert verified(tmp_path, SECRET).lines == 5


def test_a_last_line_of_something_else_stops_the_log(tmp_path: Path) -> None:
    with written(tmp_path, 3).open("ab") as end:
        end.write(b"something else\n")
    with pytest.raises(BrokenAudit):
        AuditLog(tmp_path, SECRET).append("request", {})


def test_a_missing_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyStoreError):
        verified(tmp_path, SECRET)
    (tmp_path / "audit.jsonl").mkdir()
    with pytest.raises(KeyStoreError):
        AuditLog(tmp_path, SECRET)


def _append(folder: Path, name: str) -> None:
    log = AuditLog(folder, SECRET)
    for number in range(500):
        log.append("request", {"request_id": f"{name}{number}"})


def test_processes_that_append_at_once_make_one_chain(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    processes = [context.Process(target=_append, args=(tmp_path, name)) for name in "abc"]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert verified(tmp_path, SECRET).lines == 1500
    assert len({entry["request_id"] for entry in entries(tmp_path)}) == 1500
    assert AuditHead() == AuditHead(0, "")
