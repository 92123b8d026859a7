"""What the clients of a service notice when its engines die or are restarted: nothing, as long as they can wait."""

import asyncio
import os
import signal
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import httpx2
import psutil
import pytest
from intaglio.engine.api import EngineState, Watch
from intaglio.schemas.problem import Code, ProblemDocument

from tests.support.live_service import Live, live, until
from tests.support.scripted_engine import Script, launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint

# An engine's end is noticed by itself: its silence is borne for longer than a test may take.
WATCH = Watch(backoff_s=0.05, silence_s=600.0)
READY = {EngineState.READY}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)


@contextmanager
def serving(
    folder: Path, engines: int = 1, watch: Watch = WATCH, wait_s: float = 60.0
) -> Iterator[Live]:
    script = launch(Script(pace_s=0.01))
    with live(script, folder, watch=watch, engines=engines, engine_wait_s=wait_s) as service:
        until(lambda: {one.state for one in service.app.service.backend.engines} == READY)
        yield service


def kill(service: Live, index: int = 0) -> None:
    info = service.app.service.backend.engines[index].info
    assert info is not None
    os.kill(info.pid, signal.SIGKILL)


def code(response: httpx2.Response) -> Code:
    return ProblemDocument.model_validate_json(response.content, strict=False).error.code


def held(
    pool: ThreadPoolExecutor, service: Live, gate: Path, count: int
) -> list[Future[httpx2.Response]]:
    """So many requests in the engines, which answer 1 once the file `gate` exists."""
    futures = [
        pool.submit(service.extract, {}, f"{number} <<hold {gate}>>") for number in range(count)
    ]
    until(lambda: service.blocks().open_requests == count)
    return futures


def test_requests_in_an_engine_that_is_killed_are_answered_by_the_next(
    folder: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    with serving(folder) as service, ThreadPoolExecutor(32) as pool:
        inside = held(pool, service, gate, 32)
        kill(service)
        until(lambda: service.app.service.backend.lives.restarts == 1)
        gate.touch()
        assert [f.result().json()["data"] for f in inside] == [1] * 32
        assert service.settled().clean


def test_requests_that_come_while_there_is_no_engine_wait_for_it(folder: Path) -> None:
    slow = Watch(backoff_s=1.0, silence_s=600.0)
    with serving(folder, watch=slow) as service, ThreadPoolExecutor(8) as pool:
        kill(service)
        until(lambda: service.http.get("/ready").status_code == 503)
        late = [pool.submit(service.extract, {}, f"{n} <<echo {n}>>") for n in range(8)]
        assert [f.result().json()["data"] for f in late] == list(range(8))


def test_waiting_for_an_engine_ends_with_a_retryable_error(folder: Path) -> None:
    never = Watch(backoff_s=600.0, backoff_limit_s=600.0, silence_s=600.0)
    with serving(folder, watch=never, wait_s=0.2) as service:
        kill(service)
        until(lambda: service.http.get("/ready").status_code == 503)
        response = service.extract({}, "<<echo 1>>")
        assert response.status_code == 503
        assert code(response) is Code.NOT_READY
        assert response.headers["retry-after"]
        late = service.extract({}, "<<echo 1>>", options={"deadline_s": 0.05})
        assert code(late) is Code.DEADLINE_EXCEEDED


def test_a_request_that_ends_engines_is_refused_and_its_company_answered(folder: Path) -> None:
    with serving(folder) as service, ThreadPoolExecutor(16) as pool:
        company = [
            pool.submit(service.extract, {}, f"{n} <<slow {n}{0:020}>>") for n in range(1, 9)
        ]
        until(lambda: service.blocks().open_requests == 8)
        poison = pool.submit(service.extract, {}, "<<die>>")
        assert poison.result().status_code == 422
        assert code(poison.result()) is Code.REQUEST_QUARANTINED
        answers = [f.result() for f in company]
        assert {answer.status_code for answer in answers} == {200}, [a.text for a in answers]
        assert service.app.service.backend.lives.deaths == 3
        assert code(service.extract({}, "<<die>>")) is Code.REQUEST_QUARANTINED
        assert service.app.service.backend.lives.deaths == 3


def test_one_of_two_engines_dies_and_takes_no_request_of_the_other(
    folder: Path, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    with serving(folder, engines=2) as service, ThreadPoolExecutor(24) as pool:
        inside = held(pool, service, gate, 24)
        used = [one.metrics.running for one in service.app.service.backend.engines if one.metrics]
        kill(service, 0)
        until(lambda: service.app.service.backend.lives.deaths == 1)
        assert service.http.get("/ready").status_code == 200
        gate.touch()
        assert [f.result().json()["data"] for f in inside] == [1] * 24
        assert len(used) == 2


def test_a_rolling_restart_under_load_loses_nothing(folder: Path) -> None:
    with serving(folder, engines=2) as service:
        before = {one.info.pid for one in service.app.service.backend.engines if one.info}

        async def load() -> list[int]:
            done: list[int] = []
            async with httpx2.AsyncClient(base_url=service.url, timeout=120.0) as client:

                async def one(number: int) -> None:
                    body = {"schema": {}, "text": f"{number} <<slow {number}>>"}
                    answer = await client.post("/v1/extract", json=body)
                    assert answer.status_code == 200, answer.text
                    assert answer.json()["data"] == number
                    done.append(number)

                accepted = await client.post("/v1/engine/restart")
                assert accepted.status_code == 202
                assert len(accepted.json()["engines"]) == 2
                number = 1000
                while service.app.service.backend.lives.restarts < 2:
                    await asyncio.gather(*(one(number + i) for i in range(8)))
                    number += 8
            return done

        assert len(asyncio.run(load())) >= 8
        after = {one.info.pid for one in service.app.service.backend.engines if one.info}
        assert not before & after
        assert not any(psutil.pid_exists(pid) for pid in before)
        lives = service.app.service.backend.lives
        assert (lives.deaths, lives.restarts) == (0, 2)
