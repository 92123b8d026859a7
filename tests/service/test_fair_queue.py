"""Turns: least served first, by weight, with a place for those that send little, and none lost."""

import asyncio
import random
from collections import Counter

import pytest
from intaglio.service.http.fair_queue import FairQueue


async def settle() -> None:
    """Let every task run as far as it can."""
    for _ in range(20):
        await asyncio.sleep(0)


class Tenant:
    """Tasks that take turns; each holds its own until told to end."""

    def __init__(self, queue: FairQueue, name: str, weight: float = 1.0, output: int = 10) -> None:
        self.queue, self.name, self.weight, self.output = queue, name, weight, output
        self.holding: list[asyncio.Event] = []
        self.tasks: list[asyncio.Task[None]] = []
        self.served = 0
        self.order: list[str] = []

    async def _one(self, tag: str, priority: int) -> None:
        async with self.queue.turn(
            self.name, weight=self.weight, prompt=10, priority=priority
        ) as turn:
            end = asyncio.Event()
            self.holding.append(end)
            self.order.append(tag)
            try:
                await end.wait()
            finally:
                self.holding.remove(end)
                turn.prompt, turn.output = 10, self.output
                self.served += 1

    def send(self, count: int, tag: str = "", priority: int = 0) -> None:
        self.tasks += [asyncio.create_task(self._one(tag, priority)) for _ in range(count)]

    async def end(self, count: int) -> None:
        for event in self.holding[:count]:
            event.set()
        await settle()

    async def stop(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


def test_a_tenant_that_floods_leaves_places_for_one_that_does_not() -> None:
    async def run() -> None:
        queue = FairQueue(64)
        flood, light = Tenant(queue, "flood"), Tenant(queue, "light")
        flood.send(1000)
        await settle()
        assert len(flood.holding) == 56
        light.send(8)
        await settle()
        assert len(light.holding) == 8, "at once, without waiting for a place"
        await flood.stop()
        await light.stop()
        assert queue.held == queue.waiting == 0

    asyncio.run(run())


@pytest.mark.parametrize(("weight", "output"), [(1.0, 10), (3.0, 10), (1.0, 40), (2.0, 5)])
def test_tokens_are_shared_by_weight_whatever_the_size_of_answers(
    weight: float, output: int
) -> None:
    async def run() -> None:
        queue, dice = FairQueue(16), random.Random(7)
        first, second = Tenant(queue, "first", weight, output), Tenant(queue, "second")
        first.send(3000)
        second.send(3000)
        await settle()
        for _ in range(1500):
            held = first.holding + second.holding
            dice.choice(held).set()
            await settle()
        tokens = [(10 + 2 * t.output) * t.served / t.weight for t in (first, second)]
        jain = sum(tokens) ** 2 / (2 * sum(x * x for x in tokens))
        assert jain > 0.97, tokens
        await first.stop()
        await second.stop()

    asyncio.run(run())


def test_a_pause_earns_nothing() -> None:
    async def run() -> None:
        queue = FairQueue(8)
        busy, back = Tenant(queue, "busy"), Tenant(queue, "back")
        busy.send(2000)
        await settle()
        for _ in range(500):
            await busy.end(1)
        back.send(500)
        await settle()
        begun = busy.served
        for _ in range(100):
            held = busy.holding + back.holding
            held[0].set()
            await settle()
        assert back.served <= 60, "the past of the other tenant is not made up for"
        assert busy.served - begun >= 40
        await busy.stop()
        await back.stop()

    asyncio.run(run())


def test_within_a_tenant_the_smaller_priority_goes_first() -> None:
    async def run() -> None:
        queue = FairQueue(1)
        tenant = Tenant(queue, "one")
        tenant.send(1, "first")
        await settle()
        tenant.send(2, "row", priority=10)
        tenant.send(2, "request")
        await settle()
        for _ in range(5):
            await tenant.end(1)
        assert tenant.order == ["first", "request", "request", "row", "row"]

    asyncio.run(run())


@pytest.mark.parametrize("seed", range(8))
def test_no_place_is_lost_whoever_is_cancelled(seed: int) -> None:
    async def run() -> None:
        dice, queue = random.Random(seed), FairQueue(5)
        tenants = [Tenant(queue, name) for name in "abc"]
        for _ in range(400):
            tenant = dice.choice(tenants)
            what = dice.random()
            if what < 0.5:
                tenant.send(dice.randrange(1, 4))
            elif what < 0.75 and tenant.holding:
                tenant.holding[0].set()  # the turn that follows may meet a cancellation
            if what > 0.6 and tenant.tasks:
                dice.choice(tenant.tasks).cancel()
            if dice.random() < 0.5:
                await asyncio.sleep(0)
            assert queue.held <= 5
        await settle()
        holding = sum(len(tenant.holding) for tenant in tenants)
        assert queue.held == holding
        assert holding == 5 or not queue.waiting or _all_bounded(tenants)
        for tenant in tenants:
            await tenant.stop()
        assert queue.held == queue.waiting == 0
        assert not queue._shares or all(share.is_idle for share in queue._shares.values())

    asyncio.run(run())


def _all_bounded(tenants: list[Tenant]) -> bool:
    """Whether only places that are kept for others are free."""
    return sum(len(tenant.holding) for tenant in tenants) >= 5 - 5 // 8


def test_tenants_that_left_take_no_memory() -> None:
    async def run() -> None:
        queue = FairQueue(4)
        for number in range(500):
            async with queue.turn(f"t{number}", prompt=1) as turn:
                turn.output = 1
            async with queue.turn("steady", prompt=100) as turn:
                turn.output = 100
        assert len(queue._shares) < 200

    asyncio.run(run())


def test_everything_sent_is_served_once() -> None:
    async def run() -> None:
        queue, seen = FairQueue(3), Counter[str]()

        async def one(name: str) -> None:
            async with queue.turn(name, prompt=5):
                await asyncio.sleep(0)
                seen[name] += 1

        await asyncio.gather(*(one(name) for name in "abcd" for _ in range(200)))
        assert seen == dict.fromkeys("abcd", 200)
        assert queue.held == 0

    asyncio.run(run())
