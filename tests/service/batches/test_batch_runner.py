"""Batches from their input file to their output files: whole, once, and across every interruption."""

import asyncio
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
import pytest
from intaglio.schemas.openai.batches import BatchObject, BatchRequest, Endpoint
from intaglio.service.batches.answering import BatchTools, Pace
from intaglio.service.batches.batch_host import BatchHost
from intaglio.service.batches.batch_input import check_lines
from intaglio.service.batches.batch_ledger import WINDOW_S, BatchLedger, BatchOwner
from intaglio.service.batches.batch_runner import BatchRunner
from intaglio.service.batches.batch_tables import open_tables
from intaglio.service.batches.client_files import ClientFiles
from intaglio.service.batches.replies import Reply
from intaglio.service.jobs.folder import DataFolder
from intaglio.service.jobs.records.errors import JobChanged, TooManyJobs, UnknownFile, UnknownJob

PATH: Endpoint = "/v1/chat/completions"
ME = BatchOwner("me", "key-1", "salt")
PROCESS = Path(__file__).parents[2] / "support" / "batch_process.py"


class Bench:
    """The files and batches of a folder, with a clock that a test sets."""

    def __init__(self, folder: Path, quota: int = 1 << 30) -> None:
        engine = open_tables(str(folder / "jobs.db"))
        self.now = 1_000_000.0
        self.folder = DataFolder(folder, quota)
        self.files = ClientFiles(engine, self.folder, self.clock)
        self.ledger = BatchLedger(engine, self.clock)
        self.asked: list[tuple[str, Any, BatchOwner]] = []

    def clock(self) -> float:
        return self.now

    def upload(self, lines: Iterable[Any], tenant: str = "me") -> str:
        text = "".join(
            (line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines
        )
        return asyncio.run(
            self.files.add(_once(text), tenant=tenant, filename="in.jsonl", purpose="batch")
        )

    def create(self, lines: Iterable[Any], **more: Any) -> str:
        request = BatchRequest(
            input_file_id=self.upload(lines), endpoint=PATH, completion_window="24h", **more
        )
        return self.ledger.create(request, ME, "tiny", 100)

    def run(self, batch: str, respond: Callable[[Any], Reply] | None = None) -> BatchObject:
        answer = respond or echo

        async def reply(path: str, body: bytes, owner: BatchOwner) -> Reply:
            self.asked.append((path, json.loads(body), owner))
            return answer(json.loads(body))

        async def work() -> None:
            tools = BatchTools(
                ledger=self.ledger,
                respond=reply,
                offload=partial(anyio.to_thread.run_sync, limiter=anyio.CapacityLimiter(1)),
                pace=Pace(at_once=4, beat_s=0.0),
                clock=self.clock,
            )
            await BatchRunner(self.files, tools).run(batch)

        asyncio.run(work())
        return self.ledger.described(batch, "me")

    def lines(self, file_id: str | None) -> list[Any]:
        assert file_id is not None
        text = self.files.path(file_id, "me").read_text("utf-8")
        return [json.loads(line) for line in text.splitlines()]


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


def echo(body: Any) -> Reply:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    return Reply(200, json.dumps({"echo": body, "usage": usage}).encode(), "req_x")


def line(name: Any, **more: Any) -> dict[str, Any]:
    return {"custom_id": name, "method": "POST", "url": PATH, "body": {"x": name}, **more}


@pytest.fixture
def bench(tmp_path: Path) -> Bench:
    return Bench(tmp_path)


def test_every_request_has_its_answer_in_the_order_of_the_input(bench: Bench) -> None:
    batch = bench.create([line(f"r{n}") for n in range(1100)], metadata={"a": "b"})
    ended = bench.run(batch)
    assert (ended.status, ended.metadata, ended.model) == ("completed", {"a": "b"}, "tiny")
    assert ended.request_counts.model_dump() == {"total": 1100, "completed": 1100, "failed": 0}
    assert (ended.usage.input_tokens, ended.usage.total_tokens) == (3300, 5500)
    assert ended.error_file_id is None
    assert None not in (ended.in_progress_at, ended.finalizing_at, ended.completed_at)
    found = bench.lines(ended.output_file_id)
    assert [one["custom_id"] for one in found] == [f"r{n}" for n in range(1100)]
    assert len({one["id"] for one in found}) == 1100
    assert found[7]["error"] is None
    assert found[7]["response"]["status_code"] == 200
    assert found[7]["response"]["body"]["echo"] == {"x": "r7"}
    assert bench.asked[0] == (PATH, {"x": "r0"}, ME)
    described = bench.files.file(ended.output_file_id or "", "me")
    assert (described.purpose, described.filename) == ("batch_output", f"{batch}_output.jsonl")


def test_refused_requests_go_to_the_error_file_with_their_responses(bench: Bench) -> None:
    def respond(body: Any) -> Reply:
        refusal = Reply(400, b'{"error":{"message":"no","code":"invalid_request"}}', "req_y")
        return refusal if body["x"] == "bad" else echo(body)

    ended = bench.run(bench.create([line("good"), line("bad")]), respond)
    assert ended.status == "completed"
    assert ended.request_counts.model_dump() == {"total": 2, "completed": 1, "failed": 1}
    (failed,) = bench.lines(ended.error_file_id)
    assert failed["custom_id"] == "bad"
    assert failed["response"]["status_code"] == 400
    assert failed["response"]["body"]["error"]["message"] == "no"


@pytest.mark.parametrize(
    ("status", "code"), [(429, "overloaded"), (503, "not_ready"), (503, "engine_lost")]
)
def test_a_request_is_tried_again_when_it_is_not_at_fault(
    bench: Bench, status: int, code: str
) -> None:
    tries: Counter[str] = Counter()

    def respond(body: Any) -> Reply:
        bench.now += 2
        tries[body["x"]] += 1
        busy = Reply(status, json.dumps({"error": {"code": code}}).encode(), "req_z")
        return busy if tries[body["x"]] < 3 else echo(body)

    ended = bench.run(bench.create([line("a"), line("b")]), respond)
    assert ended.request_counts.completed == 2
    assert tries == {"a": 3, "b": 3}


def test_a_request_that_loses_every_engine_ends_alone(bench: Bench) -> None:
    def respond(body: Any) -> Reply:
        lost = Reply(503, b'{"error":{"code":"engine_lost"}}', "req_z")
        return lost if body["x"] == "poison" else echo(body)

    ended = bench.run(bench.create([line("poison"), line("b")]), respond)
    assert ended.request_counts.model_dump() == {"total": 2, "completed": 1, "failed": 1}
    (failed,) = bench.lines(ended.error_file_id)
    assert failed["response"]["body"]["error"]["code"] == "engine_lost"


@pytest.mark.parametrize(
    ("lines", "code", "number", "param"),
    [
        ([], "empty_file", None, None),
        (["", "  "], "empty_file", None, None),
        ([line("a"), "{"], "invalid_json_line", 2, None),
        ([line("a"), "\ud800".encode("utf-8", "surrogatepass").decode("latin-1")],
         "invalid_json_line", 2, None),
        ([line(7)], "invalid_request_line", 1, "custom_id"),
        ([line("a"), "", line("a")], "duplicate_custom_id", 3, "custom_id"),
        ([line("a", url="/v1/embeddings")], "mismatched_endpoint", 1, "url"),
        ([line("a", method="GET")], "invalid_request_line", 1, "method"),
        ([line("a", body=[])], "invalid_request_line", 1, "body"),
        ([line("a", body={"stream": True})], "stream_refused", 1, "body.stream"),
    ],
)  # fmt: skip
def test_a_faulty_file_fails_with_its_mistakes(
    bench: Bench, lines: list[Any], code: str, number: int | None, param: str | None
) -> None:
    ended = bench.run(bench.create(lines))
    assert ended.status == "failed"
    assert ended.failed_at is not None
    assert ended.errors is not None
    (fault,) = ended.errors.data
    assert (fault.code, fault.line, fault.param) == (code, number, param)
    assert bench.asked == []


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (b'{"custom_id": "a", "custom_id": "b"}', "key 'custom_id' occurs twice"),
        (b'{"body": ' + b"[" * 5000, "nested more than 128 levels deep"),
        (b"[1]", "the line is not a JSON object"),
        (b'{"custom_id": "a"}', "this field is required"),
        (gzip.compress(b"{}", mtime=0), "the file is packed with gzip, not text"),
        ("{}".encode("utf-16"), "the line is not UTF-8"),
    ],
)
def test_what_is_wrong_with_a_line_is_said_in_words(
    tmp_path: Path, text: bytes, words: str
) -> None:
    (tmp_path / "b.jsonl").write_bytes(text)
    faults = check_lines(tmp_path / "b.jsonl", "/v1/completions")
    assert faults is not None
    assert words in faults.data[0].message


