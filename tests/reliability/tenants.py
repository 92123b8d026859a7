"""T1, T3, T4: isolation of tenants: in the prefix cache, in the queue, and against hostile schemas."""

import asyncio
import itertools
import random
import statistics
import time
from collections.abc import Sequence
from pathlib import Path

from intaglio.engine.api import EngineConfig, Launch, Watch
from intaglio.service.keys.key_store import KeyGrant, KeyStore

from tests.reliability.figures import Figure
from tests.reliability.wire import Address, exchange, post
from tests.support.live_service import EXAMINING, Live, live, until
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

PREFIX = "The same beginning of many prompts. " * 30
HITS = "intaglio_prefix_cache_hit_tokens_total"


def area(positive: Sequence[float], negative: Sequence[float]) -> float:
    """How well a threshold on one number tells two kinds apart: the area under the ROC curve, 0.5 at worst."""
    ranked = sorted([(value, 1) for value in positive] + [(value, 0) for value in negative])
    ranks = sum(rank for rank, (_, kind) in enumerate(ranked, 1) if kind)
    least = len(positive) * (len(positive) + 1) / 2
    found = (ranks - least) / (len(positive) * len(negative))
    return max(found, 1 - found)


def hits(service: Live, key: str) -> float:
    """The prompt tokens found in the prefix cache so far; none before the engine's first beat."""
    answer = service.http.get("/metrics", headers={"authorization": f"Bearer {key}"})
    counts = (float(line.split()[1]) for line in answer.text.splitlines() if line.startswith(HITS))
    return next(counts, 0.0)


def probe(service: Live, key: str, text: str) -> float:
    """Seconds until the answer to a prompt, of one token."""
    body = {"prompt": text, "max_tokens": 1, "temperature": 0}
    began = time.perf_counter()
    answer = service.http.post(
        "/v1/completions", json=body, headers={"authorization": f"Bearer {key}"}
    )
    assert answer.status_code == 200, answer.text
    return time.perf_counter() - began


def prefixes(folder: Path, probes: int = 2000, seed: int = 17) -> list[Figure]:
    """T1: one tenant sends prompts, another one probes the same and others."""
    config = {**LLAMA, "max_position_embeddings": 4096}
    model = write_checkpoint(folder / "llama", config)
    engine = EngineConfig.load(
        {"model": str(model), "num_blocks": 2000, "threads": 1, "grammar_store": "off"}, environ={}
    )
    store, dice = KeyStore(folder / "keys", create=True), random.Random(seed)
    victim, spy = (store.create(KeyGrant(tenant=name))[0] for name in ("victim", "spy"))
    times: dict[bool, list[float]] = {True: [], False: []}
    watch = Watch(silence_s=600.0)
    with live(Launch.of(engine), model, watch=watch, key_store=str(folder / "keys")) as service:
        start = hits(service, victim)
        for _ in range(2):
            probe(service, victim, PREFIX)
        until(lambda: hits(service, victim) > start)
        own = hits(service, victim) - start
        for number in range(probes):
            known, text = dice.random() < 0.5, f"{number} {PREFIX}"
            if known:
                probe(service, victim, text)
            elif number % 2:
                probe(service, victim, f"x{text}")
            times[known].append(probe(service, spy, text))
        # The counters come with the engine's beats, in order: what the last repetition finds is counted last.
        for _ in range(2):
            probe(service, spy, PREFIX)
        until(lambda: hits(service, spy) >= start + 2 * own)
        across = hits(service, spy) - start - 2 * own
    told = area(times[True], times[False])
    return [
        Figure(
            id="T1",
            what="tokens of another tenant's prompts found in the prefix cache",
            count=probes,
            bound="0, while a tenant finds its own",
            measured=f"{across:.0f}, and {own:.0f} of its own prompt",
            met=across == 0 and own > 0,
        ),
        Figure(
            id="T1",
            what="telling by the time whether another tenant sent a prompt, AUC",
            count=probes,
            bound="0.55",
            measured=f"{told:.3f}",
            met=told <= 0.55 if probes >= 1000 else None,
        ),
    ]


