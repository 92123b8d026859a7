"""Requests in flight at deaths of an engine: together after one, alone after two, refused after three."""

from dataclasses import replace

import pytest
from intaglio.engine.host.quarantine import Quarantine, digest
from intaglio.engine.types import Request, SamplingParams


def name(content: int) -> bytes:
    return digest(Request(id="a", prompt=(content,), sampling=SamplingParams()))


def test_what_does_not_change_the_work_does_not_change_the_digest() -> None:
    one = Request(id="a", prompt=(1,), sampling=SamplingParams(temperature=0.5))
    seeded = replace(one.sampling, seed=7)
    same = replace(one, id="b", priority=7, deadline=3.0, cache_salt="x", sampling=seeded)
    assert digest(one) == digest(same)
    for other in (
        replace(one, prompt=(2,)),
        replace(one, sampling=replace(one.sampling, temperature=0.6)),
    ):
        assert digest(other) != digest(one)


def test_the_rules_by_the_number_of_deaths() -> None:
    quarantine = Quarantine()
    quarantine.lost([name(1), name(2)], (0, 1))
    assert not quarantine.isolation.alone
    quarantine.lost([name(1)], (1, 1))  # of another engine
    assert list(quarantine.isolation.alone) == [name(1)]
    assert not quarantine.isolation.refused
    quarantine.lost([name(1)], (1, 2))
    assert not quarantine.isolation.alone
    assert list(quarantine.isolation.refused) == [name(1)]
    quarantine.lost([name(1)], (1, 3))
    assert list(quarantine.isolation.refused) == [name(1)]


def test_copies_at_one_death_and_late_reports_of_it_count_once() -> None:
    quarantine = Quarantine()
    for run in (1, 1, 2, 1, 2):
        quarantine.lost([name(1), name(1)], (0, run))
    assert list(quarantine.isolation.alone) == [name(1)]
    assert not quarantine.isolation.refused


def test_a_suspect_that_ends_well_is_none_any_more() -> None:
    quarantine = Quarantine()
    for run in (1, 2):
        quarantine.lost([name(1)], (0, run))
    quarantine.survived(name(1))
    assert quarantine.suspects == 0
    quarantine.lost([name(1)], (0, 3))
    assert not quarantine.isolation.alone


@pytest.mark.parametrize("most", [1, 10])
def test_what_is_remembered_is_bounded(most: int) -> None:
    quarantine = Quarantine(most)
    for content in range(100):
        for run in (1, 2, 3):
            quarantine.lost([name(content)], (0, run))
        quarantine.lost([name(1000 + content)], (0, 1))
    assert quarantine.suspects == most
    assert quarantine.isolation.refused == tuple(name(c) for c in range(100 - most, 100))