def test_a_batch_fails_if_its_file_was_deleted(bench: Bench) -> None:
    batch = bench.create([line("a")])
    bench.files.delete(bench.ledger.stored(batch).request.input_file_id, "me")
    ended = bench.run(batch)
    assert ended.errors is not None
    assert ended.errors.data[0].code == "input_file_missing"


def test_a_cancelled_batch_keeps_what_was_answered(bench: Bench) -> None:
    batch = bench.create([line(f"r{n}") for n in range(100)])

    def respond(body: Any) -> Reply:
        if body["x"] == "r20":
            assert bench.ledger.cancel(batch, "me").status == "cancelling"
        return echo(body)

    ended = bench.run(batch, respond)
    assert ended.status == "cancelled"
    assert None not in (ended.cancelling_at, ended.cancelled_at)
    answered = {one["custom_id"] for one in bench.lines(ended.output_file_id)}
    assert len(answered) == ended.request_counts.completed
    assert 20 <= len(answered) < 100
    with pytest.raises(JobChanged):
        bench.ledger.cancel(batch, "me")


def test_an_expired_batch_says_which_requests_were_not_answered(bench: Bench) -> None:
    batch = bench.create([line(f"r{n}") for n in range(50)])

    def respond(body: Any) -> Reply:
        if body["x"] == "r9":
            bench.now += WINDOW_S
        return echo(body)

    ended = bench.run(batch, respond)
    assert (ended.status, ended.expired_at is None) == ("expired", False)
    done = {one["custom_id"] for one in bench.lines(ended.output_file_id)}
    late = {one["custom_id"]: one for one in bench.lines(ended.error_file_id)}
    assert late["r49"]["error"]["code"] == "batch_expired"
    assert sorted([*done, *late]) == sorted(f"r{n}" for n in range(50))


