"""The engine as its callers see it: threads, waiting, failing and closing."""

import threading
import time
from collections.abc import Callable

import pytest
from intaglio.engine import outputs
from intaglio.engine.config import SchedulerConfig
from intaglio.engine.errors import EngineStopped, InternalError, InvalidRequest
from intaglio.engine.grammars.constraints import Constraints
from intaglio.engine.host.messages import Deltas, encode
from intaglio.engine.loop import Engine
from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.metrics import Snapshot
from intaglio.engine.schedule.admission import RequestLimits
from intaglio.engine.schedule.scheduler import Scheduler
from intaglio.engine.types import Delta, Finish, Request, SamplingParams
from intaglio.grammar.api import empty_rows

from tests.support import plain_engine
from tests.support.scripted import (
    END_TOKENS,
    FAULTS,
    VOCAB,
    Script,
    ScriptedCompiler,
    ScriptedExecutor,
)


class Rig:
    """An engine over scripted parts, on the real clock."""

    def __init__(self, *, blocks: int = 200, max_waiting: int = 1000) -> None:
        config = SchedulerConfig(max_batched_tokens=64, max_running=16, max_waiting=max_waiting)
        memory = KVManager(BlockPool(blocks), 4)
        limits = RequestLimits(max_context=256, vocab_size=VOCAB, end_tokens=END_TOKENS)
        self.compiler = ScriptedCompiler()
        self.executor = ScriptedExecutor(blocks, 4, 64)
        self.engine = Engine(
            Scheduler(config, memory, limits, time.monotonic),
            Constraints(self.compiler, end_tokens=END_TOKENS, rows=empty_rows(32, VOCAB)),
            self.executor,
        )

    def finish(self) -> dict[str, list[Delta]]:
        """Every delta up to idleness, by request."""
        told: dict[str, list[Delta]] = {}
        for delta in self.engine.run_until_idle():
            told.setdefault(delta.request_id, []).append(delta)
        self.engine.check()
        return told


def request(
    name: str,
    *,
    prompt: int = 3,
    max_tokens: int = 12,
    script: Script | None = None,
    deadline: float | None = None,
) -> Request:
    return Request(
        id=name,
        prompt=tuple(2 + (len(name) * 7 + n) % 30 for n in range(prompt)),
        sampling=SamplingParams(max_tokens=max_tokens),
        constraint=None if script is None else script.constraint,
        deadline=deadline,
    )


def outcome(told: list[Delta]) -> plain_engine.Outcome:
    tokens = tuple(token for delta in told for token in delta.tokens)
    end = told[-1]
    assert end.finish is not None
    return plain_engine.Outcome(tokens, end.finish, end.error.code if end.error else "")


def test_a_batch_gives_what_each_would_alone() -> None:
    rig = Rig()
    requests = [request("r" * n, prompt=n) for n in range(1, 30)]
    for one in requests:
        rig.engine.submit(one)
    told = rig.finish()
    assert {name: outcome(deltas) for name, deltas in told.items()} == {
        one.id: plain_engine.run(one) for one in requests
    }
    assert rig.executor.seen.most_works == 16
    assert rig.engine.metrics().most_sequences == 16


def test_what_is_refused_is_told_as_its_only_delta() -> None:
    rig = Rig(max_waiting=1)
    rig.engine.submit(request("ok"))
    rig.engine.submit(request("full"))
    rig.engine.submit(request("long", prompt=300))
    told = rig.finish()
    assert [outcome(told[name]).code for name in ("full", "long")] == [
        "queue_full",
        "context_length_exceeded",
    ]
    error = told["full"][0].error
    assert error is not None
    assert error.retryable
    assert told["long"][0].usage is not None
    assert told["long"][0].usage.prompt_tokens == 300
    assert outcome(told["ok"]) == plain_engine.run(request("ok"))


def test_an_id_is_free_again_after_its_final_delta() -> None:
    rig = Rig()
    rig.engine.submit(request("a"))
    with pytest.raises(InvalidRequest, match="in use"):
        rig.engine.submit(request("a"))
    first = outcome(rig.finish()["a"])
    rig.engine.submit(request("a"))
    assert outcome(rig.finish()["a"]) == first


