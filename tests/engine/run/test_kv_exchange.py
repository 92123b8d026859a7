"""Engines for prompts and engines for outputs give the tokens of one engine that does both."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from intaglio.engine.config import EngineConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.host.assembly import Assembly, Steppable
from intaglio.engine.host.build_engine import build, build_prepared
from intaglio.engine.host.preparation import Preparation
from intaglio.engine.types import Finish, Request, SamplingParams

from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

PROMPTS = [tuple(range(30 + number, 130 + number)) for number in range(4)]
LOST = "/nonexistent/blocks"


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("model") / "tiny", QWEN3)


@contextmanager
def engine(model: Path, sockets: Path, role: str, **settings: object) -> Iterator[Assembly]:
    given = {"max_context": 200, "threads": 1, "grammar_store": "off", "model": str(model)}
    sockets.mkdir(exist_ok=True)
    config = EngineConfig.load({**given, "kv_role": role, **settings}, {})
    assembly = build_prepared(Preparation.of(config, sockets))
    yield assembly
    assembly.close()


def outputs(engine: Steppable, *requests: Request) -> dict[str, tuple[int, ...]]:
    """Run requests together; the tokens of each."""
    found: dict[str, tuple[int, ...]] = {}
    for request in requests:
        engine.submit(request)
        found[request.id] = ()
    while engine.open_requests:
        for delta in engine.step():
            assert delta.error is None
            found[delta.request_id] += delta.tokens
        engine.check()
    return found


def generation(number: int, *, temperature: float = 0.0, peer: str = "") -> Request:
    sampling = SamplingParams(max_tokens=8, temperature=temperature, seed=7, ignore_eos=True)
    return Request(id=str(number), prompt=PROMPTS[number], sampling=sampling, kv_peer=peer)


def prefill(number: int) -> Request:
    sampling = SamplingParams(max_tokens=1, temperature=0)
    return Request(id=f"p{number}", prompt=PROMPTS[number], sampling=sampling, exports=True)


@pytest.mark.parametrize("temperature", [0.0, 1.0])
def test_tokens_are_those_of_one_engine_and_blocks_are_not_computed_twice(
    temperature: float, model: Path, tmp_path: Path
) -> None:
    numbers = range(len(PROMPTS))
    with engine(model, tmp_path / "one", "none") as one:
        plain = [generation(number, temperature=temperature) for number in numbers]
        expected = outputs(one.engine, *plain)
        assert one.info.kv_address == ""
    with (
        engine(model, tmp_path / "p", "prefill") as first,
        engine(model, tmp_path / "d", "decode") as second,
    ):
        outputs(first.engine, *map(prefill, numbers))
        address = first.info.kv_address
        asked = [generation(n, temperature=temperature, peer=address) for n in numbers]
        assert outputs(second.engine, *asked) == expected
        metrics = second.engine.metrics()
        assert metrics.cached_tokens == len(PROMPTS) * 96
        assert metrics.offloaded.decided["fetch_peer"] == len(PROMPTS) * 96
        assert metrics.offloaded.faults == {}
        assert first.engine.metrics().offloaded.blocks["exported"] == len(PROMPTS) * 6


def test_blocks_that_cannot_be_had_are_computed(model: Path, tmp_path: Path) -> None:
    with engine(model, tmp_path / "one", "none") as one:
        expected = outputs(one.engine, *map(generation, range(2)))
    with (
        engine(model, tmp_path / "p", "prefill") as first,
        engine(model, tmp_path / "d", "decode") as second,
    ):
        outputs(first.engine, prefill(0))
        asked = (generation(0, peer=LOST), generation(1, peer=first.info.kv_address))
        assert outputs(second.engine, *asked) == expected
        metrics = second.engine.metrics()
        assert metrics.cached_tokens == 0
        assert metrics.offloaded.faults == {"exchange": 1}


def test_another_layout_gives_nothing(model: Path, tmp_path: Path) -> None:
    with (
        engine(model, tmp_path / "p", "prefill", block_size=8) as first,
        engine(model, tmp_path / "d", "decode") as second,
    ):
        outputs(first.engine, prefill(0))
        outputs(second.engine, generation(0, peer=first.info.kv_address))
        assert second.engine.metrics().cached_tokens == 0


def test_another_salt_gives_nothing(model: Path, tmp_path: Path) -> None:
    with (
        engine(model, tmp_path / "p", "prefill") as first,
        engine(model, tmp_path / "d", "decode") as second,
    ):
        outputs(first.engine, prefill(0))
        sampling = SamplingParams(max_tokens=2, temperature=0, ignore_eos=True)
        request = Request(
            id="0",
            prompt=PROMPTS[0],
            sampling=sampling,
            cache_salt="another",
            kv_peer=first.info.kv_address,
        )
        outputs(second.engine, request)
        assert second.engine.metrics().cached_tokens == 0


def test_an_aborted_request_leaves_nothing_behind(model: Path, tmp_path: Path) -> None:
    with engine(model, tmp_path / "d", "decode") as second:
        running = generation(0)
        second.engine.submit(running)
        second.engine.step()
        second.engine.submit(generation(1, peer=LOST))
        second.engine.step()
        second.engine.abort("1")
        ends = [delta.finish for _ in range(30) for delta in second.engine.step() if delta.finish]
        assert Finish.LENGTH in ends
        second.engine.check()
        assert not second.engine.open_requests


def test_a_library_cannot_send_blocks(model: Path) -> None:
    config = EngineConfig.load({"model": str(model), "kv_role": "prefill"}, {})
    with pytest.raises(ConfigError, match="engines of a service") as refused:
        build(config)
    assert refused.value.where == "kv_role"
