"""Automata against plain sets of short texts and against the definitions."""

import itertools
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.grammar.api import ConstraintTooLarge
from intaglio.grammar.automata import (
    BYTES,
    REFUSED,
    AutomatonLimits,
    Dfa,
    Nfa,
    canonical,
    complement,
    difference,
    everything,
    intersection,
    literal,
    nothing,
    trie,
    union,
    union_all,
)
from intaglio.grammar.automata.nfa import NfaFragment

LETTERS = b"abc"
TEXTS = [bytes(t) for n in range(5) for t in itertools.product(LETTERS, repeat=n)]


def language(dfa: Dfa) -> dict[bytes, int]:
    """The short texts of an automaton with their outcomes."""
    return {t: o for t in TEXTS if (o := dfa.judge(t)) != REFUSED}


languages = st.dictionaries(st.sampled_from(TEXTS), st.integers(0, 3), max_size=12)


@settings(deadline=None)
@given(languages)
def test_trie_holds_exactly_its_texts(texts: dict[bytes, int]) -> None:
    assert language(trie(texts)) == texts


@settings(deadline=None)
@given(languages, languages)
def test_set_operations_are_those_of_sets(a: dict[bytes, int], b: dict[bytes, int]) -> None:
    x, y = trie(a), trie(b)
    assert language(union(x, y)) == b | a
    assert language(intersection(x, y)) == {t: o for t, o in a.items() if t in b}
    assert language(difference(x, y)) == {t: o for t, o in a.items() if t not in b}
    assert language(complement(x)) == {t: 0 for t in TEXTS if t not in a}
    assert language(union_all([x, y, x])) == b | a


