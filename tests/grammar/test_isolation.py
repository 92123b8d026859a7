"""Hostile constraints may end the process that examines them, and nothing else."""

import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import psutil
import pytest
from intaglio.grammar.api import (
    Compiler,
    CompilerBusy,
    Constraint,
    ExaminationPool,
    Kind,
    WorkerFailure,
    WorkerLimits,
    explain,
)
from intaglio.grammar.intake.channel import ChildLimits, encode_start, receive, send
from intaglio.grammar.intake.isolation import WORKER
from intaglio.grammar.intake.verdict import encode_constraint
from intaglio.grammar.intake.worker import ANSWER, END, EXAMINE, FORK, ORDER

from tests.support.faulty_worker import ENTRY
from tests.support.live_processes import commands, has_ended
from tests.support.tokens import small

# `wall_s` is long enough for what is quick, even where the machine stops for a while.
LIMITS = WorkerLimits(wall_s=4.0, cpu_s=0.5, memory=256 << 20)


def regex(source: str) -> Constraint:
    return Constraint(Kind.REGEX, source)


def processes() -> list[psutil.Process]:
    """The zygotes and their children."""
    found: list[psutil.Process] = psutil.Process().children(recursive=True)
    return found


def started(before: list[psutil.Process]) -> list[psutil.Process]:
    """Those that were not there before."""
    return [
        process
        for process, command in commands(recursive=True).items()
        if process not in before and any("worker" in word for word in command)
    ]


def used() -> float:
    """Processor time of the zygotes and their children."""
    total = 0.0
    for process in processes():
        with suppress(psutil.NoSuchProcess):
            times = process.cpu_times()
            total += times.user + times.system
    return total


def until(fact: Callable[[], bool]) -> None:
    for _ in range(6000):
        if fact():
            return
        time.sleep(0.02)
    raise AssertionError("it did not come about")


@pytest.fixture(scope="module")
def isolated() -> Iterator[ExaminationPool]:
    made = ExaminationPool(small().vocabulary(), LIMITS, entry=ENTRY)
    made.start()
    yield made
    made.close()


def fine(isolated: ExaminationPool, number: int = 1) -> bool:
    return isolated.examine(regex(f"b{{{number}}}")).shortest == b"b" * number


def test_verdicts_come_back_whole(isolated: ExaminationPool) -> None:
    assert fine(isolated)
    refused = isolated.examine(
        Constraint(Kind.JSON_SCHEMA, '{"properties": {"a": {"$ref": "#/b"}}}')
    )
    assert refused.code == "invalid_constraint" or refused.refusals
    assert refused.final
    never = isolated.examine(
        Constraint(Kind.JSON_SCHEMA, '{"type": "string", "minLength": 2, "enum": ["a"]}')
    )
    assert never.code == "unsatisfiable_constraint"
    grammar = isolated.examine(Constraint(Kind.EBNF, 'root ::= "x"'))
    assert grammar.code is None


@pytest.mark.parametrize("fault", ["!segfault", "!abort", "!exit", "!eat"])
def test_a_constraint_that_ends_its_process_is_too_large(
    isolated: ExaminationPool, fault: str
) -> None:
    assert fine(isolated)
    before = {process.pid for process in processes()}
    if fault == "!exit":  # an orderly end is nobody's limit
        with pytest.raises(WorkerFailure, match="log"):
            isolated.examine(regex(fault))
    else:
        verdict = isolated.examine(regex(fault))
        assert verdict.code == "constraint_too_large"
        assert not verdict.final
        assert verdict.refusals[0].hint
    assert fine(isolated), "the next is served"
    assert len({process.pid for process in processes()} & before) == len(before) - 1


def test_a_process_that_takes_too_long_is_no_verdict(isolated: ExaminationPool) -> None:
    """One that sleeps; one that computes is in the test of what is used after that."""
    assert fine(isolated)
    before = {process.pid for process in processes()}
    with pytest.raises(CompilerBusy, match="try again"):
        isolated.examine(regex("!sleep"))
    assert fine(isolated), "the next is served"
    assert len({process.pid for process in processes()} & before) == len(before) - 1