async def keep_sending(address: Address, request: bytes, until_s: float, at_once: int) -> int:
    """Send a request again and again, `at_once` at a time; how many were answered."""
    answered = 0

    async def one() -> None:
        nonlocal answered
        while time.perf_counter() < until_s:
            reply = await exchange(address, request)
            answered += reply.status == 200

    await asyncio.gather(*(one() for _ in range(at_once)))
    return answered


def fairness(folder: Path, seconds: float = 60.0, tenants: int = 4) -> list[Figure]:
    """T3: tenants with 8 to 32 requests open at a time share the engine, a real one with 8 places, equally."""
    model = write_checkpoint(folder / "fair", LLAMA)
    store = KeyStore(folder / "fair-keys", create=True)
    keys = [store.create(KeyGrant(tenant=f"t{number}"))[0] for number in range(tenants)]
    answer = {"type": "array", "items": {"type": "boolean"}, "minItems": 24, "maxItems": 24}
    body = {"schema": answer, "text": "of one length"}
    engine = EngineConfig.load(
        {"model": str(model), "max_running": 8, "num_blocks": 512}, environ={}
    )
    with live(
        Launch.of(engine), model, grammar=EXAMINING, key_store=str(folder / "fair-keys")
    ) as service:

        async def all_of_them() -> list[int]:
            end = time.perf_counter() + seconds
            requests = [post("/v1/extract", body, key) for key in keys]
            sending = (
                keep_sending(service.address, request, end, 8 << number % 3)
                for number, request in enumerate(requests)
            )
            return list(await asyncio.gather(*sending))

        counts = asyncio.run(all_of_them())
    jain = sum(counts) ** 2 / (len(counts) * sum(count**2 for count in counts))
    return [
        Figure(
            id="T3",
            what=f"shares of {tenants} tenants with 8, 16 and 32 requests open, Jain's index",
            count=sum(counts),
            bound="0.95",
            measured=f"{jain:.3f} {counts}",
            met=jain >= 0.95,
        )
    ]


def hostile(folder: Path, seconds: float = 20.0) -> list[Figure]:
    """T4: one tenant sends schemas that take a compiler's whole time; another one extracts."""
    model = write_checkpoint(folder / "hostile", LLAMA)
    store = KeyStore(folder / "hostile-keys", create=True)
    quiet, loud = (store.create(KeyGrant(tenant=name))[0] for name in ("quiet", "loud"))
    request = post("/v1/extract", {"schema": {}, "text": "<<echo 1>>"}, quiet)
    fresh, refused = itertools.count(), 0
    with live(
        launch(), model, grammar=EXAMINING, key_store=str(folder / "hostile-keys")
    ) as service:

        def rate() -> float:
            end = time.perf_counter() + seconds / 4
            return asyncio.run(keep_sending(service.address, request, end, 4)) / (seconds / 4)

        async def beside(at_once: int) -> None:
            nonlocal refused

            async def one() -> None:
                nonlocal refused
                while not over.is_set():
                    pattern = f"^(a|b)*a(a|b){{20}}{next(fresh)}$"
                    body = {"schema": {"type": "string", "pattern": pattern}, "text": "x"}
                    answer = await exchange(service.address, post("/v1/extract", body, loud))
                    refused += answer.status in (400, 429)

            over = asyncio.Event()
            sending = [asyncio.create_task(one()) for _ in range(at_once)]
            rates["beside"].append(await asyncio.to_thread(rate))
            over.set()
            await asyncio.gather(*sending)

        rates: dict[str, list[float]] = {"alone": [], "beside": []}
        rate()
        for _ in range(2):
            rates["alone"].append(rate())
            asyncio.run(beside(8))
    alone, disturbed = (statistics.mean(rates[name]) for name in ("alone", "beside"))
    return [
        Figure(
            id="T4",
            what="throughput beside a tenant that sends hostile schemas",
            count=refused,
            bound="95%, on cores of its own",
            measured=f"{disturbed / alone:.0%} ({alone:.0f} to {disturbed:.0f} a second)",
            met=None,
        )
    ]


def measure(folder: Path) -> list[Figure]:
    """All of them."""
    return [*prefixes(folder), *fairness(folder), *hostile(folder)]
