"""Engines that run adapters: equal to merged weights, many in one batch, never another one's keys and values."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
from intaglio.engine.config import EngineConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.host.local import LocalEngine
from intaglio.engine.model.adapter_files import adapter_digest
from intaglio.engine.types import AdapterRef, Delta, Finish, Request, SamplingParams

from tests.support.tiny_adapter import adapter_tensors, merged_weights, write_adapter
from tests.support.tiny_checkpoint import GEMMA2, LLAMA, QWEN3, random_weights, write_checkpoint
from tests.support.tiny_families import CONFIGS

PROMPT = tuple((7 * i * i + 3 * i) % 250 for i in range(45))
TOKENS = 12


def engine(folder: Path, **settings: object) -> LocalEngine:
    given: dict[str, object] = {
        "model": str(folder),
        "device": "cpu",
        "dtype": "float32",
        "threads": 1,
        "max_context": 64,
        "num_blocks": 64,
        "grammar_store": "off",
        **settings,
    }
    return LocalEngine.build(EngineConfig.load(given, {}))


def adapter(folder: Path, config: dict[str, Any] = QWEN3, **changes: Any) -> AdapterRef:
    write_adapter(folder, config, **changes)
    return AdapterRef(folder.name, adapter_digest(folder), str(folder))


def ask(name: str, adapter: AdapterRef | None = None, prompt: tuple[int, ...] = PROMPT) -> Request:
    sampling = SamplingParams(max_tokens=TOKENS, temperature=0, ignore_eos=True)
    return Request(id=name, prompt=prompt, sampling=sampling, adapter=adapter)


def run(local: LocalEngine, *requests: Request) -> dict[str, tuple[int, ...]]:
    """The tokens of each request, run together."""
    tokens: dict[str, tuple[int, ...]] = {request.id: () for request in requests}
    for delta in local.generate(requests):
        assert delta.error is None, delta.error
        tokens[delta.request_id] += delta.tokens
    report = local.check()
    assert report.clean, report.fault
    return tokens


def scored(local: LocalEngine, request: Request) -> list[tuple[int, float]]:
    """The tokens of a request with their log-probabilities."""
    sampling = replace(request.sampling, logprobs=0)
    deltas = list(local.generate([replace(request, sampling=sampling)]))
    assert deltas[-1].finish is Finish.LENGTH
    return [(one.token, one.logprob) for delta in deltas for one in delta.logprobs]


def far(left: list[tuple[int, float]], right: list[tuple[int, float]]) -> float:
    """The largest difference of log-probabilities at one place."""
    return max(abs(a - b) for (_, a), (_, b) in zip(left, right, strict=True))


def last(local: LocalEngine, request: Request) -> Delta:
    return list(local.generate([request]))[-1]


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "tiny", QWEN3)


@pytest.fixture(scope="module")
def adapters(tmp_path_factory: pytest.TempPathFactory) -> list[AdapterRef]:
    folder = tmp_path_factory.mktemp("adapters")
    return [adapter(folder / f"a{seed}", rank=2 + seed, seed=seed) for seed in range(4)]


@pytest.fixture
def closing() -> Iterator[list[LocalEngine]]:
    engines: list[LocalEngine] = []
    yield engines
    for each in engines:
        each.close()


SETTINGS: dict[str, dict[str, object]] = {
    "plain": {},
    "no-prefix-cache": {"prefix_caching": False},
    "chunked": {"max_batched_tokens": 16},
    "preempting": {"num_blocks": 9, "max_running": 4},
    "drafts": {"drafts": "document,rows"},
    "host-tier": {"kv_host_bytes": 1 << 22, "num_blocks": 12},
    "overlap": {"overlap": "on"},
}


@pytest.mark.parametrize("name", ["qwen3", "llama", "gemma2", "phi3", "mixtral"])
def test_an_adapter_gives_the_tokens_of_merged_weights(
    name: str, tmp_path: Path, closing: list[LocalEngine]
) -> None:
    config = {"qwen3": QWEN3, "llama": LLAMA, "gemma2": GEMMA2, **CONFIGS}[name]
    weights = random_weights(config)
    tensors = adapter_tensors(config)
    ref = adapter(tmp_path / "a", config, tensors=tensors)
    base = write_checkpoint(tmp_path / "base", config, weights=weights)
    merged = write_checkpoint(
        tmp_path / "merged", config, weights=merged_weights(weights, tensors, 2.0)
    )
    closing += [engine(base, max_adapters=1, adapter_rank=4), engine(merged)]
    adapted = scored(closing[0], ask("adapted", ref))
    plain, expected = scored(closing[0], ask("plain")), scored(closing[1], ask("merged"))
    assert [token for token, _ in adapted] == [token for token, _ in expected]
    assert far(adapted, expected) < 1e-3
    assert far(adapted, plain) > 0.1


@pytest.fixture(scope="module")
def alone(model: Path, adapters: list[AdapterRef]) -> dict[AdapterRef | None, tuple[int, ...]]:
    """The tokens with each adapter and with none, by engines that have no other."""
    found = {}
    for ref in (None, *adapters):
        one = engine(model, max_adapters=1, adapter_rank=8)
        found[ref] = run(one, ask("one", ref))["one"]
        one.close()
    return found


@pytest.mark.parametrize("settings", SETTINGS)
def test_several_adapters_in_one_batch_equal_each_alone(
    settings: str,
    model: Path,
    adapters: list[AdapterRef],
    alone: dict[AdapterRef | None, tuple[int, ...]],
    closing: list[LocalEngine],
) -> None:
    assert len(set(alone.values())) == 5
    closing.append(engine(model, max_adapters=4, adapter_rank=8, **SETTINGS[settings]))
    asked = {f"{i}.{turn}": ref for turn in range(3) for i, ref in enumerate((None, *adapters))}
    together = run(closing[0], *(ask(name, ref) for name, ref in asked.items()))
    assert together == {name: alone[ref] for name, ref in asked.items()}


def test_more_adapters_than_places_take_turns(
    model: Path, adapters: list[AdapterRef], closing: list[LocalEngine]
) -> None:
    closing.append(engine(model, max_adapters=4, adapter_rank=8))
    expected = run(closing[0], *(ask(str(i), ref) for i, ref in enumerate(adapters)))
    closing.append(engine(model, max_adapters=1, adapter_rank=8, adapter_host_bytes=0))
    for _ in range(2):
        assert run(closing[1], *(ask(str(i), ref) for i, ref in enumerate(adapters))) == expected


def test_keys_and_values_of_one_adapter_never_serve_another(
    model: Path, adapters: list[AdapterRef], closing: list[LocalEngine]
) -> None:
    closing.append(engine(model, max_adapters=2, adapter_rank=8))

    def cached(name: str, ref: AdapterRef | None) -> int:
        usage = last(closing[0], ask(name, ref)).usage
        assert usage is not None
        return usage.cached_tokens

    assert cached("a", adapters[0]) == 0
    assert cached("b", adapters[1]) == 0
    assert cached("c", None) == 0
    renamed = replace(adapters[0], name="another name of the same files")
    assert cached("d", renamed) == 32
    assert cached("e", None) == 32


def test_an_adapter_over_quantised_weights_is_added_beside_them(
    tmp_path: Path, model: Path, closing: list[LocalEngine]
) -> None:
    # An adapter of zeros changes nothing; another one changes tokens.
    zeros = {name: torch.zeros_like(one) for name, one in adapter_tensors(QWEN3).items()}
    neutral, strong = adapter(tmp_path / "0", tensors=zeros), adapter(tmp_path / "1")
    closing.append(engine(model, max_adapters=2, adapter_rank=4, quantization="int8"))
    told = run(closing[0], ask("plain"), ask("neutral", neutral), ask("strong", strong))
    assert told["plain"] == told["neutral"]
    assert told["plain"] != told["strong"]


def test_bfloat16_logits_are_those_of_merged_weights_within_rounding(
    tmp_path: Path, closing: list[LocalEngine]
) -> None:
    weights, tensors = random_weights(QWEN3), adapter_tensors(QWEN3, strength=0.2)
    ref = adapter(tmp_path / "a", tensors=tensors)
    base = write_checkpoint(tmp_path / "base", QWEN3, weights=weights)
    merged = merged_weights(weights, tensors, 2.0)
    other = write_checkpoint(tmp_path / "merged", QWEN3, weights=merged)
    closing += [engine(base, max_adapters=1, dtype="bfloat16"), engine(other, dtype="bfloat16")]
    sampling = SamplingParams(max_tokens=1, temperature=0, logprobs=5, ignore_eos=True)
    scores = []
    for local, request in ((closing[0], ask("a", ref)), (closing[1], ask("b"))):
        delta = last(local, replace(request, sampling=sampling))
        scores.append(dict(delta.logprobs[0].top))
    common = scores[0].keys() & scores[1].keys()
    assert len(common) >= 3
    assert all(abs(scores[0][token] - scores[1][token]) < 0.5 for token in common)


def test_an_unusable_adapter_ends_its_request_only(
    tmp_path: Path, model: Path, adapters: list[AdapterRef], closing: list[LocalEngine]
) -> None:
    closing.append(engine(model, max_adapters=1, adapter_rank=8))
    changed = adapter(tmp_path / "changed")
    write_adapter(tmp_path / "changed", QWEN3, seed=9)
    misfit = adapter(tmp_path / "misfit", use_dora=True)
    gone = AdapterRef("gone", "0" * 64, str(tmp_path / "gone"))
    for ref, reason in ((changed, "have changed"), (misfit, "DoRA"), (gone, "cannot read")):
        for name in ("first", "again"):
            end = last(closing[0], ask(name, ref))
            assert end.finish is Finish.ERROR
            assert end.error is not None
            assert end.error.code == "adapter_unusable"
            assert reason in end.error.message
            assert ref.name in end.error.message
    assert len(run(closing[0], ask("good", adapters[0]))["good"]) == TOKENS


def test_an_engine_without_places_refuses_adapters(
    model: Path, adapters: list[AdapterRef], closing: list[LocalEngine]
) -> None:
    closing.append(engine(model))
    error = last(closing[0], ask("a", adapters[0])).error
    assert error is not None
    assert "max_adapters" in error.hint


def test_a_request_that_is_aborted_while_its_adapter_is_read_ends_once(
    model: Path, adapters: list[AdapterRef], closing: list[LocalEngine]
) -> None:
    closing.append(engine(model, max_adapters=1, adapter_rank=8))
    local = closing[0]
    stream = local.generate([ask("a", adapters[0]), ask("b")])
    local.abort("a")  # no effect: it was not submitted
    next(stream)
    stream.close()
    assert local.check().clean
    assert len(run(local, ask("a", adapters[0]))["a"]) == TOKENS


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"deterministic": True}, "deterministic"),
        ({"tp": 2}, "one device"),
        ({"adapter_rank": 0}, "adapter_rank"),
        ({"max_adapters": -1}, "max_adapters"),
    ],
)
def test_settings_that_adapters_do_not_work_with_are_refused(
    settings: dict[str, object], reason: str
) -> None:
    with pytest.raises(ConfigError, match=reason):
        EngineConfig.load({"model": "m", "max_adapters": 1, **settings}, {})
