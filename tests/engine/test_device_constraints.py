"""Replays of sequences on the device: an executor that follows them must reach the matcher's position."""

import json
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, NoReturn

import pytest
from intaglio.engine.errors import InternalError
from intaglio.engine.grammars import device_constraints
from intaglio.engine.grammars.budgeted_matcher import BudgetedMatcher
from intaglio.engine.grammars.constraints import Constraints, Opening
from intaglio.engine.grammars.device_constraints import DeviceConstraints, Exports
from intaglio.engine.plan import (
    PLACEHOLDER,
    Admitted,
    Change,
    Changes,
    Masks,
    Plan,
    Replay,
    SampledBatch,
    SampledToken,
    Work,
)
from intaglio.engine.types import Finish, OutputLimits, SamplingParams
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    DeviceTables,
    HostOnly,
    Kind,
    Vocabulary,
    allowed_tokens,
    empty_rows,
    tables_of,
)

END = 256
TEXTS: tuple[bytes | None, ...] = (*(bytes([byte]) for byte in range(256)), None)
VOCABULARY = Vocabulary(TEXTS, (END,), END + 1)
SCHEMA = {
    "type": "object",
    "properties": {
        "a": {"type": "integer", "maximum": 20, "minimum": 0},
        "b": {"enum": ["x", "y"]},
    },
    "required": ["a"],
    "additionalProperties": False,
}
OBJECT = Constraint(Kind.JSON_SCHEMA, json.dumps(SCHEMA))
UNIQUE = Constraint(Kind.JSON_SCHEMA, '{"type": "array", "uniqueItems": true}')
LONG = Constraint(
    Kind.JSON_SCHEMA,
    '{"type": "array", "minItems": 2, "items": {"enum": ["a rather long text", "another long text", "b"]}}',
)
NESTED = Constraint(Kind.JSON_SCHEMA, '{"type": "array", "items": {"$ref": "#"}}')


@dataclass
class Device:
    """A holder of grammars, and the executor's side of the messages: plain Python over the tables."""

    room: int = 10
    users: Counter[str] = field(default_factory=Counter)
    tables: dict[str, DeviceTables] = field(default_factory=dict)
    at: dict[int, tuple[str, tuple[int, tuple[int, ...]]]] = field(default_factory=dict)
    before: dict[int, tuple[int, tuple[int, ...]]] = field(default_factory=dict)

    def hold(self, key: str, tables: DeviceTables) -> bool:
        if key not in self.tables and len(self.tables) >= self.room:
            return False
        self.tables[key] = tables
        self.users[key] += 1
        return True

    def drop(self, key: str) -> None:
        self.users[key] -= 1

    def legal(self, masks: Masks) -> dict[int, set[int]]:
        """The mask of every sequence on the device."""
        found = {}
        for seq_id in masks.on_device:
            replay = masks.replays.get(seq_id, Replay("", b""))
            key = replay.grammar if replay.reset else self.at[seq_id][0]
            tables = self.tables[key]
            at = (tables.start, ()) if replay.reset else self.at[seq_id][1]
            if replay.undo_last:
                at = self.before[seq_id]
            after = tables.follow(at, replay.text)
            assert after is not None
            self.at[seq_id] = key, after
            self.before[seq_id] = after
            found[seq_id] = {t for t in range(256) if tables.follow(after, bytes([t])) is not None}
            if tables.can_end(after):
                found[seq_id].add(END)
        return found

    def sample(self, seq_id: int, token: int) -> None:
        """Follow a sample under the last mask."""
        key, at = self.at[seq_id]
        after = self.tables[key].follow(at, TEXTS[token] or b"")
        assert after is not None
        self.at[seq_id] = key, after


class AtOnce:
    def submit(self, constraint: Constraint) -> Future[CompiledGrammar]:
        future: Future[CompiledGrammar] = Future()
        future.set_result(Compiler(VOCABULARY, tuple).compile(constraint))
        return future


