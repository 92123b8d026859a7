"""Prompts of conversations: what a template that prints a document gets."""

import pytest
from intaglio.engine.api import model_folder
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.openai.chat_prompt import PromptOptions, chat_prompt, user_text
from intaglio.service.tools.hermes import HERMES


@pytest.mark.parametrize("text", ["a: x\r\nb: y\r\n", "a: x\rb: y\r", "a: x\x0cb: y\0"])
def test_the_document_of_an_extraction_model_has_no_control_characters(text: str) -> None:
    model = TextModel.load(model_folder(None))
    message = {"role": "user", "content": text}
    tokens = chat_prompt(model, [message], HERMES, PromptOptions()).tokens
    end = " " if text.endswith("\0") else "\n"
    texts = (model.vocabulary.tokens[token] or b"" for token in tokens)  # the markers have no text
    assert b"".join(texts).decode() == f"a: x\nb: y{end}"
    assert user_text([message]) == text