@settings(deadline=None)
@given(languages, languages, st.booleans())
def test_large_unions_are_the_same(a: dict[bytes, int], b: dict[bytes, int], apart: bool) -> None:
    if apart:
        a = {t: o for t, o in a.items() if t[:1] in (b"", b"a")}
        b = {t: o for t, o in b.items() if t[:1] not in (b"", b"a")}
    x, y = trie(a), trie(b)
    assert language(union(x, y, large=0)) == b | a
    # One that leads back to its start.
    table = np.array([[1, -1], [-1, 0]], np.int32)
    starts, classes = np.array([0, 97, 98, 99], np.int32), np.array([-1, 0, 1, -1], np.int32)
    again = canonical(BYTES, starts, classes, table, np.array([2, -1], np.int32))
    c = {t: o for t, o in b.items() if t[:1] == b"c"}
    pairs = {t: 2 for t in TEXTS if t == b"ab" * (len(t) // 2)}
    assert language(union(again, trie(c), large=0)) == c | pairs


@settings(deadline=None)
@given(languages, languages)
def test_equal_languages_have_equal_fingerprints(a: dict[bytes, int], b: dict[bytes, int]) -> None:
    x, y = trie(a), trie(b)
    assert (union(x, y).fingerprint == union(y, x).fingerprint) == (b | a == a | b)
    assert (x.fingerprint == y.fingerprint) == (a == b)
    back = complement(complement(x))
    assert back.fingerprint == trie(dict.fromkeys(a, 0)).fingerprint


@settings(deadline=None)
@given(languages)
def test_distance_and_shortest_text(texts: dict[bytes, int]) -> None:
    dfa = trie(texts)
    assert dfa.empty == (not texts)
    shortest = dfa.shortest()
    if texts:
        assert shortest is not None
        assert bytes(shortest) == min(texts, key=lambda t: (len(t), t))
        assert dfa.distance[0] == len(shortest)
        assert dict(dfa.least) == {
            o: min(len(t) for t in texts if texts[t] == o) for o in set(texts.values())
        }
    else:
        assert shortest is None


@settings(deadline=None)
@given(languages, st.sets(st.integers(0, 3)))
def test_restrict_and_relabel(texts: dict[bytes, int], keep: set[int]) -> None:
    dfa = trie(texts)
    assert language(dfa.restrict(keep)) == {t: o for t, o in texts.items() if o in keep}
    assert language(dfa.relabel(dict.fromkeys(keep, 5))) == {
        t: 5 for t, o in texts.items() if o in keep
    }


def myhill_nerode(texts: Iterable[bytes]) -> int:
    """States of the minimal automaton of a finite language, by its residuals."""
    known = set(texts)
    residuals = {
        frozenset(t[len(p) :] for t in known if t.startswith(p))
        for t in known
        for p in (t[:i] for i in range(len(t) + 1))
    }
    return len(residuals)


@settings(deadline=None)
@given(st.sets(st.sampled_from(TEXTS), min_size=1, max_size=12))
def test_automata_are_minimal(texts: set[bytes]) -> None:
    assert trie(dict.fromkeys(texts, 0)).states == myhill_nerode(texts)


# Programs that build an automaton and, beside it, the set of its short texts.
programs = st.recursive(
    st.sampled_from([b"a", b"b", b"c", b"ab", b""]),
    lambda inner: st.one_of(
        st.tuples(st.just("seq"), inner, inner),
        st.tuples(st.just("or"), inner, inner),
        st.tuples(st.just("times"), inner, st.integers(0, 3), st.none() | st.integers(0, 2)),
        st.tuples(st.just("embed"), inner),
    ),
    max_leaves=6,
)


def short_texts(program: Any) -> set[bytes]:
    match program:
        case bytes():
            return {program}
        case ("seq", a, b):
            return {x + y for x in short_texts(a) for y in short_texts(b) if len(x + y) <= 4}
        case ("or", a, b):
            return short_texts(a) | short_texts(b)
        case ("embed", a):
            return short_texts(a)
        case ("times", a, low, more):
            once, result, power = short_texts(a), set[bytes](), {b""}
            for n in range((low + more if more is not None else low + 4) + 1):
                result |= power if n >= low else set()
                power = {x + y for x in power for y in once if len(x + y) <= 4}
            return result
    raise AssertionError(program)


CLASSES = np.full(BYTES, -1, np.int32)
CLASSES[list(LETTERS)] = range(3)


def determinised(program: object) -> Dfa:
    nfa = Nfa(3)

    def emit(p: object) -> NfaFragment:
        match p:
            case b"":
                return nfa.nothing()
            case bytes():
                return nfa.sequence([nfa.symbols(frozenset({LETTERS.index(c)})) for c in p])
            case ("seq", a, b):
                return nfa.sequence([emit(a), emit(b)])
            case ("or", a, b):
                return nfa.either([emit(a), emit(b)])
            case ("times", a, 0, None):
                return nfa.many(emit(a))
            case ("times", a, int(low), more):
                assert more is None or isinstance(more, int)
                since = nfa.mark()
                return nfa.times(emit(a), since, low, None if more is None else low + more)
            case ("embed", a):
                dfa = determinised(a)
                own = [
                    frozenset(i for i, c in enumerate(LETTERS) if dfa.class_of[c] == k)
                    for k in range(dfa.table.shape[1])
                ]
                return nfa.embed(dfa, own)
        raise AssertionError(p)

    return nfa.determinise(emit(program), BYTES, np.arange(BYTES, dtype=np.int32), CLASSES)


@settings(deadline=None)
@given(programs)
def test_nfa_operations_are_those_of_languages(program: object) -> None:
    assert set(language(determinised(program))) == short_texts(program)


def test_large_repeats_are_counted_exactly() -> None:
    nfa = Nfa(3)
    since = nfa.mark()
    dfa = nfa.determinise(
        nfa.times(nfa.symbols(frozenset({0})), since, 10, 5000),
        BYTES,
        np.arange(BYTES, dtype=np.int32),
        CLASSES,
    )
    assert dfa.states == 5001
    assert [dfa.judge(b"a" * n) for n in (9, 10, 5000, 5001)] == [REFUSED, 0, 0, REFUSED]


def test_limits_stop_what_would_be_too_large() -> None:
    nfa = Nfa(3, AutomatonLimits(states=1000))
    a, any_of = frozenset({0}), frozenset({0, 1})
    since = nfa.mark()
    many = nfa.times(nfa.symbols(any_of), since, 20, 20)
    part = nfa.sequence([nfa.many(nfa.symbols(any_of)), nfa.symbols(a), many])
    with pytest.raises(ConstraintTooLarge):
        nfa.determinise(part, BYTES, np.arange(BYTES, dtype=np.int32), CLASSES)
    with pytest.raises(ConstraintTooLarge):
        trie({b"x" * 2000: 0}, AutomatonLimits(states=1000))
    with pytest.raises(ConstraintTooLarge):
        intersection(everything(BYTES), literal(b"x" * 2000), AutomatonLimits(states=1000))


def test_nothing_and_the_empty_text() -> None:
    assert nothing().empty
    assert nothing().judge(b"") == REFUSED
    assert literal(b"").judge(b"") == 0


def test_large_tries_stay_exact() -> None:
    members = {b'"%d"' % (i * 37): i % 7 for i in range(20_000)}
    dfa = trie(members)
    assert all(dfa.judge(t) == o for t, o in list(members.items())[::501])
    assert dfa.judge(b'"38"') == REFUSED
