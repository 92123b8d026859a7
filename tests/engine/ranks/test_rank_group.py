"""An engine in several processes: the tokens of one process, and no process and no request left over when one dies."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

import jsonschema
import psutil
import pytest
import torch
import zmq
from intaglio.engine.api import Launch, Watch
from intaglio.engine.config import EngineConfig
from intaglio.engine.errors import ConfigError, EngineLost, EngineStopped
from intaglio.engine.host.local import LocalEngine
from intaglio.engine.model.checkpoint import model_folder
from intaglio.engine.ranks import rank_messages
from intaglio.engine.ranks.rank_group import RankGroup, rank_config
from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.engine.types import Finish, Request, SamplingParams
from intaglio.grammar.api import Constraint, Kind

from tests.support import live_processes
from tests.support.live_service import Live, live, until
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint
from tests.support.tiny_families import CONFIGS

SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string", "maxLength": 30},
        "town": {"type": "string", "maxLength": 30},
        "age": {"type": "integer", "minimum": 0, "maximum": 150},
    },
    "required": ["name", "town", "age"],
    "additionalProperties": False,
}
CONSTRAINT = Constraint(Kind.JSON_SCHEMA, json.dumps(SCHEMA))
TEXT = "Anna Schmidt is 41 years old and lives in Bonn. Her brother Karl, 39, lives in Aachen."


@cache
def tiny() -> Path:
    """A small model of three layers, in which all that is divided can be compared in little time."""
    shape = {**LLAMA, "num_hidden_layers": 3, "max_position_embeddings": 4096}
    return write_checkpoint(Path(mkdtemp(dir=os.environ["XDG_CACHE_HOME"])) / "tiny", shape)


def config(**settings: Any) -> EngineConfig:
    given = {"model": str(model_folder(None)), "device": "cpu", "threads": 1, "num_blocks": 400}
    # In bfloat16, sums of parts round differently from sums of the whole.
    given["dtype"] = "float32"
    return EngineConfig.load({**given, "tp_any_size": True, **settings}, environ={})


@contextmanager
def engine(tp: int, **settings: Any) -> Iterator[LocalEngine]:
    built = LocalEngine.build(config(model=str(tiny()), tp=tp, **settings))
    try:
        yield built
    finally:
        built.close()


def requests() -> list[Request]:
    """Free and constrained ones, greedy, drawn, penalised and truncated; one is long, several share a prefix."""
    tokenizer = Tokenizer.load(tiny())
    greedy = SamplingParams(temperature=0, max_tokens=48)
    options = [
        greedy,
        replace(greedy, temperature=0.8, seed=1),
        replace(greedy, temperature=1.2, seed=2, top_p=0.9),
        replace(greedy, temperature=1.0, seed=3, repetition_penalty=1.3),
        replace(greedy, temperature=0.7, seed=4, logprobs=2),
    ]
    prompt = tuple(tokenizer.encode(TEXT))
    return [
        Request(
            id=f"{number}{'c' if constrained else 'f'}",
            prompt=prompt * (6 if number == 0 else 1) + prompt[: 3 * number],
            sampling=sampling,
            constraint=CONSTRAINT if constrained else None,
        )
        for number, sampling in enumerate(options)
        for constrained in (False, True)
    ]


def outputs(built: LocalEngine) -> dict[str, tuple[int, ...]]:
    found: dict[str, tuple[int, ...]] = {request.id: () for request in requests()}
    for delta in built.generate(requests()):
        assert delta.error is None
        found[delta.request_id] += delta.tokens
    return found


def ends_without(rank: psutil.Process, built: LocalEngine) -> list[tuple[Finish, str | None]]:
    """How five long requests end if `rank` is killed while they are computed."""
    endless = [
        replace(request, sampling=SamplingParams(max_tokens=1500, ignore_eos=True))
        for request in requests()
    ]
    ends: list[tuple[Finish, str | None]] = []
    for delta in built.generate(endless[::2]):
        with suppress(psutil.NoSuchProcess):
            rank.kill()
        if delta.finish is not None:
            ends.append((delta.finish, None if delta.error is None else delta.error.code))
    return ends


def ranks(pid: int) -> list[psutil.Process]:
    """The running processes of an engine's other ranks."""
    return [
        child
        for child, command in live_processes.commands(pid).items()
        if any("rank_process" in part for part in command)
    ]


