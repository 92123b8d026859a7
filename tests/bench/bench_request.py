"""Where the processor time of one extraction goes in an API process, in microseconds by part, before and after.

    python -m tests.bench.bench_request [--data FOLDER] [--out FILE]

The requests are those of `bench_http` (1,030 tokens on average). Processor time, not wall time: the best of five rounds
over 64 requests. "usual": what every request took before there was a hot path, and the first one under a schema takes
still, with the library's tokenizer. "known": the hot path. `python -m tests.bench.bench_http --shape answering` has the
whole, with HTTP, logs and the way to the engine and back.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, TypeVar

import msgspec
from intaglio.engine.api import Delta, Finish, GrammarConfig, SchemaGate, Usage
from intaglio.engine.host import messages
from intaglio.service.extraction.engine_output import EngineOutput
from intaglio.service.extraction.extract import Extractor, Prepared
from intaglio.service.extraction.known_schema import KnownSchemas
from intaglio.service.extraction.text_model import TextModel
from intaglio.service.extraction.translate import extract_request
from intaglio.service.http.routes import document

from tests.bench.bench_http import ROOT, Workload
from tests.bench.prepared_answers import prepare
from tests.support.answering_engine import Answers
from tests.support.modelless_engine import engine_info

COUNT: Final = 64
ROUNDS: Final = 5
INFO = engine_info(context_length=8192, vocabulary=151_936, blocks=1 << 20)
T = TypeVar("T")
R = TypeVar("R")


def timed(items: Sequence[T], work: Callable[[T], R]) -> tuple[float, list[R]]:
    """Microseconds of processor time for one item, and the results."""
    best, found = float("inf"), []
    for _ in range(ROUNDS):
        began = time.process_time()
        found = [work(item) for item in items]
        best = min(best, time.process_time() - began)
    return 1e6 * best / len(items), found


class Parts:
    """The parts of a request, for one model and one workload."""

    def __init__(self, folder: Path, workload: Workload) -> None:
        self._text = TextModel.load(folder)
        self._extractor = Extractor(self._text, INFO)
        self._bodies = workload.bodies(COUNT)
        tokenizer, vocabulary = self._text.tokenizer, self._text.vocabulary
        config = GrammarConfig(grammar_store="off", grammar_isolation="never")
        self._gate = SchemaGate.open(config, vocabulary, tokenizer.canonical, server=False)
        self._answers = msgspec.json.decode(
            prepare(folder, [record["schema"] for record in workload.records]), type=Answers
        )

    def usual(self) -> dict[str, float]:
        """The parts of a request that is prepared as usual, with the library's tokenizer."""
        extractor, gate, tokenizer = self._extractor, self._gate, self._text.tokenizer
        quick, tokenizer._words = tokenizer._words, None
        found: dict[str, float] = {}
        parse = self._bodies, lambda body: extract_request(body, max_depth=128)
        found["parse and check the body"], requests = timed(*parse)
        found["constraint of the schema"], parsed = timed(requests, extractor.parse)
        found["verdict on the schema"], verdicts = timed(
            parsed, lambda one: gate.submit(one.constraint).result()
        )
        pairs = list(zip(parsed, verdicts, strict=True))
        examined = [extractor.examined(*pair) for pair in pairs]
        found["prompt: template, tokens, budget"], prepared = timed(examined, extractor.prepare)
        tokenizer._words = quick
        return found | self._rest(prepared)

    def known(self) -> dict[str, float]:
        """The parts of a request of a known form."""
        known = KnownSchemas(self._extractor)
        for body in self._bodies:
            parsed = self._extractor.parse(extract_request(body, max_depth=128))
            verdict = self._gate.submit(parsed.constraint).result()
            known.learn(body, self._extractor.examined(parsed, verdict))

        def found(body: bytes) -> Prepared:
            extraction = known.prepare(body)
            assert extraction is not None
            return extraction.prepared

        took, prepared = timed(self._bodies, found)
        return {"recognise the form, encode the text": took} | self._rest(prepared)

    def _rest(self, prepared: list[Prepared]) -> dict[str, float]:
        found: dict[str, float] = {}
        found["message to the engine"], _ = timed(
            prepared, lambda one: messages.encode(messages.Submit(one.request, whole=True))
        )

        def finish(one: Prepared) -> Any:
            assert one.request.constraint is not None
            tokens = self._answers.tokens[one.request.constraint.source]
            output, usage = EngineOutput(), Usage(len(one.request.prompt), len(tokens))
            output.add(Delta(request_id="a", tokens=tokens, finish=Finish.STOP, usage=usage))
            return self._extractor.finish_extraction(one, output)

        found["text, validation, result"], results = timed(prepared, finish)
        found["response"], _ = timed(results, document)
        return found

    def close(self) -> None:
        self._gate.close()


def main() -> None:
    parser = argparse.ArgumentParser(description="The budget of one request.")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--out", type=Path)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "model")
        folder.mkdir()
        for file in (args.data / "tokenizers/qwen").iterdir():
            shutil.copy(file, folder / file.name)
        parts = Parts(folder, Workload(args.data / "workloads/extract512.jsonl", None))
        try:
            found = {"usual": parts.usual(), "known": parts.known()}
        finally:
            parts.close()
    for name, budget in found.items():
        print(f"{name}: {sum(budget.values()):.0f} us")
        for part, took in budget.items():
            print(f"  {part:40}{took:8.1f}")
    if args.out:
        args.out.write_text(json.dumps(found, indent=1) + "\n")


if __name__ == "__main__":
    main()
