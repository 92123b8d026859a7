"""Engines of two servers share prompts over TCP: the tokens of one engine, and nothing for others."""

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from intaglio.engine.config import EngineConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.host.assembly import Assembly
from intaglio.engine.host.build_engine import build
from intaglio.engine.types import Request, SamplingParams

from tests.support.free_port import free_port
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

PROMPTS = [tuple(range(10 + number, 170 + number)) for number in range(4)]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("model") / "tiny", QWEN3)


def key_file(folder: Path) -> Path:
    path = folder / "key"
    path.write_text(secrets.token_hex(32))
    path.chmod(0o600)
    return path


@contextmanager
def engine(model: Path, **settings: object) -> Iterator[Assembly]:
    given = {"max_context": 240, "threads": 1, "grammar_store": "off", "model": str(model)}
    assembly = build(EngineConfig.load({**given, **settings}, {}))
    try:
        yield assembly
    finally:
        assembly.close()


@contextmanager
def stepping(assembly: Assembly) -> Iterator[None]:
    """Step an engine in a thread of its own."""
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            assembly.engine.step()
            assembly.engine.wait(0.01)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def outputs(assembly: Assembly, *requests: Request) -> dict[str, tuple[int, ...]]:
    """Run requests together; the tokens of each."""
    found: dict[str, tuple[int, ...]] = {}
    for request in requests:
        assembly.engine.submit(request)
        found[request.id] = ()
    while assembly.engine.open_requests:
        for delta in assembly.engine.step():
            assert delta.error is None
            found[delta.request_id] += delta.tokens
        assembly.engine.check()
        assembly.engine.wait(0.01)
    return found


def generation(number: int, *, salt: str = "") -> Request:
    sampling = SamplingParams(max_tokens=8, temperature=1.0, seed=7, ignore_eos=True)
    return Request(id=str(number), prompt=PROMPTS[number], sampling=sampling, cache_salt=salt)


def test_tokens_are_those_of_one_engine(model: Path, tmp_path: Path) -> None:
    numbers, port = range(len(PROMPTS)), free_port()
    shared: dict[str, Any] = {"kv_key_file": str(key_file(tmp_path))}
    with engine(model) as one:
        expected = outputs(one, *map(generation, numbers))
    with (
        engine(model, kv_listen=str(port), **shared) as first,
        stepping(first),
        engine(model, kv_peers=f"127.0.0.1:{port}", **shared) as second,
    ):
        assert (first.info.kv_role, second.info.kv_role) == ("prefill", "decode")
        assert (
            first.info.kv_address == ""
        )  # the router of its server sends it requests as to any engine
        assert outputs(second, *map(generation, numbers)) == expected
        metrics = second.engine.metrics()
        assert metrics.offloaded.decided["fetch_peer"] == len(PROMPTS) * 144
        assert metrics.offloaded.faults == {}
        assert first.engine.metrics().prompt_tokens == 160 * len(PROMPTS)
        # All left by layers, but for those with the last token of a prompt, for which no engine waits.
        assert first.engine.metrics().offloaded.blocks["exported"] == len(PROMPTS)
        assert metrics.prompt_tokens == 160 * len(PROMPTS)
        outputs(second, generation(0, salt="other"), generation(1, salt="other"))
        again = second.engine.metrics()
        assert again.offloaded.decided["fetch_peer"] == (len(PROMPTS) + 2) * 144


def test_what_was_computed_before_counts_as_cached(model: Path, tmp_path: Path) -> None:
    """And it is sent when the prompt ends, as its layers were not computed again."""
    port = free_port()
    shared: dict[str, Any] = {"kv_key_file": str(key_file(tmp_path))}
    with engine(model, kv_listen=str(port), **shared) as first, stepping(first):
        for expected in (0, 144):
            with engine(model, kv_peers=f"127.0.0.1:{port}", **shared) as second:
                second.engine.submit(generation(0))
                usages = []
                while second.engine.open_requests:
                    usages += [delta.usage for delta in second.engine.step()]
                    second.engine.wait(0.01)
                assert usages[-1] is not None
                assert usages[-1].cached_tokens == expected
                assert second.engine.metrics().offloaded.decided["fetch_peer"] == 144
            assert first.engine.metrics().offloaded.blocks["exported"] == 1 + expected // 16


