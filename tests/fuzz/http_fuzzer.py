"""`python -m tests.fuzz.http_fuzzer --minutes 10`: random bodies over HTTP, to the service and a real engine.

Every answer is a result or an error document that blames the request, and the engine behind it is the same process at
the end. Prints the seed, which `--seed` repeats.
"""

import argparse
import json
import random
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
from intaglio.engine.api import EngineConfig, Launch, Watch
from intaglio.schemas.extraction.requests import ExtractOptions
from intaglio.schemas.extraction.results import ExtractResult
from intaglio.schemas.problem import ProblemDocument

from tests.fuzz.effort import Effort
from tests.fuzz.values import HALVES, TEXTS, VAST, Dice
from tests.support.live_service import EXAMINING, Live, live
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

AT_ONCE = 8
MEANT_BY_THE_REQUEST = frozenset({200, 400, 404, 422, 429, 504})
SCHEMAS: tuple[Any, ...] = (
    {"enum": ["a", "b"]},
    {"enum": ["é", "😀", ""]},
    {"type": "string", "maxLength": 4},
    {"type": "integer", "minimum": 0, "maximum": 99},
    {"type": "array", "items": {"type": "boolean"}, "maxItems": 2},
    {"type": "object", "properties": {"a": {"type": "null"}}, "required": ["a"]},
    "contact",
    "nothing of that name",
    True,
)


def body(dice: Dice) -> bytes:
    """A body with options that are random in number, name, type and value."""
    names = (*ExtractOptions.model_fields, "max_token", "é")
    options = {
        dice.choice(names): dice.anything(1)
        if dice.often(0.5)
        else dice.choice((dice.number(), dice.choice(VAST[:2])))
        for _ in range(dice.randrange(5))
    }
    given: dict[str, Any] = {
        "schema": dice.choice(SCHEMAS) if dice.often(0.95) else dice.anything(),
        "text": dice.choice(TEXTS) if dice.often(0.95) else dice.anything(),
        "options": {"max_tokens": 12, **options} if dice.often(0.98) else dice.anything(),
    }
    if dice.often(0.03):
        given[dice.text()] = dice.anything()
    if dice.often(0.02):
        given["text"] = dice.choice(HALVES)
    return json.dumps(given, default=repr).encode()


def send(service: Live, seed: int) -> str:
    """Send one body and return the outcome.

    Raises:
        AssertionError: the answer is no result and no error document, or blames the service.
    """
    content = body(Dice(seed))
    # Of its own connection: one that a refusal has closed is no defect of the next request.
    answer = httpx2.post(f"{service.url}/v1/extract", content=content, timeout=300.0)
    assert answer.status_code in MEANT_BY_THE_REQUEST, (seed, content, answer.text)
    if answer.status_code == 200:
        ExtractResult.model_validate_json(answer.content)
        return "ok"
    return ProblemDocument.model_validate_json(answer.content, strict=False).error.code.value


def run(seed: int, effort: Effort, folder: Path) -> Counter[str]:
    """Send enough bodies and return their outcomes.

    Raises:
        AssertionError: see `send`; or the engine died, or holds something for a request that is over.
    """
    config = {**LLAMA, "max_position_embeddings": 2048}
    model = write_checkpoint(folder / "model", config)
    settings = {"model": str(model), "num_blocks": 400, "threads": 1, "grammar_store": "off"}
    engine, found = EngineConfig.load(settings, environ={}), Counter[str]()
    watch = Watch(silence_s=600.0)
    with live(Launch.of(engine), model, watch=watch, grammar=EXAMINING) as service:
        enough, dice = effort.begin(), Dice(seed)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            while not enough(found.total()):
                seeds = [dice.getrandbits(64) for _ in range(AT_ONCE * 4)]
                found.update(pool.map(lambda one: send(service, one), seeds))
        assert service.app.service.backend.lives.deaths == 0
        assert service.settled().clean
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description="Random bodies over HTTP.")
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(2**32))
    given = parser.parse_args()
    print(f"seed {given.seed}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        found = run(given.seed, Effort(seconds=given.minutes * 60), Path(folder))
    print(f"{found.total()} requests, {json.dumps(dict(found.most_common()))}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
