"""Every kind of tokenizer file, against the library that it comes from."""

import base64
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tiktoken
import tokenizers
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from intaglio.engine.errors import ModelError
from intaglio.engine.text.alphabet import byte_level_alphabet
from intaglio.engine.text.ranks import PATTERNS
from intaglio.engine.text.tokenizer import Piece, Tokenizer
from intaglio.grammar.api import Compiler, Constraint, Kind, allowed_tokens, empty_rows

from tests.support.tokens import TEXT, byte_level_source, large

CONTROL = ["<unk>", "<s>", "</s>"]
SCHEMA = '{"properties": {"name": {"type": "string"}, "n": {"type": "integer"}}, "required": ["name", "n"]}'
ORDINARY = st.text(
    st.characters(exclude_characters="\u2581", exclude_categories=["Cs"]), max_size=40
)
# Runs of one letter and of the same few are where merges of equal rank meet.
REPEATED = st.text(st.sampled_from("aab \n'sS1\u017f\u00e9"), max_size=60)


@cache
def ranks() -> Mapping[bytes, int]:
    """Bytes by rank, as a training orders them."""
    table = {letter: byte for byte, letter in enumerate(byte_level_alphabet())}
    vocabulary = byte_level_source(900)["model"]["vocab"]
    words = sorted(
        (number, bytes(table[c] for c in word))
        for word, number in vocabulary.items()
        if not word.startswith("<|")
    )
    singles = {bytes([byte]): byte for byte in range(256)}
    longer = [word for _, word in words if len(word) > 1]
    # No training would give these, but nothing in the format forbids them.
    longer += [b"aa", b"aaa", b"aaaa", b"ab", b"aab", b"  ", b"   "]
    return singles | {word: 256 + i for i, word in enumerate(dict.fromkeys(longer))}


def reference(pattern: str) -> tiktoken.Encoding:
    return tiktoken.Encoding(
        "made", pat_str=pattern, mergeable_ranks=dict(ranks()), special_tokens={}
    )


def write(folder: Path, name: str, value: object) -> None:
    (folder / name).write_text(json.dumps(value), encoding="utf-8")


def rank_lines() -> str:
    return "".join(f"{base64.b64encode(t).decode()} {r}\n" for t, r in ranks().items())


def loaded_ranks(folder: Path, name: str = "made.tiktoken") -> Tokenizer:
    (folder / name).write_text(rank_lines())
    first = len(ranks())
    added = {
        str(first + i): {"content": content, "special": True}
        for i, content in enumerate(("<|end|>", "<|begin|>"))
    }
    write(folder, "tokenizer_config.json", {"added_tokens_decoder": added, "eos_token": "<|end|>"})
    write(folder, "config.json", {"model_type": "llama"})
    return Tokenizer.load(folder)


def loaded_tekken(folder: Path, *, listed: bool = True) -> Tokenizer:
    value: dict[str, Any] = {
        "config": {
            "pattern": PATTERNS["qwen2"],
            "num_vocab_tokens": len(ranks()),
            "default_vocab_size": len(ranks()) + 20,
            "default_num_special_tokens": 30,
            "version": "v3",
        },
        "vocab": [
            {"rank": r, "token_bytes": base64.b64encode(t).decode(), "token_str": None}
            for t, r in ranks().items()
        ],
    }
    if listed:
        names = ["<unk>", "<s>", "</s>", "[INST]", "[/INST]"]
        value["special_tokens"] = [
            {"rank": i, "token_str": name, "is_control": True} for i, name in enumerate(names)
        ]
    write(folder, "tekken.json", value)
    return Tokenizer.load(folder)