def test_parts_of_a_prompt_and_drafts_leave_by_layers(model: Path, tmp_path: Path) -> None:
    """Prompts in parts, several in a step, two of them equal; the other engine computes ahead."""
    port, same = free_port(), replace(generation(0), id="same")
    shared: dict[str, Any] = {"kv_key_file": str(key_file(tmp_path))}
    asked = [*map(generation, range(len(PROMPTS))), same]
    with engine(model) as one:
        expected = outputs(one, *asked)
    for settings in ({"max_batched_tokens": 48}, {"overlap": "on"}, {"num_blocks": 13}):
        listening = {"kv_listen": str(port), **shared, **settings}
        if "num_blocks" in settings:
            listening["max_context"] = 170
        with (
            engine(model, **listening) as first,
            stepping(first),
            engine(model, kv_peers=f"127.0.0.1:{port}", overlap="on", **shared) as second,
        ):
            assert outputs(second, *asked) == expected
            metrics = second.engine.metrics()
            assert metrics.offloaded.faults == {}
            assert metrics.offloaded.decided["fetch_peer"] >= len(PROMPTS) * 144
            second.engine.check()


def test_engines_for_prompts_come_and_go_while_others_run(model: Path, tmp_path: Path) -> None:
    """An engine that is not there costs nothing, one that starts is used, and one that ends costs one prompt."""
    with engine(model) as one:
        expected = outputs(one, generation(0))
    port, shared = free_port(), {"kv_key_file": str(key_file(tmp_path))}
    with engine(model, kv_peers=f"127.0.0.1:{port}", **shared) as second:

        def fetched() -> int:
            return second.engine.metrics().offloaded.decided.get("fetch_peer", 0)

        assert outputs(second, generation(0)) == expected
        assert (fetched(), second.engine.metrics().offloaded.faults) == (0, {})
        for life in range(2):
            with engine(model, kv_listen=str(port), **shared) as first, stepping(first):
                until = time.monotonic() + 60
                before = fetched()
                for salt in count():
                    outputs(second, generation(0, salt=f"{life} {salt}"))
                    if fetched() > before:
                        break
                    assert time.monotonic() < until
                    time.sleep(0.2)
            gone = fetched()
            outputs(second, generation(1, salt=str(life)), generation(2, salt=str(life)))
            assert fetched() == gone


def test_an_engine_that_is_to_end_takes_no_further_prompts(model: Path, tmp_path: Path) -> None:
    port, shared = free_port(), {"kv_key_file": str(key_file(tmp_path))}
    with (
        engine(model, kv_listen=str(port), **shared) as first,
        stepping(first),
        engine(model, kv_peers=f"127.0.0.1:{port}", **shared) as second,
    ):
        first.drain()
        found = outputs(second, generation(0))
        assert len(found["0"]) == 8
        assert first.engine.metrics().prompt_tokens == 0
        assert first.engine.open_requests == 0
        assert second.engine.metrics().offloaded.faults == {}


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"block_size": 8}, "block_size is 16 here and 8 there"),
        ({"deterministic": True}, "deterministic is False here and True there"),
        ({"kv_key_file": "another"}, "kv_key_file"),
    ],
)
def test_engines_that_do_not_fit_are_refused_by_name(
    other: dict[str, Any], says: str, model: Path, tmp_path: Path
) -> None:
    port, own = free_port(), str(key_file(tmp_path))
    if "kv_key_file" in other:
        (tmp_path / "b").mkdir()
        other = {"kv_key_file": str(key_file(tmp_path / "b"))}
    listening = {"kv_listen": str(port), "kv_key_file": own}
    with engine(model, **listening), pytest.raises(ConfigError, match="computes no prompts") as it:
        build(
            EngineConfig.load(
                {
                    "model": str(model),
                    "max_context": 240,
                    "kv_peers": f"127.0.0.1:{port}",
                    "kv_key_file": own,
                    **other,
                },
                {},
            )
        )
    assert says in it.value.message
    assert it.value.where == "kv_peers"
