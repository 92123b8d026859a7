"""Scenes: templates parse, answers fit, and alternatives, rows and parts of names mean what they say."""

from __future__ import annotations

import datetime
import random
import re

import pytest
from jsonschema import Draft202012Validator

from examples.train_embedded.draw import Draw
from examples.train_embedded.scenes import SCENES, Scene, compose, statements
from examples.train_embedded.scenes.scene import Drawing
from examples.train_embedded.scenes.statements import attributes
from examples.train_embedded.scenes.supplies import supply
from examples.train_embedded.scenes.template import parse
from examples.train_embedded.scenes.wordlists import LISTS
from examples.train_embedded.schema import ask


def drawing(language: str = "en") -> Drawing:
    draw = Draw(random.Random(3), "train", language)  # type: ignore[arg-type]
    return Drawing(draw, datetime.date(2026, 5, 10), "EUR", {})


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: f"{scene.kind}-{scene.language}")
def test_answers_of_a_scene_fit_their_schemas(scene: Scene) -> None:
    for seed in range(12):
        draw = Draw(random.Random(seed), "train", scene.language)
        content, text = compose(draw, scene)
        schema, answer = ask(draw, content)
        Draft202012Validator(schema, format_checker=Draft202012Validator.FORMAT_CHECKER).validate(
            answer
        )
        assert "{" not in text


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: f"{scene.kind}-{scene.language}")
def test_every_field_of_a_scene_is_stated_somewhere(scene: Scene) -> None:
    """A source that no slot and no statement has would be null for ever."""
    unstated = {field.keys for field, _ in scene.fields if not field.source.endswith("*")}
    for seed in range(150):
        draw = Draw(random.Random(seed), "train", scene.language)
        content, _ = compose(draw, scene)
        unstated -= {fact.keys for fact in content.present}
        unstated -= {column.keys for table in content.rows for column in table.columns}
        if not unstated:
            return
    raise AssertionError(unstated)


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: f"{scene.kind}-{scene.language}")
def test_a_scene_states_truths_and_classes_that_it_asks_for(scene: Scene) -> None:
    """A truth is `yes` or `no` in every language: any other word would count as false."""
    stated = set(re.findall(r"#(\w+)=([\w-]+)", scene.text))
    for field, _ in scene.fields:
        name, _, classes = field.source.rpartition(".")[2].partition("=")
        known = {each.split("/")[0] for each in classes.split(",")} if classes else {"yes", "no"}
        if classes or name.endswith("?"):
            assert {value for each, value in stated if each == name.rstrip("?")} <= known


def test_an_alternative_states_what_stands_before_its_colon() -> None:
    scene = Scene("x", "[#paid=yes:Settled.|#paid=no:Still open.]", "paid|settled ; paid?")
    for seed in range(20):
        content, text = compose(Draw(random.Random(seed), "train"), scene)
        assert content.present[0].value.forms[0].gold is (text == "Settled.")


def test_an_alternative_may_need_what_is_stated() -> None:
    scene = Scene(
        "x", "[#v=good:Fine.|#v=bad:Poor.][?v=good: Buy it.|?v=bad: Leave it.]", "v ; v=good,bad"
    )
    texts = {compose(Draw(random.Random(seed), "train"), scene)[1] for seed in range(20)}
    assert texts == {"Fine. Buy it.", "Poor. Leave it."}


def test_a_slot_that_is_left_out_is_absent() -> None:
    scene = Scene("x", "A[ on {day:date}|].", "date ; day")
    found = {
        bool(compose(Draw(random.Random(seed), "train"), scene)[0].present) for seed in range(20)
    }
    assert found == {True, False}


def test_training_leaves_out_one_of_three() -> None:
    scene = Scene("x", "A[ on {day:date}| by {day:date}|].", "date ; day")
    found = {
        bool(compose(Draw(random.Random(seed), "train"), scene)[0].present) for seed in range(20)
    }
    assert found == {True, False}


def test_a_street_within_an_address_is_not_asked_for_as_absent() -> None:
    scene = Scene("x", "[{addr:address}|{road:street}|nowhere]", "street ; road\naddress ; addr")
    for seed in range(40):
        content, text = compose(Draw(random.Random(seed), "train"), scene)
        asked = {fact.keys for fact in (*content.present, *content.absent)}
        assert len(asked) == (2 if text == "nowhere" else 1)


def test_only_a_part_of_a_name_is_no_answer() -> None:
    content, _ = compose(
        Draw(random.Random(1), "train"), Scene("x", "Hi {who.given}!", "name ; who")
    )
    assert content.present == content.absent == ()


