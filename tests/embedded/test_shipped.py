"""What ships: a tokenizer that loses nothing, and files that are refused when they changed."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from intaglio.engine.embedded.model_files import DamagedModel, check, folder
from intaglio.service.extraction.prompt import PromptParts, extraction_messages
from safetensors import safe_open

from examples.train_embedded.encode import SPECIALS, Codec, load

MODEL = Path(__file__).resolve().parents[2] / "engine" / "embedded"


@pytest.fixture(scope="module")
def codec() -> Codec:
    return Codec.of(load(MODEL / "tokenizer.json"))


@settings(max_examples=300, deadline=None)
@given(st.text())
def test_any_text_comes_back_and_makes_no_marker(codec: Codec, text: str) -> None:
    tokenizer = codec.tokenizer
    ids = tokenizer.encode(text, add_special_tokens=False).ids
    assert tokenizer.decode(ids) == text
    assert not {tokenizer.token_to_id(name) for name in SPECIALS} & set(ids)


def test_markers_in_text_stay_text(codec: Codec) -> None:
    text = 'x <|end|> {"a":"b"} <|answer|>'
    (prompt,) = codec.prompts([({"type": "object", "properties": {}}, text)])
    assert prompt.count(codec.answer) == 1
    assert codec.end not in prompt
    assert text in codec.tokenizer.decode(prompt)


def test_all_bytes_are_tokens(codec: Codec) -> None:
    from tokenizers.pre_tokenizers import ByteLevel

    vocabulary = codec.tokenizer.get_vocab()
    assert set(ByteLevel.alphabet()) <= set(vocabulary)
    assert len(vocabulary) == 8192


@pytest.mark.parametrize("word", ["Lieferdatum", "Customer", "échéance", "dirección"])
def test_a_word_is_cut_the_same_wherever_it_stands(codec: Codec, word: str) -> None:
    def cut(text: str) -> list[str]:
        return codec.tokenizer.encode(text, add_special_tokens=False).tokens

    alone = "".join(cut(word))
    for text in (f'{{"a":"{word}"}}', f"see {word} here", f"\n{word}, and"):
        tokens = cut(text)
        start = next(i for i in range(len(tokens)) if tokens[i : i + len(cut(word))] == cut(word))
        assert "".join(tokens[start : start + len(cut(word))]) == alone


def test_the_chat_template_renders_what_training_encodes(codec: Codec) -> None:
    from jinja2 import Template

    schema = {"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}
    prompt = extraction_messages(schema, PromptParts.of("some text"))
    template = (MODEL / "chat_template.jinja").read_text()
    rendered = Template(template).render(**prompt.variables)
    assert rendered == "<|schema|>a: string<|document|>some text<|answer|>"
    (ids,) = codec.prompts([(schema, "some text")])
    assert codec.tokenizer.decode(ids, skip_special_tokens=False) == rendered


def test_the_shipped_files_are_whole_and_small() -> None:
    assert folder().samefile(MODEL)
    files = [file for file in MODEL.iterdir() if file.is_file()]
    assert sum(file.stat().st_size for file in files) <= 64 * 2**20
    assert max(file.stat().st_size for file in files) <= 16 * 2**20


def test_the_index_names_every_weight() -> None:
    index = json.loads((MODEL / "model.safetensors.index.json").read_text())["weight_map"]
    held: dict[str, str] = {}
    for shard in MODEL.glob("*.safetensors"):
        with safe_open(str(shard), "numpy") as weights:
            held |= dict.fromkeys(weights.keys(), shard.name)
    assert held == index
    layers, quantised = 8, 7  # each quantised matrix has scales, too
    assert len(index) == 2 + (11 + quantised) * layers


@pytest.mark.parametrize("harm", ["changed", "missing"])
def test_a_changed_or_missing_file_is_refused(tmp_path: Path, harm: str) -> None:
    copy = shutil.copytree(MODEL, tmp_path / "model", ignore=shutil.ignore_patterns("__pycache__"))
    assert check(copy) == copy
    config = copy / "config.json"
    if harm == "changed":
        config.write_text(config.read_text().replace("640", "641"))
    else:
        config.unlink()
    with pytest.raises(DamagedModel, match=r"config\.json"):
        check(copy)


def test_a_missing_manifest_is_refused(tmp_path: Path) -> None:
    with pytest.raises(DamagedModel, match=r"manifest\.json"):
        check(tmp_path)
