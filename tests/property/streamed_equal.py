"""Random requests, each streamed and whole, over a real engine with a small random model: both must say the same.

The engine is deterministic: tokens and log-probabilities are equal to the last bit, whatever else runs.

`python -m tests.property.streamed_equal --count 10000 --out FILE` writes the counts. `test_streamed_equal` runs some.
"""

import argparse
import json
import platform
import random
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

from intaglio.engine.api import EngineConfig, Launch, Watch

from tests.support.chat_requests import (
    put_together,
    random_request,
    random_schema,
    without_identity,
)
from tests.support.live_service import EXAMINING, Live, live
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

SCHEMAS = 60


@contextmanager
def tiny_service(folder: Path) -> Iterator[Live]:
    """The service over an engine with a random model."""
    checkpoint = write_checkpoint(folder / "tiny", LLAMA)
    settings = {"model": str(checkpoint), "num_blocks": 512, "grammar_warm": 0}
    engine = EngineConfig.load({**settings, "deterministic": True}, environ={})
    watch = Watch(backoff_s=0.05, silence_s=600.0)
    with live(Launch.of(engine), checkpoint, watch=watch, grammar=EXAMINING) as running:
        yield running


def compare(service: Live, seed: int) -> str:
    """Send one random request in both ways and compare the answers; how it ended.

    Raises:
        AssertionError: they differ.
    """
    rng = random.Random(seed)
    shapes = random.Random(seed % 7)
    schemas = [random_schema(shapes) for _ in range(SCHEMAS // 7)]
    path, body = random_request(rng, schemas)
    whole = service.http.post(path, json=body)
    options = {"stream": True, "stream_options": {"include_usage": True}}
    streamed = service.http.post(path, json={**body, **options})
    assert whole.status_code == streamed.status_code, (seed, body, whole.text, streamed.text)
    if whole.status_code != 200:
        assert whole.status_code == 400, (seed, whole.text)
        problems = [_problem(whole.json()), _problem(streamed.json())]
        assert problems[0] == problems[1], (seed, body, problems)
        return str(problems[0]["code"])
    expected = without_identity(whole.json())
    found = without_identity(put_together(streamed.text))
    assert json.dumps(found, sort_keys=True) == json.dumps(expected, sort_keys=True), (seed, body)
    reasons = {choice["finish_reason"] for choice in expected["choices"]}
    return "+".join(sorted(reasons))


def _problem(body: Any) -> Any:
    return {key: value for key, value in body["error"].items() if key != "request_id"}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--clients", type=int, default=4, help="requests at once")
    parser.add_argument("--out", type=Path)
    given = parser.parse_args()
    ends: Counter[str] = Counter()
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder, tiny_service(Path(folder)) as service:
        seeds = range(given.first, given.first + given.count)
        with ThreadPoolExecutor(given.clients) as pool:
            for number, end in enumerate(pool.map(partial(compare, service), seeds), 1):
                ends[end] += 1
                if number % 500 == 0:
                    print(number, dict(ends), flush=True)
    result = {
        "requests": given.count,
        "first_seed": given.first,
        "clients": given.clients,
        "different": 0,
        "ends": dict(sorted(ends.items())),
        "seconds": round(time.perf_counter() - started, 1),
        "python": platform.python_version(),
    }
    text = json.dumps(result, indent=2) + "\n"
    print(text)
    if given.out is not None:
        given.out.write_text(text)


if __name__ == "__main__":
    main()