class Bench:
    def __init__(
        self,
        device: Device,
        constraint: Constraint,
        budget: int = 50,
        *,
        limited: bool = False,
        clock: Callable[[], float] = time.thread_time,
        exports: Exports | None = None,
        most_on_host: int = 0,
    ) -> None:
        self.device = device
        self.exports = exports or Exports()
        ends = frozenset({END})
        self.on_device = DeviceConstraints(
            device, self.exports, end_tokens=ends, texts=TEXTS, most_on_host=most_on_host
        )
        self.constraints = Constraints(
            AtOnce(),
            end_tokens=ends,
            rows=empty_rows(4, END + 1),
            texts=TEXTS,
            device=self.on_device,
            clock=clock,
        )
        limits = OutputLimits(room=200) if limited else None
        budget = 500 if limited else budget
        self.constraints.compile(1, constraint, budget, lambda _: None, limits)
        opening = self.constraints.open(1)
        assert isinstance(opening, Opening)
        self.opening = bytes(opening.forced)
        self.tokens = list(opening.forced)
        self.grammar = AtOnce().submit(constraint).result()
        self.exports.close()  # waits for what is under way

    def masks(self, *, admitted: bool = False, released: bool = False, works: bool = True) -> Masks:
        news = (Admitted(1, (0,), 1, (1,), SamplingParams()),) if admitted else ()
        works_ = (Work(1, 0, (0,), logits=1),) if works else ()
        return self.constraints.masks(Plan(1, news, works_, (1,) if released else ()))

    def legal(self, masks: Masks) -> set[int]:
        if masks.on_device:
            return self.device.legal(masks)[1]
        return set(allowed_tokens(masks.rows[masks.row_of[1]], END + 1))

    def sample(self, token: int, masks: Masks) -> tuple[int, ...]:
        """The engine's half after a sample; the forced tokens."""
        if masks.on_device and token != END:
            self.device.sample(1, token)
        forced = self.constraints.advance(SampledBatch((SampledToken(1, (token,)),)))
        assert not forced.failures
        after, self.replaced = forced.tokens.get(1, ()), 1 in forced.instead
        self.tokens += after if 1 in forced.instead else (token, *after)
        return after

    def host(self) -> set[int]:
        """What a matcher says that has followed the whole output."""
        row, matcher = empty_rows(1, END + 1)[0], self.grammar.matcher()
        for token in self.tokens:
            matcher.accept(token)
        matcher.fill(row)
        return set(allowed_tokens(row, END + 1))

    def end(self) -> None:
        self.constraints.forget(Changes((Change(1, "1", finish=Finish.STOP),)))


def choose(legal: set[int], step: int) -> int:
    return sorted(legal)[(7 * step) % len(legal)]


@pytest.mark.parametrize("preempt_every", [0, 1, 3])
def test_the_executor_stands_where_the_matcher_stands(preempt_every: int) -> None:
    bench = Bench(Device(), OBJECT)
    output = bytearray(bench.opening)
    for step in range(40):
        again = step == 0 or (preempt_every and step % preempt_every == 0)
        masks = bench.masks(admitted=bool(again), released=bool(again and step))
        assert set(masks.on_device) == {1}
        assert not masks.row_of
        assert (1 in masks.replays and masks.replays[1].reset) == bool(again)
        legal = bench.legal(masks)
        assert legal == bench.host()
        token = choose(legal, step)
        forced = bench.sample(token, masks)
        output += bytes(t for t in (token, *forced) if t != END)
        if END in (token, *forced):
            break
    assert json.loads(output)["a"] <= 20
    assert bench.device.users.total() == 1
    bench.end()
    assert bench.device.users.total() == 0
    bench.constraints.check(set())


def test_a_sequence_that_is_left_out_of_steps_replays_its_missed_text_later() -> None:
    bench = Bench(Device(), OBJECT)
    for step, byte in enumerate(b":0,"):
        masks = bench.masks(admitted=step == 0)
        assert byte in bench.legal(masks)
        forced = bench.sample(byte, masks)
    assert forced
    for works in (False, False):  # its sample is stale, and its work has no logits
        assert not bench.masks(works=works).on_device
        assert not bench.constraints.advance(SampledBatch()).failures
    masks = bench.masks()
    assert masks.replays[1] == Replay(OBJECT.key, bytes(forced))
    assert bench.legal(masks) == bench.host()


def test_masks_that_are_asked_for_before_the_pick_is_known() -> None:
    """The device follows its samples, also one too many: the text that the grammar forced instead undoes that one."""
    bench, output, undone = Bench(Device(), OBJECT), bytearray(), 0
    output += bench.opening
    ahead = Plan(2, works=(Work(1, 1, (PLACEHOLDER,), logits=1),))
    masks = bench.masks(admitted=True)
    for step in range(40):
        legal = bench.legal(masks)
        assert legal == bench.host()
        token = choose(legal, step)
        if token != END:
            bench.device.sample(1, token)
            assert not bench.constraints.hosted
            after = choose(bench.legal(bench.constraints.masks(ahead)), step)
            if after != END:
                bench.device.sample(1, after)
        forced = bench.constraints.advance(SampledBatch((SampledToken(1, (token,)),))).tokens.get(
            1, ()
        )
        bench.tokens += (token, *forced)
        output += bytes(t for t in (token, *forced) if t != END)
        if END in (token, *forced):
            break
        if forced:
            bench.constraints.advance(SampledBatch())  # the sample of the second step is stale
            masks = bench.masks()
            assert masks.replays[1].undo_last
            undone += 1
        else:  # as if nothing had been asked for ahead
            bench.on_device._steps.clear()
            masks = bench.masks(admitted=True)
    assert json.loads(output)["a"] <= 20
    assert undone


