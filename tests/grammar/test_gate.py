"""Each constraint is examined once; the number and the time of waiting ones are bounded; verdicts are cached."""

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from intaglio.grammar.api import (
    CompilerBusy,
    Constraint,
    GateLimits,
    Kind,
    Refusal,
    Store,
    UnsupportedConstraint,
    Verdict,
    VerdictCache,
    screened,
)
from intaglio.grammar.intake.verdict import cut_off

LIMIT = 1 << 20


def regex(source: str) -> Constraint:
    return Constraint(Kind.REGEX, source)


class Examiner:
    """Finds what it is told to once `gate` is open, and counts."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.seen: list[str] = []
        self.verdict = Verdict(shortest=b"a", seconds=0.1)

    def __call__(self, constraint: Constraint) -> Verdict:
        self.seen.append(constraint.source)
        assert self.gate.wait(30)
        if constraint.source == "bug":
            raise ZeroDivisionError
        return self.verdict


@pytest.fixture
def examiner() -> Iterator[Examiner]:
    made = Examiner()
    yield made
    made.gate.set()


def test_all_who_ask_meanwhile_share_one_examination(examiner: Examiner) -> None:
    admission = VerdictCache(examiner)
    examiner.gate.clear()
    futures = [admission.submit(regex("a")) for _ in range(10)]
    assert not futures[0].cancel(), "others wait for it"
    examiner.gate.set()
    assert {id(future.result(10)) for future in futures} == {id(examiner.verdict)}
    admission.admit(regex("a"))
    assert examiner.seen == ["a"]
    admission.close()


def test_a_refusal_is_raised_anew_each_time(examiner: Examiner) -> None:
    examiner.verdict = Verdict("unsupported_constraint", "no", (Refusal("/a", "k", "r", "h"),))
    admission = VerdictCache(examiner)
    errors = []
    for _ in range(2):
        with pytest.raises(UnsupportedConstraint) as error:
            admission.admit(regex("a"))
        errors.append(error.value)
    assert errors[0] is not errors[1]
    assert errors[1].refusals[0].where == "/a"
    assert examiner.seen == ["a"]
    admission.close()


def test_no_more_wait_than_are_borne(examiner: Examiner) -> None:
    admission = VerdictCache(examiner, limits=GateLimits(workers=1, most_waiting=3))
    examiner.gate.clear()
    futures = [admission.submit(regex(f"a{i}")) for i in range(3)]
    with pytest.raises(CompilerBusy):
        admission.admit(regex("one too many"))
    again = admission.submit(regex("a1"))
    examiner.gate.set()
    assert all(future.result(10).code is None for future in (*futures, again))
    admission.admit(regex("one too many"))
    admission.close()


def test_nobody_waits_for_ever(examiner: Examiner) -> None:
    admission = VerdictCache(examiner, limits=GateLimits(workers=1, patience_s=3.0))
    examiner.gate.clear()
    first, second = admission.submit(regex("a")), admission.submit(regex("b"))
    while examiner.seen != ["a"]:
        time.sleep(0.01)
    time.sleep(3.1)
    examiner.gate.set()
    assert first.result(10).code is None, "it was being examined, which has limits of its own"
    with pytest.raises(CompilerBusy):
        second.result(10)
    admission.admit(regex("b"))
    admission.close()


def test_what_was_cut_off_is_tried_again_later(examiner: Examiner, tmp_path: Path) -> None:
    store = Store(tmp_path / "kept" / "v.sqlite", limit_bytes=LIMIT)
    examiner.verdict = cut_off("too long")
    admission = VerdictCache(examiner, store=store)
    for _ in range(3):
        assert admission.submit(regex("a")).result(10).code == "constraint_too_large"
    assert examiner.seen == ["a"], "whoever repeats it costs nothing for a while"
    assert store.get(regex("a")) is None, "another machine may be faster"
    (key,) = admission._known
    admission._known[key] = examiner.verdict, time.monotonic()  # its while is over
    examiner.verdict = Verdict(shortest=b"a")
    admission.admit(regex("a"))
    assert examiner.seen == ["a", "a"]
    admission.close()
    store.close()


def test_verdicts_of_the_store_count_unless_they_cost_too_much(
    examiner: Examiner, tmp_path: Path
) -> None:
    store = Store(tmp_path / "kept" / "v.sqlite", limit_bytes=LIMIT)
    store.put(regex("cheap"), Verdict(shortest=b"a", seconds=0.5))
    store.put(regex("dear"), Verdict(shortest=b"a", seconds=5.0))
    admission = VerdictCache(examiner, store=store, limits=GateLimits(most_seconds=1.0))
    for source in ("cheap", "dear", "new"):
        admission.admit(regex(source))
    assert examiner.seen == ["dear", "new"]
    admission.close()
    assert store.get(regex("new")) == examiner.verdict
    store.close()


def test_many_unique_constraints_do_not_fill_the_memory(examiner: Examiner, tmp_path: Path) -> None:
    store = Store(tmp_path / "kept" / "v.sqlite", limit_bytes=LIMIT)
    examiner.verdict = Verdict(shortest=b"a" * 1000)
    admission = VerdictCache(examiner, store=store, limits=GateLimits(remembered_bytes=100_000))
    futures = [admission.submit(regex(f"a{i}" + "b" * 500)) for i in range(100)]
    assert all(future.result(10) for future in futures)
    for i in range(1000):
        admission.admit(regex(f"a{i}" + "b" * 500))
    assert admission._known_bytes <= 100_000
    assert 50 < len(admission._known) < 100
    assert store.held_bytes <= LIMIT
    admission.close()
    store.close()


def test_a_bug_reaches_those_who_wait_and_is_not_remembered(examiner: Examiner) -> None:
    admission = VerdictCache(examiner)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            admission.admit(regex("bug"))
    assert examiner.seen == ["bug", "bug"]
    admission.close()


def test_closing_tells_those_who_wait(examiner: Examiner) -> None:
    admission = VerdictCache(examiner, limits=GateLimits(workers=1))
    examiner.gate.clear()
    running, waiting = admission.submit(regex("a")), admission.submit(regex("b"))

    def open_when_closing() -> None:
        while not admission._closed:
            time.sleep(0.01)
        examiner.gate.set()

    opening = threading.Thread(target=open_when_closing)
    opening.start()
    admission.close()
    opening.join()
    assert running.result(10).code is None
    with pytest.raises(CompilerBusy):
        waiting.result(10)
    with pytest.raises(CompilerBusy):
        admission.admit(regex("c"))


def test_warming_gives_way(examiner: Examiner) -> None:
    admission = VerdictCache(examiner, limits=GateLimits(workers=1))
    examiner.gate.clear()
    first = admission.submit(regex("asked for"))
    warming = threading.Thread(target=admission.warm, args=([regex("w1"), regex("w2")],))
    warming.start()
    time.sleep(0.1)  # for it to begin; should it begin later, the order is the same
    second = admission.submit(regex("asked for too"))
    examiner.gate.set()
    first.result(10)
    second.result(10)
    warming.join(10)
    assert examiner.seen == ["asked for", "asked for too", "w1", "w2"]
    admission.close()


def test_in_this_process_the_screen_is_what_examines() -> None:
    admission = VerdictCache(screened)
    admission.admit(Constraint(Kind.JSON_SCHEMA, '{"type": "string"}'))
    assert admission.submit(Constraint(Kind.JSON_SCHEMA, "{")).result().code == "invalid_constraint"
    assert (
        admission.submit(Constraint(Kind.JSON_SCHEMA, "false")).result().code
        == "unsatisfiable_constraint"
    )
    admission.close()