@pytest.fixture(scope="module")
def expected() -> dict[str, tuple[int, ...]]:
    """The outputs of one process."""
    with engine(1) as whole:
        return outputs(whole)


def test_two_processes_give_the_tokens_of_one_and_one_killed_in_a_step_ends_the_engine(
    expected: dict[str, tuple[int, ...]],
) -> None:
    with engine(2) as divided:
        (rank,) = ranks(os.getpid())
        assert outputs(divided) == expected
        assert divided.check().clean
        assert all(len(tokens) > 10 for tokens in expected.values())
        assert ends_without(rank, divided) == [(Finish.ERROR, "engine_lost")] * 5
        with pytest.raises(EngineStopped):
            list(divided.generate(requests()[:1]))
    assert not rank.is_running()


@pytest.mark.parametrize("overlap", ["off", "on"])
def test_ranks_that_divide_long_steps_by_tokens_give_the_tokens_of_one_process(
    expected: dict[str, tuple[int, ...]], overlap: str
) -> None:
    """Prompts in chunks, in steps with outputs of others; the second time most are found in the prefix cache."""
    with engine(2, sp=True, sp_tokens=13, max_batched_tokens=77, overlap=overlap) as divided:
        assert outputs(divided) == expected
        before = divided.metrics().cached_tokens
        assert outputs(divided) == expected
        assert divided.metrics().cached_tokens - before > 2 * 77
        assert divided.check().clean


def rows(built: LocalEngine) -> dict[str, list[tuple[int, float]]]:
    """Tokens and log-probabilities of drawn and constrained requests."""
    asked = [
        replace(each, sampling=replace(each.sampling, logprobs=1, max_tokens=40))
        for each in requests()
    ]
    found: dict[str, list[tuple[int, float]]] = {request.id: [] for request in asked}
    for delta in built.generate(asked):
        assert delta.error is None
        found[delta.request_id] += [(one.token, one.logprob) for one in delta.logprobs]
    return found


def test_stages_in_processes_give_the_bits_of_one_and_end_with_their_engine() -> None:
    """With deterministic kernels: other sequences are in a step than in one process."""
    with engine(1, deterministic=True, drafts="off") as whole:
        expected_rows = rows(whole)
    with engine(1, pp=3, deterministic=True) as staged:
        others = ranks(os.getpid())
        assert len(others) == 2
        assert rows(staged) == expected_rows
        assert staged.check().clean
        assert all(len(tokens) > 10 for tokens in expected_rows.values())
    assert not any(other.is_running() for other in others)


@pytest.mark.parametrize("batches", [1, 2])
def test_stages_give_the_tokens_of_one_process_and_one_killed_in_a_step_ends_the_engine(
    expected: dict[str, tuple[int, ...]], batches: int
) -> None:
    """With the kernels that are not deterministic."""
    with engine(1, pp=2, pp_batches=batches) as staged:
        assert outputs(staged) == expected
        (stage,) = ranks(os.getpid())
        assert ends_without(stage, staged) == [(Finish.ERROR, "engine_lost")] * 5


def test_stages_of_two_ranks_give_the_tokens_of_one_process_and_one_killed_ends_the_engine(
    expected: dict[str, tuple[int, ...]],
) -> None:
    """The longest prompt is computed in three steps; the second time all are found in the prefix cache."""
    asked, chunk = requests(), 64
    assert max(len(request.prompt) for request in asked) > 2 * chunk
    with engine(2, pp=2, max_batched_tokens=chunk) as divided:
        others = ranks(os.getpid())
        assert (len(others), divided.info.ranks) == (3, 4)
        assert outputs(divided) == expected
        before = divided.metrics().cached_tokens
        assert outputs(divided) == expected
        assert divided.metrics().cached_tokens - before > 2 * chunk
        assert divided.check().clean
        assert ends_without(others[-1], divided) == [(Finish.ERROR, "engine_lost")] * 5
        psutil.wait_procs(others, timeout=60)
    assert not any(other.is_running() for other in others)


