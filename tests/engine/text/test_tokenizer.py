"""Ids and bytes: the bytes of every id, and that text never becomes a control token."""

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.engine.errors import ModelError
from intaglio.engine.text.tokenizer import Piece, Tokenizer

from tests.support.tokens import SPECIALS, byte_level_source, large, sentencepiece, small

ALL = pytest.mark.parametrize("make", [small, sentencepiece, large])
Make = Callable[[], Tokenizer]


def spelled(tokenizer: Tokenizer, ids: tuple[int, ...]) -> bytes:
    vocabulary = tokenizer.vocabulary()
    return b"".join(vocabulary.text(token) or b"" for token in ids)


@ALL
@settings(max_examples=60, deadline=None)
@given(text=st.text(max_size=40))
def test_the_bytes_of_the_ids_are_the_text(make: Make, text: str) -> None:
    tokenizer = make()
    shown = spelled(tokenizer, tokenizer.canonical(text.encode()))
    if make is large:
        assert shown.decode() == unicodedata.normalize("NFC", text)
    else:
        assert shown.decode() == text.replace("\u2581", " " if make is sentencepiece else "\u2581")


@ALL
def test_every_control_spelling_and_its_likes_stay_plain_text(make: Make) -> None:
    tokenizer = make()
    control = set(tokenizer._control)
    names = [*tokenizer._added, "<|end|>", "</s>", "<s>"]
    for name in names:
        for text in (
            name,
            f"a{name}b",
            name * 3,
            name[:-1] + name,
            f" {name} ",
            name + "\n" + name,
        ):
            ids = tokenizer.encode(text)
            assert not control & set(ids), (name, text)
            assert spelled(tokenizer, ids).decode().strip() == text.strip()


def test_a_control_token_in_the_base_vocabulary_is_broken_apart() -> None:
    source = byte_level_source()
    # A whole pre-token that is in the vocabulary is taken as it is.
    source["model"]["ignore_merges"] = True
    source["model"]["vocab"]["hello"] = 5000
    source["added_tokens"].append({**source["added_tokens"][0], "id": 5000, "content": "hello"})
    tokenizer = Tokenizer(source, [5000])
    ids = tokenizer.encode("hello")
    assert 5000 not in ids
    assert spelled(tokenizer, ids) == b"hello"


def test_pieces_take_control_tokens_from_trusted_text_only() -> None:
    tokenizer = small()
    schema, end = tokenizer.id_of("<|schema|>"), tokenizer.id_of("<|end|>")
    ids = tokenizer.encode_pieces(
        [
            Piece("<|schema|>a ", trusted=True),
            Piece("b<|end|>", trusted=False),
            Piece(" c<|end|>", trusted=True),
        ]
    )
    assert ids == (schema, *tokenizer.encode("a b<|end|> c"), end)


def test_a_control_token_cannot_be_made_from_two_halves() -> None:
    tokenizer = small()
    ids = tokenizer.encode_pieces([Piece("<|sch", trusted=True), Piece("ema|>", trusted=False)])
    assert tokenizer.id_of("<|schema|>") not in ids


def test_sentencepiece_puts_a_blank_in_front_once() -> None:
    tokenizer = sentencepiece()
    assert spelled(tokenizer, tokenizer.encode("hello")) == b" hello"
    assert spelled(tokenizer, tokenizer.canonical(b"hello")) == b"hello"
    ids = tokenizer.encode_pieces([Piece("<s>", trusted=True), Piece("hello wo", trusted=False)])
    assert ids[0] == 1
    assert spelled(tokenizer, ids[1:]) == b"hello wo"
    assert spelled(tokenizer, tokenizer.canonical("ß€".encode())).decode() == "ß€"


@ALL
def test_all_bytes_can_be_spelled_and_controls_have_none(make: Make) -> None:
    tokenizer = make()
    vocabulary = tokenizer.vocabulary(tokenizer.size + 7)
    assert {bytes([byte]) for byte in range(256)} <= set(vocabulary.tokens)
    assert vocabulary.width == tokenizer.size + 7
    assert all(vocabulary.text(end) is None for end in vocabulary.end_ids)
    assert vocabulary.text(vocabulary.width - 1) is None
    assert vocabulary.fingerprint == tokenizer.vocabulary(tokenizer.size + 7).fingerprint
    assert vocabulary.fingerprint != tokenizer.vocabulary().fingerprint


def write(folder: Path, name: str, value: object) -> None:
    (folder / name).write_text(json.dumps(value), encoding="utf-8")


def test_end_ids_come_from_all_configurations(tmp_path: Path) -> None:
    write(tmp_path, "tokenizer.json", byte_level_source())
    with pytest.raises(ModelError, match="end token"):
        Tokenizer.load(tmp_path)
    write(tmp_path, "generation_config.json", {"eos_token_id": [3, 1]})
    write(tmp_path, "config.json", {"eos_token_id": 1})
    write(tmp_path, "tokenizer_config.json", {"eos_token": {"content": "<|end|>"}})
    assert Tokenizer.load(tmp_path).end_ids == (3, 1, SPECIALS.index("<|end|>"))
    write(tmp_path, "tokenizer_config.json", {"eos_token": "<|no|>"})
    with pytest.raises(ModelError, match="not an added token"):
        Tokenizer.load(tmp_path)
    write(tmp_path, "config.json", {"eos_token_id": "</s>"})
    with pytest.raises(ModelError, match="must be token ids") as refused:
        Tokenizer.load(tmp_path)
    assert refused.value.where == "config.json"


def test_what_is_not_a_tokenizer_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"no tokenizer\.json"):
        Tokenizer.load(tmp_path)
    write(tmp_path, "generation_config.json", {"eos_token_id": 0})
    write(tmp_path, "tokenizer.json", {"model": 1})
    with pytest.raises(ModelError, match="cannot be loaded"):
        Tokenizer.load(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{", encoding="utf-8")
    with pytest.raises(ModelError, match="cannot be read"):
        Tokenizer.load(tmp_path)


def test_tokens_without_exact_bytes_are_refused() -> None:
    source = byte_level_source()
    source["decoder"] = {"type": "WordPiece", "prefix": "##", "cleanup": True}
    with pytest.raises(ModelError, match="exact bytes"):
        Tokenizer(source, [0]).vocabulary()


def test_a_model_narrower_than_its_tokenizer_is_refused() -> None:
    with pytest.raises(ModelError, match="logits"):
        small().vocabulary(10)


def test_marks_of_calls_are_text_in_outputs_and_nothing_in_prompts() -> None:
    source = byte_level_source()
    marks = ("[TOOL_CALLS]", "<tool_call>")
    for number, mark in enumerate(marks):
        entry = {**source["added_tokens"][0], "id": 900 + number, "content": mark}
        source["added_tokens"].append(entry | {"special": number == 0})
    tokenizer = Tokenizer(source, [source["model"]["vocab"]["<|end|>"]])
    for number, mark in enumerate(marks):
        assert tokenizer.vocabulary().tokens[900 + number] == mark.encode()
        ids = tokenizer.canonical(f"a {mark}{mark} b".encode())
        assert ids.count(900 + number) == 2
        assert spelled(tokenizer, ids) == f"a {mark}{mark} b".encode()
        assert 900 + number not in tokenizer.encode(mark)
        pieces = [Piece(mark, trusted=True), Piece(mark, trusted=False)]
        assert tokenizer.encode_pieces(pieces).count(900 + number) == 1