def test_a_batch_fails_if_its_files_exceed_the_quota(tmp_path: Path) -> None:
    bench = Bench(tmp_path, quota=200)
    ended = bench.run(bench.create([line("a")]))
    assert ended.errors is not None
    assert (ended.status, ended.errors.data[0].code) == ("failed", "output_refused")


def test_output_files_expire(bench: Bench) -> None:
    expiry: Any = {"anchor": "created_at", "seconds": 3600}
    ended = bench.run(bench.create([line("a")], output_expires_after=expiry))
    output = ended.output_file_id or ""
    assert bench.files.file(output, "me").expires_at == int(bench.now) + 3600
    bench.now += 3601
    with pytest.raises(UnknownFile):
        bench.files.file(output, "me")
    assert bench.files.delete_expired() == 1
    assert output not in bench.folder.names()


def test_another_tenant_sees_nothing(bench: Bench) -> None:
    batch = bench.create([line("a")])
    ended = bench.run(batch)
    with pytest.raises(UnknownJob):
        bench.ledger.described(batch, "other")
    with pytest.raises(UnknownJob):
        bench.ledger.cancel(batch, "other")
    assert bench.ledger.listing("other", None, 10) == ([], False)
    for file_id in (ended.input_file_id, ended.output_file_id or ""):
        with pytest.raises(UnknownFile):
            bench.files.path(file_id, "other")
        with pytest.raises(UnknownFile):
            bench.files.delete(file_id, "other")
    assert bench.files.files("other") == []
    assert len(bench.files.files("me")) == 2


def test_a_list_has_pages(bench: Bench) -> None:
    batches = [bench.create([line("a")]) for _ in range(5)]
    first, more = bench.ledger.listing("me", None, 3)
    assert ([one.id for one in first], more) == (batches[:1:-1], True)
    rest, more = bench.ledger.listing("me", first[-1].id, 3)
    assert ([one.id for one in rest], more) == (batches[1::-1], False)


def test_unfinished_batches_are_bounded(tmp_path: Path) -> None:
    host = BatchHost(tmp_path, DataFolder(tmp_path, 1 << 20), 1, lambda *_: None)
    file_id = Bench(tmp_path).upload([line("a")])
    request = BatchRequest(input_file_id=file_id, endpoint=PATH, completion_window="24h")
    host.create(request, ME, "tiny")
    with pytest.raises(TooManyJobs):
        host.create(request, ME, "tiny")


def test_no_request_is_lost_or_answered_twice_by_processes_that_are_killed(
    tmp_path: Path,
) -> None:
    bench = Bench(tmp_path)
    count, kills = 600, 3
    bench.now = time.time()
    batch = bench.create([line(f"r{n}") for n in range(count)])

    def process() -> subprocess.Popen[bytes]:
        return subprocess.Popen([sys.executable, "-P", str(PROCESS), str(tmp_path), "0.02"])

    for progress in _progress(bench, batch, kills):
        running = process()
        while not progress() and running.poll() is None:
            time.sleep(0.01)
        os.kill(running.pid, signal.SIGKILL)
        running.wait()
    assert process().wait() == 0
    ended = bench.ledger.described(batch, "me")
    assert ended.status == "completed"
    assert ended.request_counts.model_dump() == {"total": count, "completed": count, "failed": 0}
    found = bench.lines(ended.output_file_id)
    assert [one["custom_id"] for one in found] == [f"r{n}" for n in range(count)]
    asked = Counter((tmp_path / "answered").read_text().splitlines())
    assert len(asked) == count
    # What was in flight at a kill is asked again, and nothing else.
    assert sum(asked.values()) - count <= kills * (8 + 8)


def _progress(bench: Bench, batch: str, kills: int) -> Iterator[Callable[[], bool]]:
    """For each kill, whether it is time: first while the input is read, then at ever more answers."""
    yield lambda: bench.ledger.rows(batch).counts().rows > 0
    for number in range(1, kills):
        enough = number * 150
        yield lambda enough=enough: bench.ledger.rows(batch).counts().done >= enough  # type: ignore[misc]