def test_an_abort_ends_a_request_and_only_that() -> None:
    rig = Rig()
    for name in ("a", "bb"):
        rig.engine.submit(request(name))
    deltas = rig.engine.step()
    rig.engine.abort("a")
    rig.engine.abort("never seen")
    told = rig.finish()
    assert outcome(told["a"]) == plain_engine.Outcome((), Finish.ABORT)
    rig.engine.abort("a")  # it has ended: nothing happens
    assert not rig.engine.has_work
    first = [delta for delta in deltas if delta.request_id == "bb"]
    assert outcome(first + told["bb"]) == plain_engine.run(request("bb"))


def test_a_late_grammar_wakes_an_engine_that_sleeps() -> None:
    rig = Rig()
    rig.engine.submit(request("a", script=Script(3, 4)))
    rig.engine.step()
    assert not rig.engine.has_work
    assert rig.engine.open_requests == 1
    timer = threading.Timer(0.05, rig.compiler.finish, [lambda _: 0])
    timer.start()
    told = rig.finish()
    timer.join()
    assert outcome(told["a"]) == plain_engine.run(request("a", script=Script(3, 4)))


def test_a_deadline_wakes_an_engine_that_sleeps() -> None:
    rig = Rig()
    rig.engine.submit(request("a", script=Script(3, 4), deadline=0.05))
    assert outcome(rig.finish()["a"]).finish is Finish.DEADLINE


def test_waiting_ends_when_something_arrives() -> None:
    rig = Rig()
    threading.Timer(0.02, rig.engine.submit, [request("a")]).start()
    rig.engine.wait(60)
    assert rig.engine.has_work
    rig.engine.wait(60)  # there is work: no waiting
    rig.finish()


def test_a_cached_grammar_costs_no_step() -> None:
    rig = Rig()
    rig.compiler.at_once = True
    rig.engine.submit(request("a", script=Script(3, 4)))
    deltas = rig.engine.step()
    assert deltas[0].tokens != ()


def test_many_threads_can_talk_to_it() -> None:
    rig = Rig()
    rig.compiler.at_once = True
    requests = [
        [request(f"{'x' * n}-{thread}", script=Script(n, 5) if n % 3 else None) for n in range(25)]
        for thread in range(4)
    ]

    def talk(mine: list[Request]) -> None:
        for number, one in enumerate(mine):
            rig.engine.submit(one)
            if number % 5 == 4:
                rig.engine.abort(mine[number - 1].id)

    threads = [threading.Thread(target=talk, args=(mine,)) for mine in requests]
    for thread in threads:
        thread.start()
    told: dict[str, list[Delta]] = {}
    while any(thread.is_alive() for thread in threads) or rig.engine.open_requests:
        for delta in rig.engine.step():
            told.setdefault(delta.request_id, []).append(delta)
        rig.engine.check()
        rig.engine.wait(0.01)
    for one in (one for mine in requests for one in mine):
        end, plain = outcome(told[one.id]), plain_engine.run(one)
        assert sum(delta.finish is not None for delta in told[one.id]) == 1
        if end.finish is Finish.ABORT:
            assert end.tokens == plain.tokens[: len(end.tokens)]
        else:
            assert end == plain


@pytest.mark.parametrize("fault", FAULTS)
def test_a_broken_grammar_ends_its_own_request_only(fault: str) -> None:
    rig = Rig()
    rig.compiler.at_once = True
    good = request("good", script=Script(3, 8, tells_least=False))
    rig.engine.submit(good)
    rig.engine.submit(request("bad", script=Script(5, 8, tells_least=False, fault=fault, at=1)))
    rig.engine.submit(request("free"))
    told = rig.finish()
    assert outcome(told["bad"]).code == "internal_error"
    encode(Deltas(tuple(told["bad"])))  # whatever the fault says, it can be sent
    assert outcome(told["good"]) == plain_engine.run(good)
    assert outcome(told["free"]) == plain_engine.run(request("free"))
    assert rig.engine.metrics().free_blocks == rig.engine.metrics().blocks


def boom(*_: object) -> None:
    raise OSError("the device is gone")


