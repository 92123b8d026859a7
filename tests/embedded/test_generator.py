"""Synthetic documents: the answer fits the schema, the seed decides, the held-out parts stay out."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from examples.train_embedded.draw import Draw, is_held_out, pool
from examples.train_embedded.generate import Sample, samples
from examples.train_embedded.kinds import KINDS
from examples.train_embedded.layout import _LAYOUTS
from examples.train_embedded.scenes import SCENES
from examples.train_embedded.scoring import Score, leaves

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module", params=["train", "heldout"])
def drawn(request: pytest.FixtureRequest) -> list[Sample]:
    return list(samples(10, 600, request.param))


def test_every_answer_fits_its_schema(drawn: list[Sample]) -> None:
    for each in drawn:
        validator = Draft202012Validator(
            each.schema, format_checker=Draft202012Validator.FORMAT_CHECKER
        )
        assert [error.message for error in validator.iter_errors(each.answer)] == []


def test_answers_keep_the_order_of_the_schema(drawn: list[Sample]) -> None:
    for each in drawn:
        assert list(each.answer) == [key for key in each.schema["properties"] if key in each.answer]
        assert json.loads(each.answer_text) == each.answer


def test_copied_strings_stand_in_the_text(drawn: list[Sample]) -> None:
    """Strings without a format, pattern, enum or description are asked for as written."""
    checked = 0
    for each in drawn:
        for key, schema in each.schema["properties"].items():
            value = each.answer.get(key)
            if (
                schema in ({"type": "string"}, {"type": ["string", "null"]})
                and value
                and value != "EUR"
            ):
                checked += 1
                assert value in each.text or value in each.text.replace("\\", ""), (key, value)
    assert checked > 100


def test_all_kinds_and_lengths_occur(drawn: list[Sample]) -> None:
    assert len(KINDS) >= 20
    kinds = {kind.name for kind in KINDS} | {scene.kind for scene in SCENES}
    assert len({each.kind for each in drawn}) >= 0.8 * len(kinds)
    assert max(len(each.text) for each in drawn) > 1500
    assert any("null" in each.answer_text for each in drawn)


def test_a_seed_gives_the_same_sample_in_every_process() -> None:
    script = "from examples.train_embedded.generate import samples\nfor s in samples(5, 40, 'train'): print(s)"
    other = "2" if os.environ.get("PYTHONHASHSEED") == "1" else "1"
    there = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True, check=True, env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": other},
    )  # fmt: skip
    assert there.stdout.decode().splitlines() == [str(s) for s in samples(5, 40, "train")]


def test_training_never_sees_held_out_items() -> None:
    items = "|".join(f"item {number}" for number in range(400))
    split = pool(items)
    assert split.held
    assert not set(split.held) & set(split.train)
    assert all(is_held_out(item) for item in split.held)
    import random

    train = Draw(random.Random(1), "train")
    assert not any(is_held_out(train.pick(items)) for _ in range(2000))
    heldout = Draw(random.Random(1), "heldout")
    share = sum(is_held_out(heldout.pick(items)) for _ in range(2000)) / 2000
    assert 0.4 < share < 0.6


def test_training_sees_what_is_left_out() -> None:
    """The CRC-32 of an empty alternative is 0."""
    import random

    train = Draw(random.Random(1), "train")
    assert {train.pick("|a|b") for _ in range(40)} == {"", "a", "b"}


def test_some_layouts_are_held_out_and_the_splits_share_no_document() -> None:
    assert any(is_held_out(name) for name in _LAYOUTS)
    train = {each.text for each in samples(0, 150, "train")}
    assert not train & {each.text for each in samples(0, 150, "heldout")}


def test_scores_count_leaves() -> None:
    assert dict(leaves({"a": [1, {"b/c": None}], "d": []})) == {
        "/a/0": 1,
        "/a/1/b~1c": None,
        "/d": [],
    }
    score = Score()
    known = {"type": "object", "properties": {"e": {"enum": ["x"]}}}
    first, second = {"a": 12, "b": True, "c": []}, {"a": 12.0, "b": 1, "c": []}
    score.add("one", known, first, second, "")
    score.add("two", known, {"a": "A  b", "d": "f"}, {"a": "A  b", "d": "g", "e": "x"}, "say A\nb")
    score.add("two", known, {"a": None}, None, "")
    total = score.total
    assert (total.right, total.leaves, total.blank, total.whole, total.valid) == (3, 6, 2, 0, 2)
    assert (total.strings, total.stated) == (2, 1)
    assert (total.answered, total.documents) == (2, 3)
    assert score.macro == pytest.approx((2 / 3 + 1 / 3) / 2)


def test_values_differ_between_documents() -> None:
    texts = [each.text for each in samples(0, 200, "train")]
    assert len(set(texts)) == len(texts)
    assert all(a != b for a, b in itertools.pairwise(texts))
