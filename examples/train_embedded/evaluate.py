"""Score a model on held-out synthetic documents, or on a file of real-looking ones.

    python -m train_embedded.evaluate --model engine/embedded --count 1000
    python -m train_embedded.evaluate --model engine/embedded --file dev.jsonl

By default the documents go through Intaglio itself, with the schema enforced. `--free` decodes greedily
with `transformers` and no constraint, which shows what the model alone has learnt; it works on a
checkpoint in the middle of training, too.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from .draw import Split
from .encode import Codec, load
from .generate import samples
from .scoring import Score

Case = tuple[str, dict[str, Any], str, Any]
Extract = Callable[[Sequence[tuple[dict[str, Any], str]]], list[Any]]


def synthetic(count: int, split: Split, first: int = 0) -> list[Case]:
    return [(each.kind, each.schema, each.text, each.answer) for each in samples(first, count, split)]


def from_file(path: Path) -> list[Case]:
    """Records with `schema`, `text` and `expected`; the domain is the kind."""
    records = [json.loads(line) for line in path.read_text().splitlines()]
    return [(each.get("domain", "-"), each["schema"], each["text"], each["expected"]) for each in records]


def free(model: Path, tokenizer: Path, rows: int) -> Extract:
    """Unconstrained greedy decoding with transformers."""
    import torch
    from transformers import Qwen3ForCausalLM

    codec = Codec.of(load(tokenizer))
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = Qwen3ForCausalLM.from_pretrained(model, dtype=torch.bfloat16 if device.type == "cuda" else torch.float32)
    network = network.to(device).eval()

    def some(prompts: list[list[int]]) -> list[Any]:
        width = max(map(len, prompts))
        ids = torch.tensor([[codec.pad] * (width - len(each)) + each for each in prompts], device=device)
        with torch.inference_mode():
            out = network.generate(
                input_ids=ids, attention_mask=(ids != codec.pad).long(), max_new_tokens=700, do_sample=False,
                eos_token_id=codec.end, pad_token_id=codec.pad,
            )  # fmt: skip
        return [_parsed(codec.tokenizer.decode(row[width:].tolist())) for row in out]

    def extract(pairs: Sequence[tuple[dict[str, Any], str]]) -> list[Any]:
        prompts = codec.prompts(list(pairs))
        order = sorted(range(len(prompts)), key=lambda index: len(prompts[index]))
        answers: list[Any] = [None] * len(prompts)
        for start in range(0, len(order), rows):
            part = order[start : start + rows]
            for index, answer in zip(part, some([prompts[index] for index in part]), strict=True):
                answers[index] = answer
        return answers

    return extract


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def constrained(model: Path, threads: int = 8) -> Extract:
    """Intaglio's own engine; a refused request or an invalid answer counts as none."""
    from concurrent.futures import ThreadPoolExecutor

    from intaglio import LLM, IntaglioError

    llm = LLM(model)

    def one(pair: tuple[dict[str, Any], str]) -> Any:
        try:
            result = llm.extract(*pair)
        except IntaglioError as error:
            print(f"no answer: {error}")
            return None
        return result.data if result.valid else None

    def extract(pairs: Sequence[tuple[dict[str, Any], str]]) -> list[Any]:
        with ThreadPoolExecutor(threads) as pool:
            return list(pool.map(one, pairs))

    return extract


def score(cases: list[Case], extract: Extract) -> tuple[Score, list[Any]]:
    answers = extract([(schema, text) for _, schema, text, _ in cases])
    total = Score()
    for (kind, schema, _, gold), answer in zip(cases, answers, strict=True):
        total.add(kind, schema, gold, answer)
    return total, answers


def main() -> None:
    parser = argparse.ArgumentParser(description="Score the embedded model.")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, help="defaults to the model's own tokenizer.json")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--split", choices=("train", "heldout"), default="heldout")
    parser.add_argument("--count", type=int, default=500)
    parser.add_argument("--free", action="store_true", help="no schema enforcement")
    parser.add_argument("--rows", type=int, default=128, help="batch size of --free")
    parser.add_argument("--answers", type=Path, help="write each case with its answer here")
    chosen = parser.parse_args()
    # Training draws seeds from 0 up; these are far above any seed a run reaches.
    cases = from_file(chosen.file) if chosen.file else synthetic(chosen.count, chosen.split, 2 * 10**9)
    tokenizer = chosen.tokenizer or chosen.model / "tokenizer.json"
    extract = free(chosen.model, tokenizer, chosen.rows) if chosen.free else constrained(chosen.model)
    total, answers = score(cases, extract)
    if chosen.answers:
        lines = [
            json.dumps(
                {"kind": case[0], "text": case[2], "schema": case[1], "expected": case[3], "answer": answer},
                ensure_ascii=False,
            )
            for case, answer in zip(cases, answers, strict=True)
        ]
        chosen.answers.write_text("\n".join(lines) + "\n")
    print(total.table())
    print(total.summary())


if __name__ == "__main__":
    main()