def test_ranks_free_the_blocks_behind_windows_alike() -> None:
    """The pool holds several sequences only if layers with a window free what they have read."""
    shape = {**CONFIGS["gemma3"], "max_position_embeddings": 4096, "num_attention_heads": 4}
    folder = write_checkpoint(Path(mkdtemp(dir=os.environ["XDG_CACHE_HOME"])) / "windows", shape)
    found = []
    for tp, settings in ((1, {"kv_windows": "keep"}), (2, {})):
        step = {"max_context": 1024, "max_batched_tokens": 128, "num_blocks": 130}
        built = LocalEngine.build(config(model=str(folder), tp=tp, **step, **settings))
        try:
            found.append(outputs(built))
            assert built.check().clean
            assert (built.info.kv_tokens is None) == (tp == 1)
        finally:
            built.close()
    assert found[0] == found[1]


def test_a_rank_that_stops_is_killed_after_the_time_out() -> None:
    built = LocalEngine.build(config(model=str(tiny()), tp=2, tp_timeout_s=5.0))
    try:
        (rank,) = ranks(os.getpid())
        rank.suspend()
        ends = [delta for delta in built.generate(requests()[:2]) if delta.finish is not None]
        assert [end.error and end.error.code for end in ends] == ["engine_lost"] * 2
        assert rank.wait(60) is None or not rank.is_running()
    finally:
        built.close()


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"tp": 4}, "10 query heads cannot be divided among 4 ranks"),
        ({"tp": 2, "tp_any_size": False, "dtype": "auto"}, "too small for tp 2"),
        ({"tp": 2, "kv_host_bytes": 1 << 20}, "engines in one process"),
        ({"pp": 2, "kv_host_bytes": 1 << 20}, "engines in one process"),
        ({"pp": 60}, "layers are too few for 60 stages"),
        ({"tp": 4, "pp": 2}, "10 query heads cannot be divided among 4 ranks"),
        ({"tp": 2, "pp": 30}, "layers are too few for 30 stages"),
        ({"tp": 2, "pp": 2, "tp_any_size": False, "dtype": "auto"}, "too small for tp 2"),
        ({"tp": 2, "pp": 2, "drafts": "document"}, "drafts are verified by engines without stages"),
        ({"pp": 2, "drafts": "document"}, "drafts are verified by engines without stages"),
        ({"pp": 2, "overlap": "on"}, "steps in flight already"),
        ({"sp": True}, "among the processes of tp, which is 1"),
        ({"tp": 2, "pp": 2, "sp": True}, "the tokens of stages are not divided"),
        ({"pp": 2, "max_adapters": 1}, "adapters run on one device"),
    ],
)
def test_what_several_ranks_cannot_serve_is_refused_before_one_starts(
    settings: dict[str, Any], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason) as refused:
        LocalEngine.build(config(**settings))
    assert refused.value.hint
    assert not ranks(os.getpid())


@pytest.fixture(scope="module")
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder for temporary files of the service's engine."""
    return tmp_path_factory.mktemp("ranks")


@pytest.fixture(scope="module")
def service(scratch: Path) -> Iterator[Live]:
    launch = Launch.of(config(model=str(tiny()), tp=2))
    launch = replace(launch, environment=(("TMPDIR", str(scratch)),))
    watch = Watch(standby_after_s=0.0)
    with live(launch, tiny(), watch=watch) as running:
        yield running


def engine_pid(service: Live) -> int:
    until(lambda: service.http.get("/ready").status_code == 200)
    (engine,) = service.http.get("/v1/engine/state").json()["engines"]
    return int(engine["facts"]["pid"])


def groups_of_this_process() -> dict[int, list[psutil.Process]]:
    """The engines below this process, by pid, each with the processes of its other ranks."""
    engines = [
        child.pid
        for child, command in live_processes.commands().items()
        if any("host.process" in part for part in command)
    ]
    return {pid: ranks(pid) for pid in engines}


def spare_of(pid: int) -> int:
    """The engine that stands by for that of this pid, with its rank; waits for it."""

    def complete() -> bool:
        found = groups_of_this_process()
        return len(found) == 2 and all(map(len, found.values()))

    until(complete)
    (spare,) = groups_of_this_process().keys() - {pid}
    return spare


def answered(service: Live) -> None:
    answer = service.extract(SCHEMA, TEXT)
    assert answer.status_code == 200
    jsonschema.validate(answer.json()["data"], SCHEMA)


def has_ended(group: list[psutil.Process]) -> bool:
    psutil.wait_procs(group, timeout=60)
    return all(map(live_processes.has_ended, group))


