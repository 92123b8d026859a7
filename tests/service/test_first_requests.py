"""Requests of one form that arrive at once: one is examined, and its result serves the others."""

import asyncio
import contextlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest
from intaglio.service.http.first_requests import FirstRequests

from tests.support.live_service import EXAMINING, PATIENCE_S, Live, live
from tests.support.scripted_engine import launch
from tests.support.tiny_checkpoint import LLAMA, write_checkpoint


def test_only_the_first_of_a_form_is_waited_for() -> None:
    async def run() -> None:
        firsts = FirstRequests(most=2)
        with firsts.examining(1) as is_first:
            assert is_first
            event = firsts.examined(1)
            assert event is not None
            with firsts.examining(1) as second:
                assert not second
            assert not event.is_set(), "the second one does not speak for the first"
            assert firsts.examined(2) is None
        assert event.is_set()
        assert firsts.examined(1) is None, "nothing waits for a form that was seen"
        with firsts.examining(None) as none:
            assert not none

    asyncio.run(run())


def test_one_that_fails_or_is_forgotten_holds_up_no_other() -> None:
    async def run() -> None:
        firsts = FirstRequests(most=1)
        with contextlib.suppress(ValueError), firsts.examining(1):
            event = firsts.examined(1)
            raise ValueError
        assert event is not None
        assert event.is_set()
        with firsts.examining(2):
            waited_for = firsts.examined(2)
            with firsts.examining(3):
                assert waited_for is not None
                assert waited_for.is_set(), "the oldest form made room"

    asyncio.run(run())


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Live]:
    folder: Path = write_checkpoint(tmp_path_factory.mktemp("models") / "scripted", LLAMA)
    with live(launch(), folder, grammar=EXAMINING) as running:
        yield running


def together(service: Live, schema: Any, count: int) -> list[httpx2.Response]:
    """The answers to so many requests at once, each with a text of its own."""
    bodies = [{"schema": schema, "text": f"{number} <<echo {number}>>"} for number in range(count)]
    url = f"{service.url}/v1/extract"

    def send(body: Any) -> httpx2.Response:
        return httpx2.post(url, json=body, timeout=PATIENCE_S)

    with ThreadPoolExecutor(count) as pool:
        return list(pool.map(send, bodies))


def test_each_of_many_at_once_gets_its_own_answer(service: Live) -> None:
    answers = together(service, {"type": "integer", "title": "never seen before"}, 12)
    assert [answer.json()["data"] for answer in answers] == list(range(12))


def test_each_of_many_at_once_is_refused_for_its_own_sake(service: Live) -> None:
    answers = together(service, {"type": "integer", "minimum": 3, "maximum": 2}, 8)
    assert {answer.json()["error"]["code"] for answer in answers} == {"unsatisfiable_schema"}