def fail_in(part: str) -> Callable[[Rig, pytest.MonkeyPatch], None]:
    def arrange(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
        owner, name = {
            "forward": (rig.executor, "forward"),
            "sample": (rig.executor, "sample"),
            "deliver": (rig.engine._inbox, "deliver"),
            "plan": (rig.engine._scheduler, "plan"),
            "masks": (rig.engine._constraints, "masks"),
            "advance": (rig.engine._constraints, "advance"),
            "commit": (rig.engine._scheduler, "commit"),
            "forget": (rig.engine._constraints, "forget"),
            "deltas": (outputs, "deltas"),
            "record": (rig.engine._metrics, "record"),
            "mark_ended": (rig.engine._inbox, "mark_ended"),
        }[part]
        monkeypatch.setattr(owner, name, boom)

    return arrange


@pytest.mark.parametrize(
    "part",
    [
        *("deliver", "plan", "forward", "masks", "sample", "advance"),
        *("commit", "forget", "deltas", "record", "mark_ended"),
    ],
)
def test_wherever_a_step_fails_everybody_is_told_once(
    part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    rig = Rig()
    ends: list[str] = []
    for name in ("a", "bb", "ccc"):
        rig.engine.submit(request(name, max_tokens=2 if name == "a" else 12))
    ends += [d.request_id for d in rig.engine.step() if d.finish]
    rig.engine.submit(request("new"))
    fail_in(part)(rig, monkeypatch)
    failed = rig.engine.step()
    for delta in failed:
        assert delta.finish is Finish.ERROR
        assert delta.usage is not None
        assert delta.error is not None
        assert "OSError: the device is gone" in delta.error.message
    ends += [delta.request_id for delta in failed]
    with pytest.raises(EngineStopped) as caught:
        rig.engine.step()
    assert isinstance(caught.value.__cause__, OSError)
    assert sorted(ends) == ["a", "bb", "ccc", "new"]
    with pytest.raises(EngineStopped):
        rig.engine.submit(request("later"))
    assert rig.engine.open_requests == 0


def test_closing_ends_everybody_and_wakes_who_waits() -> None:
    rig = Rig()
    for name in ("a", "bb"):
        rig.engine.submit(request(name))
    rig.engine.step()
    deltas = rig.engine.close()
    assert {(d.request_id, d.error.code if d.error else "") for d in deltas} == {
        ("a", "engine_stopped"),
        ("bb", "engine_stopped"),
    }
    assert all(d.usage is not None and d.usage.output_tokens == 1 for d in deltas)
    assert rig.engine.close() == []
    rig.engine.abort("a")
    with pytest.raises(EngineStopped):
        rig.engine.step()


def test_a_request_that_would_end_twice_stops_the_engine() -> None:
    rig = Rig()
    rig.engine.submit(request("a"))
    (delta,) = rig.engine.close()
    with pytest.raises(InternalError, match="ends twice"):
        rig.engine._inbox.mark_ended([delta])


def test_the_numbers_add_up() -> None:
    rig = Rig()
    rig.compiler.at_once = True
    assert rig.engine.metrics().free_blocks == 199
    requests = [request("r" * n, script=Script(n, 6) if n % 2 else None) for n in range(1, 9)]
    for one in requests:
        rig.engine.submit(one)
    told = rig.finish()
    usages = [deltas[-1].usage for deltas in told.values()]
    seen: Snapshot = rig.engine.metrics()
    assert seen.prompt_tokens == sum(u.prompt_tokens for u in usages if u)
    assert seen.output_tokens == sum(u.output_tokens for u in usages if u)
    assert seen.forced_tokens == sum(u.forced_tokens for u in usages if u) > 0
    assert sum(seen.finished.values()) == 8
    assert seen.computed_tokens == rig.executor.seen.tokens
    assert seen.steps == rig.executor.seen.steps
    assert (seen.running, seen.waiting, seen.parked) == (0, 0, 0)
    assert seen.last_step is not None
    assert seen.last_step.step == seen.steps
    assert all(seen.seconds[part] > 0 for part in ("plan", "forward", "mask", "sample", "commit"))