def test_a_bug_is_not_the_fault_of_a_constraint(isolated: ExaminationPool) -> None:
    with pytest.raises(WorkerFailure, match="log"):
        isolated.examine(regex("!bug"))
    assert fine(isolated)


def test_after_a_time_out_no_processor_is_used(isolated: ExaminationPool) -> None:
    children = {process.pid for process in processes()}
    with pytest.raises(CompilerBusy, match="try again"):
        isolated.examine(regex("!deaf"))
    assert fine(isolated), "the next is served"
    assert len({process.pid for process in processes()} & children) == len(children) - 1
    assert isolated.examine(regex("!eat")).code == "constraint_too_large"
    before = processes()

    def at_rest() -> bool:
        begun = used()
        time.sleep(0.5)
        return used() - begun <= 0.02

    until(at_rest)
    assert processes() == before
    assert max(process.memory_info().rss for process in processes()) < 700 << 20


def test_others_are_answered_meanwhile(isolated: ExaminationPool) -> None:
    refused: list[CompilerBusy] = []

    def ask() -> None:
        with pytest.raises(CompilerBusy) as raised:
            isolated.examine(regex("!sleep"))
        refused.append(raised.value)

    slow = threading.Thread(target=ask)
    slow.start()
    answered = 0
    while True:
        assert fine(isolated, answered % 50 + 1)
        if not slow.is_alive():
            break
        answered += 1
        time.sleep(0.02)
    assert answered > 0
    assert len(refused) == 1


def test_many_kills_in_a_row_leave_nothing_behind(isolated: ExaminationPool) -> None:
    assert fine(isolated)
    before, files = len(processes()), len(list(Path("/proc/self/fd").iterdir()))
    for number in range(30):
        fault = ("!segfault", "!abort")[number % 2]
        assert isolated.examine(regex(fault)).code == "constraint_too_large"
        assert fine(isolated)
    assert len(processes()) == before
    assert len(list(Path("/proc/self/fd").iterdir())) == files


def test_a_child_that_dies_while_it_waits_costs_nobody_anything(isolated: ExaminationPool) -> None:
    assert fine(isolated)
    (zygote,) = [process for process in processes() if process.children()]
    children = zygote.children()
    assert children
    for process in children:
        process.kill()
    until(lambda: all(map(has_ended, children)))
    assert fine(isolated)


def test_the_first_process_is_replaced_where_it_dies(isolated: ExaminationPool) -> None:
    assert fine(isolated)
    zygotes = [process for process in processes() if process.children()]
    assert len(zygotes) == 1
    zygotes[0].kill()
    zygotes[0].wait(60)
    assert fine(isolated)
    assert isolated.examine(regex("!segfault")).code == "constraint_too_large"
    assert fine(isolated)