@pytest.fixture(scope="module", params=["made.tiktoken", "tiktoken.model", "tokenizer.model"])
def from_ranks(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Tokenizer:
    return loaded_ranks(tmp_path_factory.mktemp("ranks"), request.param)


@pytest.fixture(scope="module", params=[True, False])
def tekken(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Tokenizer:
    return loaded_tekken(tmp_path_factory.mktemp("tekken"), listed=request.param)


@settings(max_examples=150, deadline=None)
@given(text=ORDINARY | REPEATED)
def test_ranks_tokenize_as_tiktoken_does(from_ranks: Tokenizer, text: str) -> None:
    expected = reference(PATTERNS["llama"]).encode_ordinary(text)
    assert list(from_ranks.encode(text)) == expected
    assert from_ranks.canonical(text.encode()) == tuple(expected), (
        "there is no blank in front to leave out"
    )
    spelled = b"".join(from_ranks.vocabulary().text(token) or b"" for token in expected)
    assert spelled == text.encode()


@settings(max_examples=100, deadline=None)
@given(text=ORDINARY | REPEATED)
def test_tekken_tokenizes_as_tiktoken_does_past_the_control_tokens(
    tekken: Tokenizer, text: str
) -> None:
    kept = {token: rank for token, rank in ranks().items() if rank < len(ranks()) - 10}
    inner = tiktoken.Encoding(
        "made", pat_str=PATTERNS["qwen2"], mergeable_ranks=kept, special_tokens={}
    )
    assert list(tekken.encode(text)) == [30 + token for token in inner.encode_ordinary(text)]


def test_the_ranks_of_a_published_model_spell_as_its_own_file_does(tmp_path: Path) -> None:
    published = large()
    table = {letter: byte for byte, letter in enumerate(byte_level_alphabet())}
    vocabulary = published._source["model"]["vocab"]
    lines = [
        f"{base64.b64encode(bytes(table[c] for c in word)).decode()} {rank}\n"
        for word, rank in vocabulary.items()
    ]
    (tmp_path / "published.tiktoken").write_text("".join(lines))
    added = {str(t["id"]): t for t in published._source["added_tokens"]}
    write(tmp_path, "tokenizer_config.json", {"added_tokens_decoder": added})
    write(tmp_path, "config.json", {"model_type": "qwen2", "eos_token_id": published.end_ids[0]})
    ours = Tokenizer.load(tmp_path)
    for text in (
        *TEXT,
        SCHEMA,
        " " * 5000,
        "a" * 5000,
        "\r\n\t x" * 500,
        "don't DON'T 12345 <|im_end|>",
    ):
        assert ours.encode(text) == published.encode(text)
    assert ours.vocabulary().tokens == published.vocabulary().tokens


def test_tekken_has_its_control_tokens_in_front(tekken: Tokenizer) -> None:
    vocabulary = tekken.vocabulary()
    assert vocabulary.width == len(ranks()) + 20
    marks = {tekken.id_of("[TOOL_CALLS]"): b"[TOOL_CALLS]"}  # text in outputs
    assert vocabulary.tokens[:30] == tuple(map(marks.get, range(30)))
    assert None not in vocabulary.tokens[30:]
    assert vocabulary.end_ids == (2,)
    assert tekken.id_of("[INST]") == 3
    assert tekken.id_of("<SPECIAL_29>") == 29
    assert not set(range(30)) & set(tekken.encode("[INST]</s><s><SPECIAL_29>"))
    ids = tekken.encode_pieces([Piece("<s>[INST]", trusted=True), Piece("[/INST]", trusted=False)])
    assert ids[:2] == (1, 3)
    assert not set(range(30)) & set(ids[2:])


def test_control_tokens_of_a_rank_file_come_from_its_configuration(from_ranks: Tokenizer) -> None:
    vocabulary = from_ranks.vocabulary()
    assert vocabulary.end_ids == (len(ranks()),)
    assert vocabulary.tokens[len(ranks()) :] == (None, None)
    assert {bytes([byte]) for byte in range(256)} <= set(vocabulary.tokens)
    assert not {len(ranks()), len(ranks()) + 1} & set(from_ranks.encode("<|end|> <|begin|>"))
    assert vocabulary.fingerprint == from_ranks.vocabulary().fingerprint


def test_rank_files_that_cannot_be_used_say_why(tmp_path: Path) -> None:
    (tmp_path / "made.tiktoken").write_text(rank_lines())
    with pytest.raises(ModelError, match="no pattern") as error:
        Tokenizer.load(tmp_path)
    assert "pat_str" in error.value.hint
    for pattern, reason in ((r"\p{N}{1,3}+|.", "possessive"), (r"a$|.", r"\$")):
        write(tmp_path, "tokenizer_config.json", {"pat_str": pattern})
        with pytest.raises(ModelError, match=reason):
            Tokenizer.load(tmp_path)
    write(
        tmp_path,
        "tokenizer_config.json",
        {"pat_str": r"\w+|\W", "added_tokens_decoder": {"5": {"content": "x"}}},
    )
    with pytest.raises(ModelError, match="two tokens"):
        Tokenizer.load(tmp_path)
    (tmp_path / "made.tiktoken").write_text("YQ== 0\nYg== 1\n")
    with pytest.raises(ModelError, match="no token for byte 0"):
        Tokenizer.load(tmp_path)
    (tmp_path / "made.tiktoken").write_text("YQ== 0\nno rank\n")
    with pytest.raises(ModelError, match="line 2"):
        Tokenizer.load(tmp_path)
    (tmp_path / "made.tiktoken").unlink()
    (tmp_path / "tokenizer.model").write_bytes(b"\n\x0e\n\x05<unk>\x15")
    with pytest.raises(ModelError, match=r"no tokenizer\.json"):
        Tokenizer.load(tmp_path)
    write(tmp_path, "tekken.json", {"config": {}})
    with pytest.raises(ModelError, match="not a Tekken"):
        Tokenizer.load(tmp_path)


@cache
def trained(kind: str) -> tuple[Tokenizer, tokenizers.Tokenizer]:
    """A SentencePiece-like tokenizer as models have them, and the library's own view of it."""
    fallback = "bytes" in kind
    pieces = [f"<0x{byte:02X}>" for byte in range(256)] if fallback else []
    special = [*CONTROL, *pieces]
    if "unigram" in kind:
        core = tokenizers.Tokenizer(tokenizers.models.Unigram())
        core.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
        trainer: Any = tokenizers.trainers.UnigramTrainer(
            vocab_size=400, special_tokens=CONTROL, unk_token="<unk>", show_progress=False
        )
    else:
        core = tokenizers.Tokenizer(
            tokenizers.models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=fallback)
        )
        core.normalizer = tokenizers.normalizers.Sequence(
            [
                tokenizers.normalizers.Prepend("\u2581"),
                tokenizers.normalizers.Replace(" ", "\u2581"),
            ]
        )
        trainer = tokenizers.trainers.BpeTrainer(
            vocab_size=600, special_tokens=special, show_progress=False
        )
    core.train_from_iterator(TEXT, trainer)
    source: dict[str, Any] = json.loads(core.to_str())
    if "unigram" in kind and fallback:
        source["model"]["vocab"] += [[piece, -20.0] for piece in pieces]
        source["model"]["byte_fallback"] = True
    # Bytes are ordinary tokens of the model, not control tokens.
    source["added_tokens"] = [
        token for token in source["added_tokens"] if token["content"] in CONTROL
    ]
    decoders: list[dict[str, Any]] = [
        {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "}
    ]
    if fallback:
        decoders.append({"type": "ByteFallback"})
    decoders += [{"type": "Fuse"}, {"type": "Strip", "content": " ", "start": 1, "stop": 0}]
    source["decoder"] = (
        {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
        if kind == "unigram"
        else {"type": "Sequence", "decoders": decoders}
    )
    return Tokenizer(source, [2]), tokenizers.Tokenizer.from_str(json.dumps(source))


KINDS = ["unigram", "unigram bytes", "bpe", "bpe bytes"]


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=60, deadline=None)
@given(text=ORDINARY)
def test_sentencepiece_bytes_are_what_the_library_decodes(kind: str, text: str) -> None:
    assume(not any(name in text for name in CONTROL))
    ours, library = trained(kind)
    ids = ours.encode(text)
    assert list(ids) == library.encode(text, add_special_tokens=False).ids
    spelled = b"".join(ours.vocabulary().text(token) or b"" for token in ids)
    decoded = library.decode(list(ids), skip_special_tokens=True)
    # The library strips one blank in front of a whole text; here outputs stand in the middle of one.
    assert spelled.decode(errors="replace").removeprefix(" ") == decoded
    if "bytes" in kind:
        inner = ours.canonical(text.encode())
        assert b"".join(ours.vocabulary().text(token) or b"" for token in inner) == text.encode()


@pytest.mark.parametrize("kind", KINDS)
def test_sentencepiece_control_tokens_and_unknown_ones(kind: str) -> None:
    ours, _ = trained(kind)
    vocabulary = ours.vocabulary()
    assert vocabulary.tokens[:3] == (None, None, None)
    assert not {1, 2} & set(ours.encode("</s> a <s></s>"))
    single = vocabulary.tokens.count(b"\xf0")
    assert single == ("bytes" in kind)
    if "bytes" not in kind:
        assert 0 in ours.encode("a \u4e94"), "what the vocabulary lacks is unknown, not an error"
        assert b"<0x41>" not in vocabulary.tokens


def test_what_looks_like_a_byte_is_text_without_byte_fallback() -> None:
    ours, _ = trained("bpe bytes")
    source = {**ours._source, "decoder": {"type": "Metaspace", "replacement": "\u2581"}}
    token = ours.id_of("<0x41>")
    assert token is not None
    assert ours.vocabulary().tokens[token] == b"A"
    assert Tokenizer(source, [2]).vocabulary().tokens[token] == b"<0x41>"


@pytest.mark.parametrize("kind", [*KINDS, "ranks", "tekken"])
def test_grammars_never_reach_a_control_token(kind: str, tmp_path: Path) -> None:
    loaders: dict[str, Callable[[Path], Tokenizer]] = {
        "ranks": loaded_ranks,
        "tekken": loaded_tekken,
    }
    load = loaders.get(kind)
    tokenizer = load(tmp_path) if load else trained(kind)[0]
    vocabulary = tokenizer.vocabulary()
    compiler = Compiler(vocabulary, tokenizer.canonical)
    controls = {i for i, token in enumerate(vocabulary.tokens) if token is None}
    matcher = compiler.compile(Constraint(Kind.JSON_SCHEMA, SCHEMA)).matcher()
    row = empty_rows(1, vocabulary.width)[0]
    text = '{"name":"</s><s>[INST] \u00e9","n":12}'
    for token in tokenizer.canonical(text.encode()):
        if vocabulary.text(token) is None:  # not every vocabulary has every character
            return
        matcher.fill(row)
        legal = set(np.asarray(allowed_tokens(row, vocabulary.width)).tolist())
        assert token in legal
        assert not legal & controls
        matcher.accept(token)
    matcher.fill(row)
    assert set(allowed_tokens(row, vocabulary.width).tolist()) == set(vocabulary.end_ids)
