"""A row derived from a similar state equals the row of a walk from scratch."""

import numpy as np
import pytest
from intaglio.grammar.automata import CODE_POINTS, Dfa, Spelling, everything, intersection
from intaglio.grammar.contract.bitmask import words
from intaglio.grammar.leaves.strings import lengths, quoted
from intaglio.grammar.machine.leaf import Leaf
from intaglio.grammar.mask.leaf_cache import LeafCache, View
from intaglio.grammar.mask.leaf_closure import subtrees
from intaglio.grammar.mask.leaf_walk import LeafTables, StayBounds, walk_leaf
from intaglio.grammar.mask.trie import Trie, build
from intaglio.grammar.regex import whole

from tests.support.tokens import small


def text(chars: Dfa) -> Dfa:
    return quoted(chars, Spelling.JSON_CANONICAL)


LEAVES = {
    "any": text(everything(CODE_POINTS)),
    "short": text(lengths(0, 9)),
    "long": text(lengths(0, 60)),
    "not empty": text(lengths(1, 30)),
    "some": text(lengths(7, 20)),
    "no blanks": text(intersection(whole(r"\S*"), lengths(0, 25))),
    "one line": text(intersection(whole(r".*"), lengths(2, 40))),
    "no angles": text(whole(r"[^<>]*")),
    "wide": text(whole(r"[\u00E9-\uD7FF]{0,12}x?")),
    "signs": text(whole(r"(?:[0-9a-f]{2}[-_]?)*")),
    "pairs": text(whole(r"(?:a[^a]|[^a]){0,30}")),
    "letters": text(whole(r"[a-z]{1,30}")),
}


def tokens_of(view: View, trie: Trie) -> set[int]:
    """The tokens that stay inside, as a view says."""
    assert view.row.words is not None
    found = set(
        np.flatnonzero(np.unpackbits(view.row.words.view(np.uint8), bitorder="little")).tolist()
    )
    for node in view.dropped.tolist():
        found -= set(trie.tokens[trie.first[node] : trie.first[trie.skip[node]]].tolist())
    for node in view.added.tolist():
        found |= set(trie.tokens[trie.first[node] : trie.first[node + 1]].tolist())
    return found


@pytest.mark.parametrize("name", LEAVES)
def test_views_are_what_a_walk_finds(name: str) -> None:
    made = small()
    vocabulary = made.vocabulary(made.size)
    trie = build(vocabulary)
    size = words(vocabulary.width)
    rows, leaf = LeafCache(trie, size, 1 << 26), Leaf(LEAVES[name], 0)
    dfa = leaf.dfa
    tables = LeafTables(dfa.table, dfa.outcome, dfa.class_of, leaf.over, leaf.all)
    path = np.empty((int(trie.depth.max()) + 1, 2), np.int32)
    exits = np.empty((len(trie.byte), 3), np.int32)
    size_of = dfa.states
    nothing = StayBounds(
        np.zeros(size_of, np.int64), np.zeros(size_of, np.int32), np.zeros(size_of, np.bool_)
    )
    below = subtrees(trie)
    for state in range(dfa.states):
        if leaf.over[state]:
            continue
        row = np.zeros(size, np.uint32)
        path[0] = state, -1
        count = walk_leaf(tables, nothing, trie, below, path, row, exits)
        expected = set(
            np.flatnonzero(np.unpackbits(row.view(np.uint8), bitorder="little")).tolist()
        )
        view = rows.view(leaf, state, None)
        assert tokens_of(view, trie) == expected, state
        found = view.all_exits(trie)
        assert sorted(map(tuple, found.tolist())) == sorted(map(tuple, exits[:count].tolist())), (
            state
        )
