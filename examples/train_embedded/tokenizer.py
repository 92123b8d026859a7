"""Train the embedded model's tokenizer: byte-level BPE of 8,192 tokens, made for copying.

    python -m train_embedded.tokenizer --out engine/embedded

A word is cut the same way wherever it stands (no space is glued to it), digits stand alone, humps of
camelCase names are separate words, and the runs of punctuation that JSON is made of are one token each.
There is no normaliser: every text comes back exactly. Trained on training-split documents only.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path

from intaglio.service.extraction.outline import outline
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers

from .encode import ANSWER, DOCUMENT, END, PAD, SCHEMA, SPECIALS
from .generate import samples

VOCABULARY = 8192
_JSON_RUNS = (
    r'":\[\{"', r'"\}\],"', r'"\},\{"', r'":\{"', r'":\["', r'"\],"', r'"\},"', r'":"', r'","', r'":\[', r'"\]\}', r'"\}\]',
    r'\[\{"', r'\],"', r'\},"', r'\},\{"', r'":', r',"', r'\{"', r'"\}', r'"\]', r'\[\]', r'\]\}', r'\}\]',
)  # fmt: skip
SPLIT = "|".join(
    (
        *_JSON_RUNS,
        r"\p{Lu}?[\p{Ll}\p{M}]+",
        r"\p{Lu}+(?!\p{Ll})",
        r"[\p{L}\p{M}]+?(?=\p{Lu}|\P{L}|$)",
        r"\p{N}",
        r" +",
        r"\t+",
        r"\n+",
        r"\s",
        r"[^\s\p{L}\p{N}]",
    )
)


def corpus(count: int) -> Iterator[str]:
    """Outlines, documents and answers, as the model will read and write them."""
    for each in samples(10**9, count, "train"):
        yield outline(each.schema)
        yield each.text
        yield each.answer_text


def train(count: int) -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(SPLIT), behavior="isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=[AddedToken(name, special=True, normalized=False) for name in SPECIALS],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    tokenizer.train_from_iterator(corpus(count), trainer)
    return tokenizer


def main() -> None:
    parser = argparse.ArgumentParser(description="Train the tokenizer of the embedded model.")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--samples", type=int, default=40_000)
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    train(chosen.samples).save(str(chosen.out / "tokenizer.json"))
    config = {
        "tokenizer_class": "PreTrainedTokenizerFast",
        "model_max_length": 4096,
        "bos_token": None,
        "eos_token": END,
        "pad_token": PAD,
        "clean_up_tokenization_spaces": False,
    }
    (chosen.out / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
    template = f"{SCHEMA}{{{{ schema }}}}{DOCUMENT}{{{{ document }}}}{ANSWER}"
    (chosen.out / "chat_template.jinja").write_text(template)


if __name__ == "__main__":
    main()
