"""Documents after their way through printers, mail programs and other pages: the answer still fits."""

import random

import jsonschema
import pytest

from examples.train_embedded.draw import Draw
from examples.train_embedded.generate import Sample
from examples.train_embedded.printed import MAKERS
from examples.train_embedded.real.tasks import draw_sample
from examples.train_embedded.wear import capitals, classified, surrounded, wrapped

_SAID = (
    "was said of the river and the bridge. In the year of the flood the people of the town left the "
    "houses, and {} came back to the valley."
)
PROSE = [
    "\n\n".join(
        f"{word} {_SAID.format(word.lower())}" for word in ("Much", "Little", "Nothing", "More")
    )
] * 3
SCHEMA = {
    "type": "object",
    "properties": {
        "name": {"type": "string"},
        "state": {"type": "string", "enum": ["open", "shut"]},
        "tags": {"type": "array"},
        "count": {"type": "integer"},
    },
}
NOTE = Sample(
    "invoice",
    SCHEMA | {"required": ["name"]},
    "Anna Berg has the key, and the door is open to all who come with a red or blue card.",
    {"name": "Anna Berg", "state": "open", "tags": ["red", "blue"], "count": 2},
)


def test_capitals_reach_what_is_copied_and_spare_classes() -> None:
    changed = capitals(NOTE)
    assert changed.text == NOTE.text.upper()
    assert changed.answer == {
        "name": "ANNA BERG",
        "state": "open",
        "tags": ["RED", "BLUE"],
        "count": 2,
    }


def test_a_value_that_stands_nowhere_keeps_the_document_as_it_is() -> None:
    other = Sample("invoice", NOTE.schema, "Berg, Anna has the key.", {"name": "Anna Berg"})
    assert capitals(other) is other


def test_long_lines_break_at_blanks_and_tables_stay() -> None:
    table = "a  | b " * 20
    changed = wrapped(Sample("invoice", NOTE.schema, f"{NOTE.text}\n{table}", NOTE.answer), 30)
    *lines, last = changed.text.split("\n")
    assert max(map(len, lines)) <= 30
    assert " ".join(lines) == NOTE.text
    assert last == table


def test_other_paragraphs_stand_around_the_whole_document() -> None:
    found = [surrounded(NOTE, PROSE, random.Random(seed)).text for seed in range(40)]
    assert all(NOTE.text in text for text in found)
    assert 0 < sum(text != NOTE.text for text in found) < 40


def test_the_sort_of_document_is_asked_with_one_right_class() -> None:
    found = [classified(NOTE, random.Random(seed)) for seed in range(200)]
    asked = [each for each in found if each is not NOTE]
    assert asked
    for each in asked:
        (key,) = each.answer.keys() - NOTE.answer.keys()
        assert each.answer[key] in {"invoice", "bill"} & set(each.schema["properties"][key]["enum"])
        assert len({"invoice", "bill"} & set(each.schema["properties"][key]["enum"])) == 1
        assert list(each.answer) == [
            name for name in each.schema["properties"] if name in each.answer
        ]


@pytest.mark.parametrize("maker", [maker for maker, _ in MAKERS], ids=lambda maker: maker.__name__)
def test_what_machines_print_says_every_text_it_is_asked_for(maker) -> None:  # type: ignore[no-untyped-def]
    rng = random.Random(5)
    made = 0
    for _ in range(120):
        record = maker(Draw(rng, "train", rng.choice(("en", "de", "fr", "es"))), PROSE)
        sample = draw_sample(record, rng) if record else None
        if record is None or sample is None:
            continue
        made += 1
        jsonschema.Draft202012Validator(sample.schema).validate(sample.answer)
        flat = " ".join(record.text.split())
        for stated in record.fields:
            if stated.sort == "text" and stated.value is not None:
                assert " ".join(stated.value.split()) in flat or stated.keys.startswith(
                    "currency"
                ), stated
    assert made > 20
