"""Answers that must not be mixed up: tenants with canaries in prompt and schema, on one engine with little memory.

`python -m tests.property.canaries --requests 10000`; `test_canaries` sends some. Requests are aborted, preempted, share
beginnings and use the ids of others that have ended. Every answer must be its own canary and nothing else, and no
request may find a prefix of another tenant.
"""

import argparse
import json
import random
import tempfile
import time
from collections import Counter
from pathlib import Path

from intaglio.engine.text.tokenizer import Tokenizer
from intaglio.engine.types import Finish, Request, SamplingParams
from intaglio.grammar.api import Constraint, Kind

from tests.property import invariance
from tests.support.tiny_checkpoint import QWEN3, write_checkpoint

TENANTS = 64
EACH = 8  # canaries of a tenant
AT_ONCE = 16
ABORTED = 0.2  # of the requests
MOST_STEPS = 6  # that the engine takes before the abort, if the request is still open then
MOST = 60
MOODS = ["calm", "merry", "sad"]


def canary(tenant: int, number: int) -> str:
    return f"c{tenant:02}-{number}"


def _request(rng: random.Random, name: str) -> tuple[Request, str]:
    few = rng.random() < 0.5  # some tenants come often, so that they find their beginning
    tenant, number = rng.randrange(2 if few else TENANTS), rng.randrange(EACH)
    own = canary(tenant, number)
    prompt = ("a beginning that every tenant has, " + f"and its own: {own}").encode()
    properties = {"mood": {"enum": MOODS}, "own": {"const": own}}
    schema = {"properties": properties, "required": [*properties], "additionalProperties": False}
    request = Request(
        id=name,
        prompt=tuple(prompt),
        sampling=SamplingParams(max_tokens=MOST, temperature=rng.choice((0.0, 1.0))),
        constraint=Constraint(Kind.JSON_SCHEMA, json.dumps({"type": "object", **schema})),
        cache_salt=f"salt {tenant}",
        tenant=f"t{tenant}",
        bulk=rng.random() < 0.5,
    )
    return request, own


def send(model: Path, seed: int, requests: int) -> Counter[str]:
    """Send so many requests, `AT_ONCE` at a time, and return their outcomes.

    Raises:
        AssertionError: an answer is not its own canary.
    """
    rng, seen = random.Random(seed), Counter[str]()
    texts = Tokenizer.load(model).vocabulary().tokens
    assembly = invariance.engine(
        model, {"num_blocks": 24, "max_running": 12, "deterministic": False}
    )
    engine, sent = assembly.engine, 0
    open_: dict[str, str] = {}
    found: dict[str, bytes] = {}
    # Drawn for each request, not in each step, whose number depends on the speed of the machine.
    aborts: dict[str, int] = {}
    free = [f"client-{number}" for number in range(AT_ONCE)]
    try:
        while sent < requests or open_:
            while sent < requests and free:
                request, own = _request(rng, free.pop())
                open_[request.id], found[request.id] = own, b""
                if rng.random() < ABORTED:
                    aborts[request.id] = rng.randrange(MOST_STEPS)
                engine.submit(request)
                sent += 1
            for name in [name for name, steps in aborts.items() if not steps]:
                engine.abort(name)
            aborts = {name: steps - 1 for name, steps in aborts.items() if steps}
            engine.wait()  # for a grammar, where nothing else is left to do
            for delta in engine.step():
                name = delta.request_id
                found[name] += b"".join(texts[token] or b"" for token in delta.tokens)
                if delta.finish is None:
                    continue
                own = open_.pop(name)
                aborts.pop(name, None)
                if delta.finish is Finish.ABORT:
                    right = [
                        json.dumps({"mood": mood, "own": own}, separators=(",", ":"))
                        for mood in MOODS
                    ]
                    assert any(text.encode().startswith(found[name]) for text in right), name
                else:
                    assert delta.finish is Finish.STOP, delta
                    answer = json.loads(found[name])
                    assert answer["own"] == own, (answer, own)
                    assert answer["mood"] in MOODS
                seen[delta.finish.value] += 1
                free.append(name)
        metrics = engine.metrics()
    finally:
        assembly.close()
    seen["preemptions"], seen["cached"] = metrics.preemptions, metrics.cached_tokens
    return seen


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--requests", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    began = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        seen = send(write_checkpoint(Path(folder), QWEN3), asked.seed, asked.requests)
    print(f"{asked.requests} requests: {dict(seen)}, none mixed up")
    print(f"{time.process_time() - began:.0f} s of processor")


if __name__ == "__main__":
    main()
