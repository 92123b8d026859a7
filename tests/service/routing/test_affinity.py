"""Which engine a request goes to: always the same for a prefix, evenly over prefixes, never far above its share."""

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.engine.api import Request, SamplingParams
from intaglio.grammar.api import Constraint, Kind
from intaglio.service.routing.affinity import (
    LEAST_ALLOWED,
    PREFIX_TOKENS,
    SLACK,
    chosen,
    preferred,
    prefix_key,
)

KEYS = st.binary(min_size=16, max_size=16)
ENGINES = st.sets(st.integers(0, 63), min_size=1, max_size=16).map(sorted)


def request(prompt: tuple[int, ...], salt: str = "", source: str | None = None) -> Request:
    constraint = None if source is None else Constraint(Kind.REGEX, source)
    sampling = SamplingParams()
    return Request(id="r", prompt=prompt, sampling=sampling, constraint=constraint, cache_salt=salt)


@given(KEYS, ENGINES)
def test_an_engine_that_leaves_moves_only_its_own_prefixes(key: bytes, engines: list[int]) -> None:
    order = preferred(key, engines)
    assert sorted(order) == engines
    for gone in engines:
        left = [engine for engine in engines if engine != gone]
        assert preferred(key, left) == [engine for engine in order if engine != gone]


@given(KEYS, ENGINES)
def test_an_idle_service_follows_the_prefix(key: bytes, engines: list[int]) -> None:
    assert chosen(key, dict.fromkeys(engines, 0), 100) == preferred(key, engines)[0]


@given(
    KEYS,
    st.lists(st.integers(0, 10**6), min_size=1, max_size=8),
    st.integers(1, 10**5),
)
def test_no_engine_is_chosen_far_above_its_share(key: bytes, loads: list[int], cost: int) -> None:
    at = dict(enumerate(loads))
    engine = chosen(key, at, cost)
    share = (sum(loads) + cost) / len(loads)
    bound = max(share * (1 + SLACK), LEAST_ALLOWED)
    assert at[engine] + cost <= bound or at[engine] == min(loads)


@settings(max_examples=30)  # each has hundreds of requests
@given(st.lists(st.tuples(KEYS, st.integers(1, 4000)), min_size=200, max_size=400))
def test_loads_stay_within_the_bound_whatever_comes(work: list[tuple[bytes, int]]) -> None:
    loads = dict.fromkeys(range(4), 0)
    hot = work[0][0]
    for number, (key, cost) in enumerate(work):
        loads[chosen(hot if number % 2 else key, loads, cost)] += cost
    most = max(cost for _, cost in work)
    assert max(loads.values()) <= max(sum(loads.values()) / 4 * (1 + SLACK), LEAST_ALLOWED) + most


def test_prefixes_spread_evenly() -> None:
    firsts = Counter(
        preferred(prefix_key(request((n,) * PREFIX_TOKENS)), range(4))[0] for n in range(4000)
    )
    assert len(firsts) == 4
    assert max(firsts.values()) < 1.2 * min(firsts.values())


def test_the_key_is_what_can_be_shared() -> None:
    head = tuple(range(PREFIX_TOKENS))
    one = prefix_key(request((*head, 1, 2, 3)))
    assert one == prefix_key(request((*head, 9)))
    assert one != prefix_key(request((*head, 1, 2, 3), salt="other tenant"))
    assert one != prefix_key(request((*head, 1, 2, 3), source="a+"))
    assert one != prefix_key(request((1, *head)))