def test_a_late_child_is_killed_though_another_process_has_replaced_its_parent() -> None:
    """Of two constraints that never end, the first takes that child, the second one of the new process."""
    before = processes()
    made = ExaminationPool(small().vocabulary(), LIMITS, entry=ENTRY)
    made.start()
    zygote, child = started(before)
    zygote.kill()
    zygote.wait(60)

    def ask() -> None:
        with pytest.raises(CompilerBusy):
            made.examine(regex("!sleep"))

    callers = [threading.Thread(target=ask) for _ in range(2)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    until(lambda: has_ended(child))
    assert fine(made), "the next is served"
    made.close()
    assert started(before) == []


def test_a_process_that_starts_while_the_pool_is_closed_is_ended(
    capfd: pytest.CaptureFixture[str],
) -> None:
    made = ExaminationPool(small().vocabulary(), LIMITS, entry=ENTRY)
    starts: list[str] = []

    def close(event: str, _arguments: object) -> None:
        if event == "subprocess.Popen" and not starts:
            starts.append(event)
            made.close()

    before = processes()
    sys.addaudithook(close)
    with pytest.raises(WorkerFailure, match="closed"):
        made.examine(regex("a"))
    assert starts
    assert started(before) == []
    assert capfd.readouterr().err == ""


def test_processes_end_in_order_though_their_parent_does_not_wait_for_an_answer() -> None:
    """Neither the child that has an answer for it, nor the process that forks for it, fails."""
    ours, theirs = socket.socketpair()
    with theirs:
        zygote = subprocess.Popen(
            [sys.executable, "-P", "-c", WORKER], stdin=theirs.fileno(), stderr=subprocess.PIPE
        )
    limits = ChildLimits(LIMITS.memory, LIMITS.cpu_s)
    send(ours, encode_start(limits, small().vocabulary()))
    assert receive(ours) == b"ready"
    mine, its = socket.socketpair()
    socket.send_fds(ours, [ORDER.pack(FORK, 0)], [its.fileno()])
    child = psutil.Process(ANSWER.unpack(ours.recv(ANSWER.size))[0])
    child.suspend()
    send(mine, EXAMINE + encode_constraint(regex("b")))
    mine.close()
    its.close()
    child.resume()
    until(lambda: has_ended(child))
    ours.sendall(ORDER.pack(END, child.pid))
    assert ANSWER.unpack(ours.recv(ANSWER.size)) == (0,)
    zygote.send_signal(signal.SIGSTOP)
    mine, its = socket.socketpair()
    socket.send_fds(ours, [ORDER.pack(FORK, 0)], [its.fileno()])
    ours.close()
    zygote.send_signal(signal.SIGCONT)
    with mine, its:
        assert zygote.communicate(timeout=60)[1] == b""
    assert zygote.returncode == 0


def test_closing_ends_all_and_takes_nothing_more() -> None:
    before = processes()
    made = ExaminationPool(small().vocabulary(), LIMITS)
    made.start()
    mine = [process for process in processes() if process not in before]
    assert mine
    stuck = threading.Thread(target=lambda: made.examine(regex("a")))
    stuck.start()
    stuck.join()
    made.close()
    made.close()
    psutil.wait_procs(mine, 60)
    assert not [process for process in mine if process.is_running()]
    with pytest.raises(WorkerFailure):
        made.examine(regex("a"))


def test_processes_end_with_their_parent() -> None:
    program = """
import sys, time
from intaglio.grammar.api import ExaminationPool, Vocabulary
isolated = ExaminationPool(Vocabulary(tuple(bytes([b]) for b in range(256)) + (None,), (256,), 257))
isolated.start()
print("ready", flush=True)
time.sleep(3600)
"""
    parent = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"ready\n"
    below = psutil.Process(parent.pid).children(recursive=True)
    assert len(below) == 2
    parent.send_signal(signal.SIGKILL)
    parent.communicate()
    assert psutil.wait_procs(below, 60)[1] == []


def test_a_real_explosion_is_cut_off(isolated: ExaminationPool) -> None:
    names = [f"p{number}" for number in range(3000)]
    schema = {"properties": {name: {"type": "string"} for name in names}, "required": names}
    try:
        verdict = isolated.examine(Constraint(Kind.JSON_SCHEMA, json.dumps(schema)))
        assert verdict.code in (None, "constraint_too_large")
    except CompilerBusy:
        pass  # half a second did not suffice for that work
    assert fine(isolated)


def test_an_explanation_comes_back_whole(isolated: ExaminationPool) -> None:
    source = '{"type": "object", "properties": {"a": {"type": "integer", "title": "t"}}, "required": ["a"]}'
    asked = Constraint(Kind.JSON_SCHEMA, source)
    here = explain(Compiler(small().vocabulary(), small().canonical), asked)
    there = isolated.explain(asked)
    assert there.findings == here.findings
    assert (there.shortest, there.typical, there.engine) == (
        here.shortest,
        here.typical,
        here.engine,
    )
    assert there.cost is not None
    refused = isolated.explain(Constraint(Kind.JSON_SCHEMA, '{"pattern": "(a)\\\\1"}'))
    assert refused.error is not None
    assert refused.error.refusals[0].where == "/pattern"
    heavy = {"anyOf": [{"pattern": f"(a|b)*a(a|b){{{n}}}"} for n in range(5, 17)]}
    try:
        cut = isolated.explain(Constraint(Kind.JSON_SCHEMA, json.dumps(heavy)))
        assert cut.error is None or cut.error.code == "constraint_too_large"
    except CompilerBusy:
        pass
    assert fine(isolated)
