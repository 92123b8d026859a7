"""Folding: the texts that become equal, and the map back to offsets of the document."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from intaglio.service.grounding.folded_text import fold


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ACME  GmbH", "acme\r\n\tgmbh"),
        ("caf\u00e9", "cafe\u0301"),
        ("Stra\u00dfe", "STRASSE"),
        ("\u201cno\u201d \u2013 it\u2019s", '"no" - it\'s'),
        ("\ufb01ne \uff21\uff22 \u2460", "fine AB 1"),
        ("soft\u00adware", "software"),
        ("\uac00", "\u1100\u1161"),
    ],
)
def test_spellings_of_the_same_text_fold_alike(one: str, other: str) -> None:
    assert fold(one).text == fold(other).text


def test_accents_are_kept() -> None:
    assert fold("cafe").text != fold("caf\u00e9").text


@given(st.text(max_size=60))
def test_every_folded_character_comes_from_its_range(text: str) -> None:
    folded = fold(text)
    assert len(folded.text) == len(folded.starts) == len(folded.ends)
    assert list(folded.starts) == sorted(folded.starts)
    for start, end in zip(folded.starts, folded.ends, strict=True):
        assert 0 <= start < end <= len(text)


@given(st.text(st.characters(max_codepoint=0x24F), max_size=30), st.data())
def test_a_range_folds_to_what_it_stands_for(text: str, data: st.DataObject) -> None:
    folded = fold(text)
    if not folded.text:
        return
    start = data.draw(st.integers(0, len(folded.text) - 1))
    end = data.draw(st.integers(start + 1, len(folded.text)))
    place = folded.original(start, end)
    if place is not None:
        assert fold(text[place[0] : place[1]]).text == folded.text[start:end]


def test_a_range_does_not_cut_through_a_character() -> None:
    folded = fold("a\u00dfb")
    assert folded.text == "assb"
    assert folded.original(0, 2) is None
    assert folded.original(2, 4) is None
    assert folded.original(1, 3) == (1, 2)


@given(st.text(max_size=40))
def test_composed_and_decomposed_texts_have_the_same_length_or_more(text: str) -> None:
    # The folded form of plain Latin text does not depend on its normal form.
    latin = "".join(c for c in text if c < "\u0250")
    assert fold(unicodedata.normalize("NFD", latin)).text == fold(latin).text