def test_no_sequence_goes_to_the_device_before_its_last_pick_on_the_host_is_followed() -> None:
    bench = Bench(Device(), OBJECT)
    known = bench.on_device._known[1]
    tables, known.tables = known.tables, Future()
    masks = bench.masks(admitted=True)
    assert masks.row_of
    known.tables = tables
    assert bench.masks().row_of
    assert bench.constraints.hosted == {1}
    bench.sample(ord(":"), masks)
    bench.constraints.advance(SampledBatch())
    again = bench.masks()
    assert again.replays[1].text == b'{"a":'
    assert bench.legal(again) == bench.host()


def test_few_sequences_stay_on_the_host_where_they_can_have_drafts() -> None:
    bench = Bench(Device(), OBJECT, most_on_host=1)
    assert bench.masks(admitted=True).row_of == {1: 0}
    assert bench.constraints.can_draft(1)
    bench.constraints.advance(SampledBatch())
    bench.constraints.compile(2, OBJECT, 50, lambda _: None)
    assert isinstance(bench.constraints.open(2), Opening)
    masks = bench.masks()
    assert masks.on_device == {1}
    assert not bench.constraints.can_draft(1)
    assert not bench.constraints.draft(1, [ord(":")], 4).tokens
    assert bench.legal(masks) == bench.host()


def test_masks_of_grammars_without_tables_are_hosted() -> None:
    bench = Bench(Device(), UNIQUE)
    assert bench.masks(admitted=True).row_of == {1: 0}
    assert bench.constraints.hosted == {1}


def test_budget_that_replaces_a_pick_leaves_nothing_behind() -> None:
    bench = Bench(Device(), OBJECT, budget=len('{"a":0}') + 1)
    ended = False
    for step in range(12):
        masks = bench.masks(admitted=step == 0)
        token = choose(bench.legal(masks), 3)
        forced = bench.sample(token, masks)
        if END in (token, *forced):
            ended = True
            break
    assert ended


@pytest.mark.parametrize("constraint", [OBJECT, NESTED, LONG], ids=["object", "nested", "long"])
def test_sequences_on_the_device_end_within_every_budget_as_others_do(
    constraint: Constraint,
) -> None:
    least = AtOnce().submit(constraint).result().least_tokens
    assert least is not None
    replaced = 0
    for extra in (0, 1, 2, 3, 5, 8, 13, 21, 34):
        for seed in range(6):
            resident = Bench(Device(), constraint, budget=least + extra)
            hosted = Bench(Device(room=0), constraint, budget=least + extra)
            assert resident.tokens == hosted.tokens
            step = 0
            while END not in resident.tokens:
                masks, others = (b.masks(admitted=step == 0) for b in (resident, hosted))
                legal = resident.legal(masks)
                assert legal == hosted.legal(others)
                token = choose(legal, step * step + seed)
                resident.sample(token, masks)
                hosted.sample(token, others)
                assert resident.tokens == hosted.tokens
                replaced += resident.replaced
                step += 1
            assert len(resident.tokens) <= least + extra
            assert set(masks.on_device) == {1}
    assert replaced


