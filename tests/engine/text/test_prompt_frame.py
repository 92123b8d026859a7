"""A prompt made from a frame is the prompt that the template renders."""

from functools import cache

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from intaglio.engine.api import ChatTemplate, Tokenizer, model_folder
from intaglio.engine.text.chat import PLAIN

from tests.support.tokens import SPECIALS, sentencepiece, small

CONTROLLED = (
    "{% for m in messages %}<|schema|>{{ m.role }}\n{{ m.content }}<|end|>\n{% endfor %}<|answer|>"
)
BARE = "{{ messages[-1].content }}"
GAP = "gap 0123456789abcdef"


@cache
def embedded() -> Tokenizer:
    return Tokenizer.load(model_folder(None))


MAKES = {"small": small, "sentencepiece": sentencepiece, "embedded": embedded}


@pytest.mark.parametrize("make", MAKES)
@pytest.mark.parametrize("source", [CONTROLLED, PLAIN, BARE])
@settings(max_examples=60, deadline=None)
@given(
    text=st.one_of(st.text(min_size=1, max_size=30), st.sampled_from([*SPECIALS, "\n", " ", "a\n"]))
)
@example(text="\nfoo ")
def test_the_tokens_are_those_of_the_whole_prompt(make: str, source: str, text: str) -> None:
    tokenizer = MAKES[make]()
    chat = ChatTemplate(tokenizer, source)
    system = {"role": "system", "content": "Read <|end|> this."}
    frame = chat.frame([system, {"role": "user", "content": GAP}], {}, GAP)
    assert frame is not None
    ids, count = frame.encode(tokenizer, text)
    assert ids == chat.encode([system, {"role": "user", "content": text}], {})
    assert count == len(tokenizer.encode(text))
    assert frame.size_bytes > 0 or source == BARE


@pytest.mark.parametrize(
    "source",
    [
        "{{ strftime_now('%H') }}{{ messages[-1].content }}",
        "{{ [1, 2] | random }}{{ messages[-1].content }}",
        "{{ messages[-1].content }} and {{ messages[-1].content }}",
        "{{ messages[-1].content | tojson }}",
        "nothing",
    ],
)
def test_a_prompt_that_is_not_the_same_around_the_text_has_no_frame(source: str) -> None:
    chat = ChatTemplate(embedded(), source)
    assert chat.frame([{"role": "user", "content": GAP}], {}, GAP) is None


def test_a_text_in_two_messages_has_no_frame() -> None:
    chat = ChatTemplate(embedded(), CONTROLLED)
    twice = [{"role": "user", "content": GAP}, {"role": "user", "content": f"see {GAP}"}]
    assert chat.frame(twice, {}, GAP) is None
