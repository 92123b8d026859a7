"""Text from ids, however they are cut: whole characters, and stop strings across token edges."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.engine.text.detokenize import Detokenizer
from intaglio.grammar.api import Vocabulary

from tests.support.tokens import large, small

BYTES = Vocabulary((*(bytes([byte]) for byte in range(256)), None), (256,), 300)


def run(vocabulary: Vocabulary, chunks: list[list[int]], stop: tuple[str, ...] = ()) -> list[str]:
    detokenizer = Detokenizer(vocabulary, stop)
    parts = [detokenizer.push(chunk) for chunk in chunks]
    return [*parts, detokenizer.finish()]


def cut(ids: list[int], edges: list[int]) -> list[list[int]]:
    at = sorted({min(edge, len(ids)) for edge in edges} | {0, len(ids)})
    return [ids[a:b] for a, b in pairwise(at)]


EDGES = st.lists(st.integers(0, 40), max_size=8)


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=40), edges=EDGES)
def test_any_bytes_decode_to_the_whole(data: bytes, edges: list[int]) -> None:
    assert "".join(run(BYTES, cut(list(data), edges))) == data.decode("utf-8", "replace")


@pytest.mark.parametrize("make", [small, large])
@settings(max_examples=100, deadline=None)
@given(text=st.text(max_size=30), edges=EDGES)
def test_no_half_character_is_ever_returned(make: object, text: str, edges: list[int]) -> None:
    tokenizer = make()  # type: ignore[operator]
    vocabulary = tokenizer.vocabulary()
    ids = list(tokenizer.canonical(text.encode()))
    whole = b"".join(vocabulary.text(token) or b"" for token in ids).decode()
    parts = run(vocabulary, cut(ids, edges))
    assert "".join(parts) == whole
    assert "\ufffd" in text or not any("\ufffd" in part for part in parts)


def first_stop(text: str, stop: tuple[str, ...]) -> tuple[str, str | None]:
    """The plain model: add characters one by one until a stop string stands at the end."""
    for end in range(1, len(text) + 1):
        found = [word for word in stop if text[:end].endswith(word)]
        if found:
            word = max(found, key=len)
            return text[: end - len(word)], word
    return text, None


@settings(max_examples=500, deadline=None)
@given(
    text=st.text(alphabet="abé", max_size=14),
    stop=st.lists(st.text(alphabet="abé", min_size=1, max_size=4), max_size=3, unique=True),
    edges=EDGES,
)
def test_stop_strings_cut_where_the_first_is_complete(
    text: str, stop: list[str], edges: list[int]
) -> None:
    words = tuple(stop)
    detokenizer = Detokenizer(BYTES, words)
    chunks = cut(list(text.encode()), edges)
    shown = "".join(detokenizer.push(chunk) for chunk in chunks) + detokenizer.finish()
    assert (shown, detokenizer.stopped) == first_stop(text, words)


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(alphabet="ab", max_size=12), stop=st.text(alphabet="ab", min_size=1, max_size=4)
)
def test_only_what_may_become_a_stop_string_is_held(text: str, stop: str) -> None:
    detokenizer = Detokenizer(BYTES, (stop,))
    shown = ""
    for byte in text.encode():
        shown += detokenizer.push([byte])
        if detokenizer.stopped:
            return
    held = text[len(shown) :]
    assert shown + held == text
    assert len(held) == max(n for n in range(len(stop)) if text.endswith(stop[:n]))


def test_half_a_character_at_the_end_is_said_to_be_broken() -> None:
    assert run(BYTES, [[0x61, 0xE2, 0x82]]) == ["a", "\ufffd"]


def test_tokens_without_text_add_none() -> None:
    assert run(BYTES, [[0x61, 256, 299, 0x62]]) == ["ab", ""]


def test_nothing_follows_a_stop() -> None:
    detokenizer = Detokenizer(BYTES, ("b",))
    assert [detokenizer.push(b"abc"), detokenizer.push(b"d"), detokenizer.finish()] == ["a", "", ""]
    assert detokenizer.stopped == "b"


def test_an_empty_stop_string_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        Detokenizer(BYTES, ("",))