@pytest.mark.parametrize("fault", ["spell", "catch up"])
def test_what_fails_on_the_way_ends_its_own_sequence(
    fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    bench = Bench(Device(), OBJECT, budget=50 if fault == "spell" else len('{"a":0}') + 1)
    followers = bench.on_device._replay._followers
    if fault == "spell":
        monkeypatch.setattr(type(followers), "spell", _planted)
    else:
        monkeypatch.setattr(BudgetedMatcher, "catch_up", _planted)
    for step in range(12):
        masks = bench.masks(admitted=step == 0)
        assert set(masks.on_device) == {1}
        token = choose(bench.legal(masks), step)
        bench.device.sample(1, token)
        failures = bench.constraints.advance(SampledBatch((SampledToken(1, (token,)),))).failures
        if failures:
            break
    assert set(failures) == {1}
    assert "planted" in failures[1].message


def test_a_token_that_the_tables_refuse_is_refused_by_the_matcher() -> None:
    bench = Bench(Device(), OBJECT)
    bench.masks(admitted=True)
    forced = bench.constraints.advance(SampledBatch((SampledToken(1, (ord("x"),)),)))
    assert "refused a token" in forced.failures[1].message


def _planted(*_: object) -> NoReturn:
    raise RuntimeError("planted")


@pytest.mark.parametrize(
    "why", ["no tables", "no room", "export failed", "not exported yet", "too deep"]
)
def test_all_others_get_rows_of_the_host(why: str, monkeypatch: pytest.MonkeyPatch) -> None:
    device = Device(room=0 if why == "no room" else 1)
    if why == "too deep":
        monkeypatch.setattr(device_constraints, "MOST_DEPTH", 3)
    exports = Exports(export=_fails) if why == "export failed" else None
    bench = Bench(
        device, {"no tables": UNIQUE, "too deep": NESTED}.get(why, OBJECT), exports=exports
    )
    if why == "not exported yet":
        bench.on_device._known[1].tables = Future()
    hosted = 0
    for step in range(10):
        masks = bench.masks(admitted=step == 0)
        hosted += not masks.on_device
        legal = bench.legal(masks)
        assert legal == bench.host()
        token = ord("[") if why == "too deep" else choose(legal, step)
        if END in (token, *bench.sample(token, masks)):
            break
    assert hosted == (step + 1 if why != "too deep" else hosted)
    assert hosted > 2
    assert device.users.total() == 0


def _fails(_constraint: Constraint) -> DeviceTables | HostOnly:
    raise RuntimeError("planted")


def test_tables_are_made_once_and_kept_up_to_a_size() -> None:
    made: list[Constraint] = []

    def make(constraint: Constraint) -> DeviceTables | HostOnly:
        made.append(constraint)
        return tables_of(constraint)

    exports = Exports(limit_bytes=1, export=make)
    first = exports.submit("a", OBJECT)
    assert exports.submit("a", OBJECT) is first
    first.result()
    exports.submit("b", OBJECT).result()
    again = exports.submit("a", OBJECT)
    assert again is not first
    again.result()
    exports.close()
    assert len(made) == 3


def test_a_sequence_on_the_device_without_a_matcher_is_reported() -> None:
    bench = Bench(Device(), OBJECT)
    del bench.constraints._matchers[1]
    with pytest.raises(InternalError, match="without a matcher"):
        bench.constraints.check({1})


@pytest.mark.parametrize("room", [10, 0], ids=["device", "host"])
def test_a_value_that_loops_is_ended_where_the_executor_makes_the_masks(room: int) -> None:
    schema: dict[str, Any] = {
        "type": "object",
        "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
    }
    schema |= {"required": ["a", "b"], "additionalProperties": False}
    bench = Bench(Device(room=room), Constraint(Kind.JSON_SCHEMA, json.dumps(schema)), limited=True)
    output = bytearray(bench.opening)
    wanted = b'"' + b"e" * 300
    for step in range(80):
        byte = wanted[step] if b"b" not in output else b'"Bonn"'[len(output.partition(b'"b":')[2])]
        masks = bench.masks(admitted=step == 0)
        assert set(masks.on_device) == ({1} if room else set())
        legal = bench.legal(masks)
        assert legal == bench.host()
        assert byte in legal
        tokens = byte, *bench.sample(byte, masks)
        output += bytes(token for token in tokens if token != END)
        if END in tokens:
            break
    assert json.loads(output) == {"a": "e" * 26, "b": "Bonn"}


class Slow:
    """A clock on which each look takes three seconds."""

    now = 0.0

    def __call__(self) -> float:
        self.now += 3.0
        return self.now


@pytest.mark.parametrize(
    "budget", [50, len('{"a":0}') + 1], ids=["a forced text is spelled", "the budget is short"]
)
def test_a_slow_grammar_on_the_device_is_ended_as_on_the_host(budget: int) -> None:
    for clock in (Slow(), lambda: 0.0):
        bench = Bench(Device(), OBJECT, budget=budget, clock=clock)
        failures = {}
        for step in range(12):
            masks = bench.masks(admitted=step == 0)
            assert set(masks.on_device) == {1}
            token = choose(bench.legal(masks), step)
            bench.device.sample(1, token)
            forced = bench.constraints.advance(SampledBatch((SampledToken(1, (token,)),)))
            failures = dict(forced.failures)
            if failures or forced.tokens:
                break
        if isinstance(clock, Slow):
            assert failures[1].code == "compiler_busy"
            assert "other requests wait for it" in failures[1].message
        else:
            assert not failures
