"""Pointers of values that were ended early, from offsets of tokens."""

import json

import pytest
from intaglio.engine.api import Cut, CutReason
from intaglio.service.extraction.early_endings import cut_warnings

TEXTS = tuple(bytes([byte]) for byte in range(256))


def pointers(text: str, *cuts: Cut) -> list[tuple[str, str]]:
    return [(w.pointer, w.kind) for w in cut_warnings(text.encode(), TEXTS, cuts)]


@pytest.mark.parametrize(
    ("text", "ended", "pointer"),
    [
        ('{"a":"eee', '"', "/a"),
        ('{"x":1,"a/b~c":{"\\u00e9":["q",{"z":"eee', '"', "/a~1b~0c/é/1/z"),
        ('{"a":[1,1,1', "]", "/a"),
        ('{"a":[{"b":"x"},{"b":"', '"}]', "/a"),
        ('["a",["eee', '"', "/1/0"),
        ('"eee', '"', ""),
        ('{\n  "a": [\n    "b",\n    "eee', '"', "/a/1"),
        ('{"a":"say \\"no\\" \\"no\\"', '"', "/a"),
    ],
)
def test_a_loop_names_the_outermost_value_that_was_ended(
    text: str, ended: str, pointer: str
) -> None:
    begin, end = len(text.encode()), len((text + ended).encode())
    assert pointers(text + ended + "]}", Cut(CutReason.LOOPED, begin, end)) == [(pointer, "looped")]


@pytest.mark.parametrize(
    ("text", "pointer"),
    [
        ('{"a":{"b":12', "/a/b"),
        ('{"a":[true,fal', "/a/1"),
        ('{"a":[true,false]', ""),
        ('{"a":{"b":1,', "/a"),
        ("", ""),
    ],
)
def test_a_budget_names_the_value_in_which_it_was_reached(text: str, pointer: str) -> None:
    cut = Cut(CutReason.BUDGET, len(text), len(text) + 3)
    assert pointers(text + '"}]', cut) == [(pointer, "budget_forced")]


def test_several_cuts_are_told_in_their_order() -> None:
    text = '{"a":"eee","b":["x","x"],"c":"y"}'
    at = [text.index(end) for end in ('","b"', '],"c"', '"}')]
    cuts = [Cut(CutReason.LOOPED, place, place + 1) for place in at]
    assert pointers(text, *cuts) == [("/a", "looped"), ("/b", "looped"), ("/c", "looped")]
    assert json.loads(text)
