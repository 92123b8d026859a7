"""Quick encoding gives the library's ids for every text, or declines."""

import json
import random
import unicodedata
from functools import cache
from typing import Any

import pytest
import tokenizers
from hypothesis import example, given, settings
from hypothesis import strategies as st
from intaglio.engine.api import Tokenizer, model_folder
from intaglio.engine.text.split_patterns import translated
from intaglio.engine.text.words import WordEncoder

from tests.support.tokens import byte_level_source, large, small

LLAMA = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n]*"
    r"|\s*[\r\n]+|\s+(?!\S)|\s+"
)
CASED = (
    r"[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re)?"
    r"|[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*"
    r"|\p{N}{1,3}| ?[^\s\p{L}\p{N}]+[\r\n/]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)


def source(pattern: str, normalizer: Any = None) -> dict[str, Any]:
    made = byte_level_source()
    split = {
        "type": "Split",
        "pattern": {"Regex": pattern},
        "behavior": "Isolated",
        "invert": False,
    }
    level = {
        "type": "ByteLevel",
        "add_prefix_space": False,
        "trim_offsets": True,
        "use_regex": False,
    }
    stage = {"type": "Sequence", "pretokenizers": [split, level]}
    return made | {"pre_tokenizer": stage, "normalizer": normalizer, "added_tokens": []}


@cache
def pair(name: str) -> tuple[WordEncoder, tokenizers.Tokenizer]:
    """A quick encoder, and the library's tokenizer of the same source."""
    if name == "embedded":
        made = json.loads((model_folder(None) / "tokenizer.json").read_text()) | {
            "added_tokens": []
        }
    else:
        composes = {"type": "NFC"} if name == "composing" else None
        made = source(CASED if name == "cased" else LLAMA, composes)
    library = tokenizers.Tokenizer.from_str(json.dumps(made))
    words = WordEncoder.of(made, library, ())
    assert words is not None
    return words, library


KINDS = pytest.mark.parametrize("kind", ["llama", "cased", "composing", "embedded"])
TRICKY = st.sampled_from(
    [
        "'s",
        "'S",
        "'\u017f",
        "'ll",
        "\u212a",
        " ",
        "  ",
        "\n",
        "\r\n",
        "\t",
        "\x1c",
        "\x85",
        "\xa0",
        "\u200b",
        "\u3000",
        "1",
        "123",
        "1234",
        "\u00bd",
        "\u0663",
        "e\u0301",
        "\u00e9",
        "\u0301",
        "A",
        "a",
        "Ab",
        "\u01c5",
        "\u6771",
        "\U0001f642",
        "\U0001d400",
        "{",
        '":"',
        "<|end|>",
        "/",
        "\ufb05",
        "\u2028",
        "\ue000",
        "\u1680",
    ]
)
TEXTS = st.one_of(
    st.text(max_size=40),
    st.lists(TRICKY, max_size=24).map("".join),
    st.text("aA1 \n'{\":", max_size=40),
)


@KINDS
@settings(max_examples=150, deadline=None)
@given(text=TEXTS, head=st.sampled_from(["", "user\n", "a", " ", "'"]))
@example(text="", head="user\n")
@example(text="\nfoo", head="user\n")
def test_the_ids_are_those_of_the_library(kind: str, text: str, head: str) -> None:
    words, library = pair(kind)

    def of_library(of: str) -> tuple[int, ...]:
        return tuple(library.encode(of, add_special_tokens=False).ids)

    ids = words.encode(text)
    assert ids is None or ids == of_library(text)
    assert words.encode(text) == ids
    after = words.encode_after(head, text)
    assert after is None or after == (of_library(head + text), len(of_library(text)))


@KINDS
def test_every_character_of_the_basic_plane_between_others(kind: str) -> None:
    words, library = pair(kind)
    declined = 0
    for point in range(0x10000):
        c = chr(point)
        if 0xD800 <= point < 0xE000 or (c.isalpha() and point % 64):
            continue
        text = f"{c}a {c}{c}1{c}'{c} \n{c}A{c}  {c}"
        ids = words.encode(text)
        declined += ids is None
        right = tuple(library.encode(text, add_special_tokens=False).ids)
        assert ids in (None, right), hex(point)
    unassigned = sum(unicodedata.category(chr(p)) == "Cn" for p in range(0x10000))
    assert declined < unassigned + 100  # most texts are not declined


def test_ordinary_text_is_not_declined() -> None:
    for kind in ("llama", "cased", "composing", "embedded"):
        words, _ = pair(kind)
        text = "Größe, naïve: 東京 Привет 1 234,50 € — “quoted”\n\n\tDone. 🙂"
        assert words.encode(text) is not None, kind
        assert words.encode_after("user\n", text) is not None, kind


def test_a_small_memory_forgets_and_stays_right() -> None:
    made = source(LLAMA)
    library = tokenizers.Tokenizer.from_str(json.dumps(made))
    words = WordEncoder(library, LLAMA, (), composes=False, most=5)
    dice = random.Random(0)
    for _ in range(200):
        text = " ".join(dice.choices(["alpha", "beta", "gamma", "delta", "x" * 60, "1"], k=9))
        assert words.encode(text) == tuple(library.encode(text).ids)
        assert len(words._ids) <= 5


def test_a_word_that_spells_a_control_token_is_left_to_the_library() -> None:
    made = source(LLAMA)
    made["model"]["ignore_merges"] = True
    made["model"]["vocab"]["hello"] = 5000
    library = tokenizers.Tokenizer.from_str(json.dumps(made))
    assert WordEncoder(library, LLAMA, (), composes=False).encode("hello there") is not None
    words = WordEncoder(library, LLAMA, (5000,), composes=False)
    assert words.encode("hello there") is None
    assert words.encode("there") is not None


@pytest.mark.parametrize(
    "pattern",
    [
        "(a)",
        "a*",
        r"\bword",
        "[[:alpha:]]",
        r"[a&&b]",
        r"(?<=a)b",
        "a{1,3}+",
        r"[\S]",
        "^a",
        "(?i)a",
    ],
)
def test_a_pattern_that_may_mean_something_else_is_refused(pattern: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        translated(pattern)


def test_tokenizers_of_other_kinds_have_no_quick_encoder() -> None:
    made = source(LLAMA)
    library = tokenizers.Tokenizer.from_str(json.dumps(made))
    lower = {"type": "Lowercase"}
    for other in (
        made | {"normalizer": lower},
        made | {"pre_tokenizer": None},
        made | {"model": made["model"] | {"dropout": 0.1}},
        source("(a)|."),
    ):
        assert WordEncoder.of(other, library, ()) is None
    assert small()._words is None


@settings(max_examples=100, deadline=None)
@given(text=TEXTS)
def test_a_published_tokenizer_encodes_the_same_with_and_without(text: str) -> None:
    tokenizer = large()
    assert tokenizer._words is not None
    assert tokenizer.encode(text) == tokenizer._encode_by_library(tokenizer._plain, text)
    ids, count = tokenizer.encode_after("user\n", text, inner=True)
    assert ids == tokenizer._encode_by_library(tokenizer._inner, "user\n" + text)
    assert count == len(tokenizer.encode(text))


def test_quick_and_slow_are_one_class_of_tokenizer() -> None:
    assert isinstance(Tokenizer.load(model_folder(None))._words, WordEncoder)
