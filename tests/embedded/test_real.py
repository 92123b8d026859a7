"""Records out of real pages: what they state stands in the text, and each draw asks another question."""

import random
import subprocess
from pathlib import Path

import jsonschema
import pytest

from examples.train_embedded.real import dates, pages, papers, recipes, records
from examples.train_embedded.real.apart import Apart
from examples.train_embedded.real.clones import Clone
from examples.train_embedded.real.passages import passage
from examples.train_embedded.real.tasks import draw_sample

RECIPE = """---
title: "Lentil Soup"
tags: ['soup', 'vegan']
date: 2022-04-16
---

- Prep time: 25 min
- Cook time: 1 hour 10 minutes
- Servings: 4

## Ingredients

- 2 cups [red lentils](/red-lentils)
- 1 onion
- 1 tsp salt

## Directions

1. Wash the lentils.
2. Cook everything.
"""
REFERENCES = """<citations><bibl><author>C. J. Pedersen</author>. <title level="a">Cyclic Polyethers</title>.
<title level="j">J. Am. Chem. Soc.</title> <biblScope type="vol">89</biblScope>, <biblScope type="pp">2495</biblScope>
(<date>1967</date>).</bibl></citations>"""


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    (tmp_path / "content").mkdir()
    (tmp_path / "content" / "soup.md").write_text(RECIPE)
    (tmp_path / "content" / "latin.md").write_bytes(b"caf\xe9")
    git = ("git", "-C", str(tmp_path), "-c", "user.name=n", "-c", "user.email=e@example.org")
    for command in (("init", "-q"), ("add", "."), ("commit", "-q", "-m", "m")):
        subprocess.run([*git, *command], check=True)
    return Clone(tmp_path)


def test_a_clone_gives_the_texts_that_fit(clone: Clone) -> None:
    assert [path for path, _ in clone.texts(("content/*.md",))] == ["content/soup.md"]
    assert list(clone.texts(("*.rst",))) == []
    assert len(clone.commit()) == 40


def test_a_recipe_states_what_its_page_says() -> None:
    record = recipes.recipe("content/soup.md", RECIPE)
    assert record is not None
    stated = {each.keys.split("|")[0]: each.value for each in record.fields}
    assert stated["name"] == "Lentil Soup"
    assert stated["ingredients"] == ["2 cups red lentils", "1 onion", "1 tsp salt"]
    assert (stated["prep_minutes"], stated["cook_minutes"], stated["servings"]) == (25, 70, 4)
    assert all(each in record.text for each in stated["ingredients"])


def test_a_reference_states_what_is_printed() -> None:
    (record,) = papers.references("x.xml", REFERENCES)
    stated = {each.keys.split("|")[0]: each.value for each in record.fields}
    assert stated["title"] == "Cyclic Polyethers"
    assert stated["journal"] == "J. Am. Chem. Soc"
    assert (stated["year"], stated["volume"], stated["publisher"]) == (1967, "89", None)


def test_each_draw_is_another_question_with_a_valid_answer() -> None:
    record = recipes.recipe("content/soup.md", RECIPE)
    assert record is not None
    rng = random.Random(1)
    drawn = [sample for _ in range(40) if (sample := draw_sample(record, rng))]
    for sample in drawn:
        jsonschema.validate(sample.answer, sample.schema)
    assert len({str(sample.schema) for sample in drawn}) > 30


def test_records_come_back_from_disk_as_they_were(tmp_path: Path) -> None:
    made = [*papers.references("x.xml", REFERENCES), *pages.event_lists("x.md", "")]
    assert records.write(tmp_path / "records.xz", made) == 1
    assert list(records.read(tmp_path / "records.xz")) == made


@pytest.mark.parametrize(
    ("text", "day"),
    [
        ("July 4, 1976", "1976-07-04"),
        ("4th of nothing", None),
        ("24-Apr-2024", "2024-04-24"),
        ("2024-02-30", None),
        ("1 May 2020 to 3 May 2020", None),
    ],
)
def test_a_date_is_read_where_there_is_just_one(text: str, day: str | None) -> None:
    assert dates.read(text) == day


def test_a_passage_is_asked_what_its_own_words_say() -> None:
    text = (
        "Holmes laughed and the others were quiet. We had waited in Norwood with three carriages. "
        "“That is the last thing I would have done,” said Lestrade. The house was dark and the door was shut."
    )
    record = passage(random.Random(1), [text])
    assert record is not None
    stated = {
        field.keys.split("|")[0]: field.value for field in record.fields if field.value is not None
    }
    assert stated["who_laughed"] == "Holmes"
    assert stated["waited_in"] == "Norwood"
    assert stated["carriages"] == 3
    assert stated["speaker"] == "Lestrade"
    assert stated["quote"] == "That is the last thing I would have done"


def test_a_passage_in_which_a_phrase_occurs_twice_is_not_asked_for_it() -> None:
    text = "Holmes laughed and Watson laughed, with the dog and the cat. We waited in Norwood with three carriages."
    record = passage(random.Random(1), [text])
    assert record is not None
    assert not any(field.keys.startswith("who_laughed") for field in record.fields)


def test_text_that_shares_eight_words_with_an_evaluation_document_is_dropped(
    tmp_path: Path,
) -> None:
    file = tmp_path / "dev.jsonl"
    file.write_text('{"text": "Seven ships, and one small boat, lay at anchor."}\n')
    apart = Apart.of([file])
    assert not apart.keeps("They say: SEVEN ships and one small boat lay at last.")
    assert apart.keeps("Seven ships and one small boat sank.")
    assert Apart.of([]).keeps("Seven ships and one small boat lay at anchor.")
