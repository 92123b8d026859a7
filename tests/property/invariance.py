"""Deterministic engines: whether a request has the same tokens and log-probabilities, to the last bit, in every batch.

`python -m tests.property.invariance --checks 20000` compares on random weights, `--model FOLDER` on a checkpoint; a
check is one request in one engine against the same request alone. `test_invariance` runs some.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from intaglio.engine.config import EngineConfig
from intaglio.engine.host.assembly import Assembly
from intaglio.engine.host.build_engine import build
from intaglio.engine.types import Finish, Request, SamplingParams, TokenLogprob
from intaglio.grammar.api import Constraint, Kind

from tests.property.drafts import with_draft
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

MOST_PROMPT = 200
MOST_OUTPUT = 24
MOST_COMPANY = 40
SCHEMAS = (
    '{"type": "object", "properties": {"a": {"type": "integer"}, "b": {"enum": ["x", "yy"]}}, "required": ["a", "b"]}',
    '{"type": "array", "items": {"type": "boolean"}, "minItems": 1, "maxItems": 3}',
    '{"enum": ["one", "two", "three"]}',
)

DRAFTS = ("off", "document", "free", "document,rows,free,likely")

Answer = tuple[tuple[int, ...], tuple[TokenLogprob, ...], Finish | None]


@dataclass
class Tally:
    """What was compared. `differ` names the requests that differ, with their engine."""

    checks: int = 0
    tokens: int = 0
    preemptions: int = 0
    cached: int = 0
    accepted: int = 0
    differ: list[str] = field(default_factory=list)


def random_prompts(rng: random.Random, count: int) -> list[tuple[int, ...]]:
    """Bytes of texts that repeat themselves, many with a common beginning."""
    words = [bytes(rng.choices(b"abcdefgh .,:", k=rng.randint(2, 9))) for _ in range(12)]
    common = b" ".join(rng.choices(words, k=20))
    found = []
    for _ in range(count):
        own = b" ".join(rng.choices(words, k=rng.randint(1, 30)))
        text = (common[: rng.choice((0, 0, 48, 100))] + own)[: rng.randint(1, MOST_PROMPT)]
        found.append(tuple(text))
    return found


def random_requests(rng: random.Random, prompts: list[tuple[int, ...]]) -> list[Request]:
    """One request for each prompt: greedy or drawn, free or constrained."""
    return [
        Request(
            id=str(i),
            prompt=prompt,
            sampling=SamplingParams(
                max_tokens=rng.randint(18, MOST_OUTPUT),
                temperature=rng.choice((0.0, 0.0, 1.0)),
                seed=i,
                top_p=rng.choice((1.0, 1.0, 0.9)),
                repetition_penalty=rng.choice((1.0, 1.0, 1.0, 1.2)),
                logprobs=rng.choice((None, 2)),
                ignore_eos=True,
            ),
            constraint=Constraint(Kind.JSON_SCHEMA, rng.choice(SCHEMAS))
            if rng.random() < 0.3
            else None,
        )
        for i, prompt in enumerate(prompts)
    ]


def random_settings(rng: random.Random) -> dict[str, Any]:
    """Settings of an engine with a random choice of small steps, little memory, a cache, drafts and overlap."""
    overlap = rng.choice(("on", "off", "off"))
    return {
        "max_batched_tokens": rng.choice((7, 16, 64, 2048)),
        "max_running": rng.choice((2, 3, 5, 8, 16, 32)),
        "num_blocks": rng.choice((1 + 16, 24, 400)),
        "prefix_caching": rng.random() < 0.5,
        "overlap": overlap,
        "drafts": rng.choice(DRAFTS) if overlap == "off" else "off",
    }


def engine(model: Path, settings: Mapping[str, object]) -> Assembly:
    """A deterministic engine on one thread."""
    given = {"model": str(model), "deterministic": True, "threads": 1, "max_context": 256}
    isolation = {"grammar_isolation": "never", "grammar_store": "off"}
    return build(EngineConfig.load({**given, **isolation, **settings}, environ={}))


def answers(assembly: Assembly, requests: list[Request], rng: random.Random) -> dict[str, Answer]:
    """Run the requests together, which arrive at random steps."""
    waiting, running = list(requests), assembly.engine
    found: dict[str, Answer] = {request.id: ((), (), None) for request in requests}
    while waiting or running.open_requests:
        while waiting and (not running.open_requests or rng.random() < 0.5):
            running.submit(waiting.pop())
        for delta in running.step():
            assert delta.error is None, delta
            tokens, logprobs, _ = found[delta.request_id]
            found[delta.request_id] = tokens + delta.tokens, logprobs + delta.logprobs, delta.finish
        running.check()
        if running.open_requests:
            running.wait(None if not waiting else 0)
    return found


def alone(model: Path, requests: list[Request], **settings: object) -> dict[str, Answer]:
    """Each request on an engine that has no other one, nothing cached and all the room it needs."""
    assembly = engine(model, {"prefix_caching": False, "num_blocks": 400, **settings})
    try:
        return {
            request.id: answers(assembly, [request], random.Random(0))[request.id]
            for request in requests
        }
    finally:
        assembly.close()


def compare(model: Path, seed: int, checks: int, prompts: int = 200, **fixed: object) -> Tally:
    """Compare until `checks` checks are done; every engine gets all requests, in companies of random size.

    `fixed`: settings of all engines.
    """
    rng, tally = random.Random(seed), Tally()
    requests = random_requests(rng, random_prompts(rng, prompts))
    right = alone(model, requests, **fixed)
    while tally.checks < checks:
        settings = random_settings(rng) | fixed
        assembly = engine(model, settings)
        try:
            for company in _companies(rng, requests):
                company = [with_draft(r, right[r.id][0], rng) for r in company]
                for name, answer in answers(assembly, company, rng).items():
                    tally.checks += 1
                    tally.tokens += len(answer[0])
                    if answer != right[name]:
                        tally.differ.append(f"request {name} in {settings}")
            metrics = assembly.engine.metrics()
        finally:
            assembly.close()
        tally.preemptions += metrics.preemptions
        tally.cached += metrics.cached_tokens
        tally.accepted += sum(metrics.drafts.accepted.values())
    return tally


def _companies(rng: random.Random, requests: list[Request]) -> Iterator[list[Request]]:
    shuffled = rng.sample(requests, len(requests))
    while shuffled:
        size = rng.choice((1, 2, 3, 5, 8, 16, MOST_COMPANY))
        yield shuffled[:size]
        shuffled = shuffled[size:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checks", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--model", type=Path, default=None)
    parser.add_argument("--dtype", default="auto")
    asked = parser.parse_args()
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        model = asked.model or write_checkpoint(Path(folder), QWEN3)
        tally = compare(model, asked.seed, asked.checks, dtype=asked.dtype)
    print(
        f"{tally.checks} checks of {tally.tokens} tokens: {len(tally.differ)} differ; "
        f"{tally.preemptions} preemptions, {tally.cached} cached tokens, {tally.accepted} accepted drafts; "
        f"{time.process_time() - began:.0f} s of processor"
    )
    raise SystemExit("\n".join(tally.differ[:20]) or 0)


if __name__ == "__main__":
    main()
