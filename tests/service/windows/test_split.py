"""Windows of a text: they cover it, fit, overlap a little, and are cut where a reader would cut."""

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.service.windows.split import SMALLEST_WINDOW, ImagePlace, Window, split

TEXTS = st.text(st.sampled_from("ab .\n\n\f#1é字\t"), max_size=1500)


def words(text: str) -> int:
    """A tokenizer with one token for each two characters."""
    return -(-len(text) // 2)


def parts(text: str, windows: tuple[Window, ...]) -> list[str]:
    return [text[one.start : one.end] for one in windows]


@settings(deadline=None)
@given(TEXTS, st.integers(SMALLEST_WINDOW, 200), st.integers(0, 50))
def test_windows_cover_the_text_and_fit(text: str, room: int, overlap: int) -> None:
    overlap = min(overlap, room // 4)
    windows = split(text, words, room, overlap, 1000)
    assert split(text, words, room, overlap, 1000) == windows
    if not text:
        assert windows == ()
        return
    assert windows[0].start == 1000
    assert windows[-1].end == 1000 + len(text)
    for one, after in pairwise(windows):
        assert one.start < after.start <= one.end < after.end
        shared = text[after.start - 1000 : one.end - 1000]
        assert words(shared) <= overlap
    for one in windows:
        assert words(text[one.start - 1000 : one.end - 1000]) <= one.tokens <= room
    for one, later in zip(windows, windows[2:], strict=False):
        assert one.end <= later.start


def test_each_character_is_counted_once_if_no_line_is_long() -> None:
    text = "".join(f"line {number}\n" for number in range(5000))
    counted = list[str]()

    def count(piece: str) -> int:
        counted.append(piece)
        return words(piece)

    assert len(split(text, count, 100, 10)) > 100
    assert "".join(counted) == text


@pytest.mark.parametrize(
    ("separator", "ends"),
    [
        ("\f", "\f"),
        ("\n\n", "\n\n"),
        ("\n", "\n"),
    ],
)
def test_windows_end_at_the_strongest_border(separator: str, ends: str) -> None:
    record = "a line of it\nanother line\n  an indented one"
    text = separator.join([record] * 40)
    *before_last, _ = parts(text, split(text, words, 80, 0))
    assert before_last
    for part in before_last:
        assert part.endswith(ends), part


def test_a_heading_begins_a_window() -> None:
    text = "".join(f"# Part {n}\n\n" + "some words of text\n\n" * 3 for n in range(30))
    found = parts(text, split(text, words, 90, 0))
    assert len(found) > 1
    for part in found:
        assert part.startswith("# Part")


def test_an_indented_line_stays_with_the_line_before() -> None:
    text = "".join(f"Record {n}\n  with a detail\n  and one more\n" for n in range(40))
    found = parts(text, split(text, words, 100, 25))
    assert len(found) > 1
    for part in found:
        assert part.startswith("Record")


def test_a_long_line_is_cut_between_sentences_and_words() -> None:
    text = "This is a sentence of some words. It ends here. " * 60
    *before_last, _ = parts(text, split(text, words, 400, 0))
    assert before_last
    for part in before_last:
        assert part.endswith(". ")
    text = "word " * 600
    found = parts(text, split(text, words, 200, 0))
    assert len(found) > 1
    for part in found:
        assert part.endswith("word ")


def test_a_text_without_any_border_is_cut_all_the_same() -> None:
    text = "x" * 10_000
    assert len(split(text, words, 64, 16)) > 50


@settings(deadline=None)
@given(
    TEXTS,
    st.integers(SMALLEST_WINDOW, 200),
    st.integers(0, 50),
    st.lists(st.tuples(st.integers(0, 1500), st.integers(1, 90)), max_size=12),
)
def test_each_image_is_in_one_window_beside_its_text(
    text: str, room: int, overlap: int, drawn: list[tuple[int, int]]
) -> None:
    overlap = min(overlap, room // 4)
    images = [
        ImagePlace(number, min(at, len(text)), tokens)
        for number, (at, tokens) in enumerate(sorted(drawn))
    ]
    windows = split(text, words, room, overlap, images=images)
    if not text and not images:
        assert windows == ()
        return
    assert (windows[0].start, windows[-1].end) == (0, len(text))
    seen = [at for one in windows for at in range(one.first_image, one.last_image)]
    assert seen == list(range(len(images)))
    for one in windows:
        inside = images[one.first_image : one.last_image]
        assert all(one.start <= image.at <= one.end for image in inside)
        assert one.tokens <= room or (one.start == one.end and len(inside) == 1)
        assert words(text[one.start : one.end]) + sum(i.tokens for i in inside) <= max(
            one.tokens, room
        )
    for one, after in pairwise(windows):
        assert one.start <= after.start <= one.end <= after.end
        assert words(text[after.start : one.end]) <= overlap


def test_windows_begin_at_pages_that_are_images_or_after_them() -> None:
    page = "some words of a page\n" * 5
    images = [ImagePlace(n, len(page) * (n + 1), 20) for n in range(6)]
    windows = split(page * 7, words, 150, 0, images=images)
    assert len(windows) > 2
    assert {one.start for one in windows[1:]} <= {image.at for image in images}


def test_impossible_bounds_are_refused() -> None:
    with pytest.raises(ValueError, match="out of bounds"):
        split("a", words, SMALLEST_WINDOW - 1, 0)
    with pytest.raises(ValueError, match="out of bounds"):
        split("a", words, 100, 26)
