"""Score a model on held-out synthetic documents, or on a file of real-looking ones.

    python -m train_embedded.evaluate --model engine/embedded --count 1000
    python -m train_embedded.evaluate --model engine/embedded --file dev.jsonl --grounding verbatim

By default the documents go through Intaglio itself, with the schema enforced. `--free` decodes greedily with the same
weights and no constraint, and parses what comes: that is what the model alone has learnt. It works on a checkpoint in the
middle of training, too. `card` measures all of it at once.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from .draw import Split
from .encode import Codec, load
from .generate import samples
from .scoring import Score

HELD_OUT_SEEDS = 2 * 10**9
"""Training draws seeds from 0 up; held-out ones are far above any seed a run reaches."""
LONGEST_ANSWER = 700  # tokens, of a model without constraint
Grounding = Literal["off", "locate", "verbatim"]


@dataclass(frozen=True)
class Case:
    """A document, the schema asked of it, and the right answer; figures are counted by `kind`."""

    id: str
    kind: str
    schema: dict[str, Any]
    text: str
    expected: Any


Line = dict[str, Any]
"""An answer: `id`, and either `data`, perhaps with reports as `fields`, or `error`."""
Answers = Callable[[Sequence[Case]], Iterator[Line]]


def synthetic(count: int, split: Split = "heldout", first: int = HELD_OUT_SEEDS) -> list[Case]:
    """Generated documents of consecutive seeds."""
    drawn = enumerate(samples(first, count, split), first)
    return [Case(f"{split}-{seed}", each.kind, each.schema, each.text, each.answer) for seed, each in drawn]


def from_file(path: Path) -> list[Case]:
    """Records with `schema`, `text` and `expected`; the domain is the kind."""
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [
        Case(str(each.get("id", number)), each.get("domain", "-"), each["schema"], each["text"], each["expected"])
        for number, each in enumerate(records, 1)
    ]


def constrained(model: Path, grounding: Grounding = "off", at_once: int = 8) -> Answers:
    """Intaglio's own extraction, in the order in which documents end; a refused one has an error."""
    from intaglio import LLM, IntaglioError

    def answers(cases: Sequence[Case]) -> Iterator[Line]:
        def one(case: Case) -> Line:
            try:
                result = llm.extract(case.schema, case.text, grounding=grounding)
            except IntaglioError as error:
                return {"id": case.id, "error": str(error)}
            return {"id": case.id, "data": result.data, "fields": result.raw.get("fields") or {}}

        with LLM(model) as llm, ThreadPoolExecutor(at_once) as pool:
            for future in as_completed([pool.submit(one, case) for case in cases]):
                yield future.result()

    return answers


def free(model: Path, tokenizer: Path | None = None, at_once: int = 8) -> Answers:
    """Greedy decoding in Intaglio's engine without a constraint, and the text parsed as JSON."""
    from intaglio.engine.api import EngineConfig, LocalEngine, Request, SamplingParams

    codec = Codec.of(load(tokenizer or model / "tokenizer.json"))
    greedy = SamplingParams(temperature=0.0, max_tokens=LONGEST_ANSWER)

    def requests(cases: Iterable[Case]) -> Iterator[Request]:
        for case in cases:
            (prompt,) = codec.prompts([(case.schema, case.text)])
            yield Request(id=case.id, prompt=tuple(prompt), sampling=greedy)

    def answers(cases: Sequence[Case]) -> Iterator[Line]:
        engine = LocalEngine.build(EngineConfig.load({"model": str(model)}))
        tokens: dict[str, list[int]] = {}
        try:
            for delta in engine.generate(requests(cases), at_once=at_once):
                written = tokens.setdefault(delta.request_id, [])
                written.extend(delta.tokens)
                if delta.finish is not None:
                    yield _parsed(delta.request_id, codec.tokenizer.decode(written))
        finally:
            engine.close()

    return answers


def _parsed(id_: str, text: str) -> Line:
    try:
        return {"id": id_, "data": json.loads(text)}
    except ValueError as error:
        return {"id": id_, "error": f"no JSON: {error}", "text": text}


def score(cases: Sequence[Case], lines: Iterable[Line]) -> Score:
    """Count the answers; a case without one counts with all its leaves as wrong."""
    given = {line["id"]: line.get("data") for line in lines}
    total = Score()
    for case in cases:
        total.add(case.kind, case.schema, case.expected, given.get(case.id), case.text)
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description="Score the embedded model.")
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, help="of --free; defaults to the model's own tokenizer.json")
    parser.add_argument("--file", type=Path)
    parser.add_argument("--split", choices=("train", "heldout"), default="heldout")
    parser.add_argument("--count", type=int, default=500)
    way = parser.add_mutually_exclusive_group()
    way.add_argument("--grounding", choices=("off", "locate", "verbatim"), default="off")
    way.add_argument("--free", action="store_true", help="no schema enforcement")
    parser.add_argument("--answers", type=Path, help="write each case with its answer here")
    chosen = parser.parse_args()
    cases = from_file(chosen.file) if chosen.file else synthetic(chosen.count, chosen.split)
    answers = free(chosen.model, chosen.tokenizer) if chosen.free else constrained(chosen.model, chosen.grounding)
    lines = list(answers(cases))
    for line in lines:
        if "error" in line:
            print(f"no answer: {line['id']}: {line['error']}")
    if chosen.answers:
        given = {line["id"]: line.get("data") for line in lines}
        written = [
            {"id": case.id, "kind": case.kind, "text": case.text, "schema": case.schema, "expected": case.expected,
             "answer": given.get(case.id)}
            for case in cases
        ]  # fmt: skip
        chosen.answers.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in written))
    total = score(cases, lines)
    print(total.table())
    print(total.summary())


if __name__ == "__main__":
    main()
