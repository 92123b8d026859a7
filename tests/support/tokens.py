"""Tokenizers for tests: a small byte-level one made on the spot, a SentencePiece-like one, and the large shared one."""

import json
import os
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import tokenizers
from intaglio.engine.text.tokenizer import Tokenizer

SPECIALS = ("<|end|>", "<|pad|>", "<|schema|>", "<|document|>", "<|answer|>")
TEXT = [
    '{"name":"Ada Lovelace","born":1815,"tags":["poet","countess"],"address":{"city":"London"}}',
    '{\n  "name": "Zoë",\n  "total": 12.50,\n  "paid": true,\n  "note": null\n}',
    "The quick brown fox jumps over the lazy dog. Größe, naïve, 東京, Привет, 🙂🙂.",
    'properties items required string number integer boolean null "\\n" 2024-01-31T10:20:30Z',
] * 4


def data(*parts: str) -> Path:
    """A file of the shared data folder; the test is skipped where there is none."""
    root = os.environ.get("INTAGLIO_TEST_DATA")
    base = Path(root) if root else Path(__file__).parents[3] / "shared" / "data"
    path = base.joinpath(*parts)
    if not path.exists():
        pytest.skip("needs ../shared")
    return path


def byte_level_source(vocab_size: int = 700) -> dict[str, Any]:
    """`tokenizer.json` of a byte-level BPE trained on a few sentences; all 256 bytes are tokens."""
    core = tokenizers.Tokenizer(tokenizers.models.BPE())
    core.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    core.decoder = tokenizers.decoders.ByteLevel()
    trainer = tokenizers.trainers.BpeTrainer(
        vocab_size=vocab_size,
        special_tokens=list(SPECIALS),
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    core.train_from_iterator(TEXT, trainer)
    source: dict[str, Any] = json.loads(core.to_str())
    return source


@cache
def small() -> Tokenizer:
    source = byte_level_source()
    return Tokenizer(source, [source["model"]["vocab"]["<|end|>"]])


@cache
def sentencepiece() -> Tokenizer:
    """A BPE over characters with byte fallback and U+2581 for blanks, as SentencePiece models are converted."""
    pieces = ["<unk>", "<s>", "</s>", *(f"<0x{byte:02X}>" for byte in range(256))]
    pieces += ["\u2581", *'abcdehlorw{}":,é', "he", "ll", "hell", "hello", "\u2581w", "\u2581wo"]
    merges = ["h e", "l l", "he ll", "hell o", "\u2581 w", "\u2581w o"]
    special = {"single_word": False, "lstrip": False, "rstrip": False, "normalized": False}
    source = {
        "version": "1.0",
        "added_tokens": [
            {"id": i, "content": pieces[i], "special": True, **special} for i in range(3)
        ],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "Prepend", "prepend": "\u2581"},
                {"type": "Replace", "pattern": {"String": " "}, "content": "\u2581"},
            ],
        },
        "pre_tokenizer": None,
        "post_processor": None,
        "decoder": {
            "type": "Sequence",
            "decoders": [
                {"type": "Replace", "pattern": {"String": "\u2581"}, "content": " "},
                {"type": "ByteFallback"},
                {"type": "Fuse"},
            ],
        },
        "model": {
            "type": "BPE",
            "unk_token": "<unk>",
            "fuse_unk": True,
            "byte_fallback": True,
            "vocab": {piece: index for index, piece in enumerate(pieces)},
            "merges": merges,
        },
    }
    return Tokenizer(source, [2])


@cache
def large() -> Tokenizer:
    """The 151,646-id byte-level tokenizer of the shared data, with its model's width left to the caller."""
    return Tokenizer.load(data("tokenizers", "qwen"))
