"""Masks of training answers: the service's constraint, under which every generated answer is legal."""

from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from intaglio.schemas.extraction.requests import ExtractOptions
from intaglio.service.extraction.translate import extraction_constraint

from examples.train_embedded import feed
from examples.train_embedded.encode import Codec, load
from examples.train_embedded.generate import Sample
from examples.train_embedded.permitted import ANY, FORCED, Grammars, constraint_of

TOKENIZER = Path(__file__).resolve().parents[2] / "engine" / "embedded" / "tokenizer.json"
SCHEMA = {
    "type": "object",
    "properties": {"kind": {"enum": ["note", "letter"]}},
    "required": ["kind"],
}


@pytest.fixture(scope="module")
def codec() -> Codec:
    return Codec.of(load(TOKENIZER))


@pytest.fixture(scope="module")
def grammars(codec: Codec) -> Grammars:
    return Grammars(TOKENIZER, codec.end)


def drawn() -> Iterator[Sample]:
    """Documents of training: synthetic, printed, and written one by one."""
    mix = feed.SampleMix(TOKENIZER, 1024, printed=0.2, written=0.3)
    for chunk in feed.drawn(mix, [], [], 0, 1):
        yield from chunk


def test_the_constraint_is_that_of_an_extraction() -> None:
    assert constraint_of(SCHEMA) == extraction_constraint(SCHEMA, ExtractOptions())


def test_answers_of_training_documents_are_legal(codec: Codec, grammars: Grammars) -> None:
    for sample in islice(drawn(), 100):
        (answer,) = codec.answers([sample.answer_text])
        assert len(grammars.legal(sample.schema, answer)) == len(answer)


def test_the_masks_of_a_batch_lie_at_the_tokens_of_its_answers(
    codec: Codec, grammars: Grammars
) -> None:
    (answer,) = codec.answers(['{"kind":"letter"}'])
    packed = grammars.legal(SCHEMA, answer)
    masks = grammars.joined([None, packed, packed], [4, 2, 5], 24)
    assert masks is not None
    assert masks.documents == 2
    assert not masks.places[0].any()
    size = len(answer)
    np.testing.assert_array_equal(masks.places[1, 2 : 2 + size], masks.places[2, 5 : 5 + size])
    assert not masks.places[1, 2 + size :].any()
    assert masks.places[1, 2] == FORCED
    assert masks.places[1, 1 + size] == FORCED  # the end of the answer
    assert masks.rows[ANY].all()
    for token, place in zip(answer, masks.places[1, 2:], strict=False):
        if place != FORCED:
            allowed = np.flatnonzero(np.unpackbits(masks.rows[place], bitorder="little"))
            assert token in allowed
            assert len(allowed) < 20


def test_a_batch_without_masks_carries_none(grammars: Grammars) -> None:
    assert grammars.joined([None, None], [1, 2], 16) is None
