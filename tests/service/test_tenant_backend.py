"""Generations of every route belong to a tenant."""

import asyncio
from dataclasses import replace

import pytest
from intaglio.service.http.principal import ANONYMOUS, Principal, acting_as, current_principal
from intaglio.service.http.tenant_backend import TenantBackend

from tests.support.backend_double import BackendDouble, request


async def generate(backend: TenantBackend, name: str, salt: str = "") -> int:
    given = replace(request(name), cache_salt=salt)
    return sum([len(delta.tokens) async for delta in backend.generate(given)])


def test_the_salt_is_that_of_the_principal_and_never_that_of_the_caller() -> None:
    async def run() -> None:
        engine = BackendDouble()
        backend = TenantBackend(engine)
        for salt in ("first", "second"):
            with acting_as(Principal(cache_salt=salt)):
                assert await generate(backend, salt, salt="chosen by the caller") == 4
        with acting_as(ANONYMOUS):
            await generate(backend, "none", salt="chosen by the caller")
        assert [seen.cache_salt for seen in engine.requests] == ["first", "second", ""]

    asyncio.run(run())


def test_a_request_reaches_the_engine_with_tenant_weight_and_lane() -> None:
    async def run() -> None:
        engine = BackendDouble()
        backend = TenantBackend(engine)
        keyed = Principal(tenant="acme", key_id="5f0c1e9a", weight=3.0)
        for principal in (keyed, replace(keyed, in_background=True), ANONYMOUS):
            with acting_as(principal):
                await generate(backend, f"{len(engine.requests)}")
        seen = [(request.tenant, request.weight, request.bulk) for request in engine.requests]
        assert seen == [("acme", 3.0, False), ("acme", 3.0, True), ("", 1.0, False)]

    asyncio.run(run())


def test_a_generation_of_no_principal_is_refused() -> None:
    engine = BackendDouble()
    with pytest.raises(LookupError):
        asyncio.run(generate(TenantBackend(engine), "stray"))
    assert engine.requests == []


def test_tasks_inherit_the_principal_and_their_starter_gets_its_own_back() -> None:
    first, second = Principal(tenant="first"), Principal(tenant="second")

    async def seen() -> Principal:
        await asyncio.sleep(0)
        return current_principal()

    async def run() -> None:
        with acting_as(first):
            early = asyncio.create_task(seen())
            with acting_as(second):
                late = asyncio.create_task(seen())
            assert current_principal() is first
        assert (await early, await late) == (first, second)

    asyncio.run(run())