def test_a_currency_is_stated_only_beside_an_amount() -> None:
    scene = Scene("x", "Free entry[, tickets {price:money 3-9}|].", "price ; price\ncurrency ; $")
    for seed in range(20):
        content, text = compose(Draw(random.Random(seed), "train"), scene)
        assert ("currency" in {fact.keys for fact in content.present}) is ("tickets" in text)


def test_rows_have_the_values_of_their_lines() -> None:
    scene = Scene(
        "x",
        "<items 3-3:{n:count 2-9} {what:goods}>",
        "items ; items*\nname ; items.what\nqty ; items.n",
    )
    content, text = compose(Draw(random.Random(5), "train"), scene)
    lines = text.split("\n")
    assert len(lines) == 3
    for line, (name, quantity) in zip(lines, content.rows[0].cells, strict=True):
        assert line == f"{quantity.written} {name.written}"


@pytest.mark.parametrize("text", ["[a|b", "a]", "{x", "<items 1-2:a", "a}"])
def test_a_mark_without_its_other_half_is_refused(text: str) -> None:
    with pytest.raises(ValueError):  # noqa: PT011 - each mark has its own words
        parse(text)


def test_a_date_without_a_year_has_that_of_the_document() -> None:
    around = drawing()
    supply(around, "today")
    for _ in range(40):
        value = supply(around, "later 5-40")
        day = datetime.date.fromisoformat(str(value.forms[0].gold))
        assert datetime.date(2026, 5, 15) <= day <= datetime.date(2026, 6, 19)


def test_statements_say_their_classes_in_other_words() -> None:
    for attribute in attributes():
        assert len(attribute.classes) > 1
        assert all(attribute.classes.values())
    for seed in range(60):
        draw = Draw(random.Random(seed), "train")
        content, text = statements(draw)
        schema, answer = ask(draw, content)
        Draft202012Validator(schema).validate(answer)
        assert text


def test_amounts_add_up() -> None:
    scene = Scene(
        "x",
        "<items 2-4:{n:count 2-9} x {each:money 2-9} = {sum:times n each}>\nnet {net:total items.sum}, "
        "[less {off:share net 5-20}|][, VAT {rate:vat} {tax:share net rate}|]: {all:total net tax -off}",
        "items ; items*\nn ; items.n\neach ; items.each\nsum ; items.sum\nnet ; net\noff ; off\ntax ; tax\nall ; all",
    )
    for seed in range(30):
        content, _ = compose(Draw(random.Random(seed), "train"), scene)
        gold = {fact.keys: fact.value.forms[0].gold for fact in content.present}
        rows = [[cell.forms[0].gold for cell in row] for row in content.rows[0].cells]
        assert all(amount == pytest.approx(n * each, abs=0.006) for n, each, amount in rows)
        assert gold["net"] == pytest.approx(sum(row[2] for row in rows))
        assert gold["all"] == pytest.approx(gold["net"] + gold.get("tax", 0) - gold.get("off", 0))


def test_rows_share_their_marks() -> None:
    scene = Scene("x", "<items 4-4:[- |* |+ ]{what:of ware}>", "items ; items*\nname ; items.what")
    for seed in range(20):
        _, text = compose(Draw(random.Random(seed), "train"), scene)
        assert len({line[0] for line in text.split("\n")}) == 1


@pytest.mark.parametrize(
    ("sort", "written", "gold"),
    [
        ("spelled 21-21", "twenty-one", 21),
        ("spelled 340-340", "three hundred and forty", 340),
        ("spoken 12-12", "quarter to one in the afternoon", "12:45"),
        ("spoken 19-19", "half past seven in the evening", "19:30"),
        ("stars 4-4", "four out of five", 4),
        ("grand 45-45", "€45k", 45000),
        ("grand 45-45 bare", "45,000", 45000),
    ],
)
def test_one_value_has_many_written_forms(sort: str, written: str, gold: object) -> None:
    found = drawing()
    values = [supply(found, sort) for _ in range(300)]
    assert written in {value.written for value in values}
    assert {value.forms[0].gold for value in values if value.written == written} == {gold}


@pytest.mark.parametrize("name", LISTS)
def test_word_lists_name_lists_that_exist(name: str) -> None:
    found = drawing()
    drawn = {supply(found, f"of {name}").written for _ in range(60)}
    assert len(drawn) > 4
    assert not any("{" in each for each in drawn)