def test_a_group_that_stands_by_replaces_one_of_which_a_rank_is_killed(
    service: Live, scratch: Path
) -> None:
    answered(service)
    before = engine_pid(service)
    spare = spare_of(before)
    group = [*ranks(before), psutil.Process(before)]
    assert len(group) == 2
    group[0].kill()
    answered(service)
    assert has_ended(group)
    assert engine_pid(service) == spare
    assert service.settled().clean
    spare_of(spare)
    assert len(list(scratch.iterdir())) == 2, "the sockets of ranks that ended are left over"


def test_orders_wait_for_a_rank_that_reports_before_it_listens(tmp_path: Path) -> None:
    reports, listening = threading.Event(), threading.Event()
    received: list[list[bytes]] = []

    def late() -> None:
        with (
            zmq.Context() as context,
            context.socket(zmq.PUSH) as to,
            context.socket(zmq.PULL) as of,
        ):
            to.connect(f"ipc://{tmp_path / rank_messages.REPORTS}")
            to.send(rank_messages.packed(rank_messages.RankArrived(1)))
            reports.set()
            listening.wait(60)
            of.connect(f"ipc://{tmp_path / rank_messages.ORDERS}.1")
            received.append(of.recv_multipart())

    process = subprocess.Popen([sys.executable, "-P", "-c", "input()"], stdin=subprocess.PIPE)
    group = RankGroup(tmp_path, [process], config(tp=2))
    rank = threading.Thread(target=late)
    rank.start()
    assert reports.wait(60)
    order = rank_messages.frames(rank_messages.BuildOrder(7))
    with pytest.raises(EngineLost, match="closed its connection"):
        group.send(order)
    listening.set()
    group.await_listening()
    group.send(order)
    rank.join(60)
    assert received == [order]
    process.kill()
    process.wait(60)
    group.close()


def test_a_rank_that_ends_before_it_listens_is_lost(tmp_path: Path) -> None:
    process = subprocess.Popen([sys.executable, "-P", "-c", "input()"], stdin=subprocess.PIPE)
    group = RankGroup(tmp_path, [process], config(tp=2))
    process.kill()
    with pytest.raises(EngineLost, match="rank 1 ended"):
        group.await_listening()
    group.close()


def test_a_rank_killed_while_it_stands_by_delays_the_next_start_only(service: Live) -> None:
    """Here the process that is killed in the group at work is that of the engine."""
    before = engine_pid(service)
    spare = spare_of(before)
    (idle,) = ranks(spare)
    idle.kill()
    idle.wait(60)
    group = [*ranks(before), psutil.Process(before)]
    os.kill(before, signal.SIGKILL)
    answered(service)
    assert has_ended(group)
    assert engine_pid(service) not in (before, spare)


ENDS_BEFORE_IT_MEETS = """
import sys, zmq
from intaglio.engine.ranks import rank_messages
folder = sys.argv[1]
context = zmq.Context()
orders, reports = context.socket(zmq.PULL), context.socket(zmq.PUSH)
orders.connect(f"ipc://{folder}/{rank_messages.ORDERS}.1")
reports.connect(f"ipc://{folder}/{rank_messages.REPORTS}")
reports.send(rank_messages.packed(rank_messages.RankArrived(1)))
orders.recv_multipart()
raise SystemExit(7)
"""


def test_a_rank_that_ends_before_all_have_met_is_not_waited_for(tmp_path: Path) -> None:
    command = [sys.executable, "-P", "-c", ENDS_BEFORE_IT_MEETS, str(tmp_path)]
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    group = RankGroup(tmp_path, [process], config(tp=2, tp_timeout_s=20))
    with pytest.raises(EngineLost, match="rank 1 ended with status 7"):
        group.connect(300)


def test_an_exchange_that_fails_while_ranks_build_is_the_loss_of_a_rank() -> None:
    group = RankGroup.start(rank_config(config(tp=2)))
    place = group.connect(Tokenizer.load(model_folder(None)).size)
    (rank,) = ranks(os.getpid())

    def exchange() -> None:
        rank.kill()
        while True:
            place.least(torch.ones(1, dtype=torch.int64))

    with pytest.raises(EngineLost, match="rank 1 ended with status -9"):
        group.build(exchange)
    assert has_ended([rank])
