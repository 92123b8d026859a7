"""The checks of `intaglio doctor` that need the model: files, tokenizer, engine, grammar, extraction.

Does: run each step separately, so that the first failing one is named; later steps are skipped. Does not: check the
machine (`doctor`).
"""

import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Self

from intaglio.engine.api import EngineError, ModelError, model_folder
from intaglio.grammar.api import Compiler, GrammarError, compiled_loops
from intaglio.schemas import catalogue
from intaglio.schemas.extraction.requests import ExtractOptions

from ..client import IntaglioError
from ..errors import ServiceError
from ..extraction.text_model import TextModel
from ..extraction.translate import schema_constraint
from ..offline.llm import LLM
from .doctor_report import Check, State

TEXT = 'Zoë said "5 € — ok"\n\t漢字 🙂 end'
COMPILED = "invoice"
EXTRACTED = "contact"
REINSTALL = "install the package again: pip install --force-reinstall --no-deps intaglio"


def model_checks(model: str | None) -> Iterator[Check]:
    """Run the checks from the model's files to a result; stops after the first failure."""
    with ModelChecks(model) as model_check:
        steps = (
            ("model", model_check.files),
            ("tokenizer", model_check.tokenizer),
            ("engine", model_check.engine),
            ("grammar", model_check.grammar),
            ("extraction", model_check.extraction),
        )
        for name, step in steps:
            check = _attempt(name, step)
            yield check
            if check.state is State.FAIL:
                return
    yield machine_code()


def machine_code() -> Check:
    """Whether the numba loops, all of which have run by now, were compiled ahead of time."""
    loops = compiled_loops()
    if not loops.now:
        return Check("loops", State.OK, "compiled ahead of time")
    if loops.kept is not None:
        return Check("loops", State.OK, f"{loops.now} compiled now, cached in {loops.kept}")
    return Check(
        "loops",
        State.WARN,
        f"{loops.now} compiled now, and no folder to cache them in: every start takes a minute or two",
        "pip install --force-reinstall intaglio-compiled, or run with a writable home folder",
    )


class ModelChecks:
    """The checks of one model in order; each step needs the previous ones. `close` stops the engine."""

    def __init__(self, model: str | None) -> None:
        self._model = model
        self._cleanup = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._cleanup.close()

    def files(self) -> str:
        """Find the model; the files of the included model are compared with their manifest."""
        self._folder = model_folder(self._model)
        weights = [path.stat().st_size for path in self._folder.glob("*.safetensors")]
        if not weights:
            raise ModelError(
                f"{self._folder} holds no safetensors",
                hint="use the folder of a complete checkpoint",
            )
        state = ", unmodified" if self._model is None else ""
        return f"{self._folder}, {sum(weights) / 2**20:.0f} MiB of weights{state}"

    def tokenizer(self) -> str:
        """Check that encoding and decoding a text returns the same text."""
        self._text = TextModel.load(self._folder)
        back = self._text.text(self._text.tokenizer.encode(TEXT))
        if back != TEXT:
            raise ValueError(f"{TEXT!r} came back as {back!r}")
        size = self._text.tokenizer.size
        return f"{size} tokens; a text of {len(TEXT)} characters survives a round trip"

    def engine(self) -> str:
        """Load the model. Runs before the grammar check, because its back end imports torch: the engine configures that
        import.
        """
        started = time.perf_counter()
        self._llm = self._cleanup.enter_context(LLM(self._model))
        info = self._llm.info
        return (
            f"{info.parameters / 1e6:.1f} M parameters on {info.device}, context of "
            f"{info.context_length} tokens, loaded in {_ms(started)} ms"
        )

    def grammar(self) -> str:
        """Compile a catalogue schema for the model's vocabulary."""
        constraint = schema_constraint(catalogue.get(COMPILED).schema, ExtractOptions())
        started = time.perf_counter()
        Compiler(self._text.vocabulary, self._text.tokenizer.canonical).compile(constraint)
        return f"the schema {COMPILED!r} compiled in {_ms(started)} ms"

    def extraction(self) -> str:
        """Extract from a document of the catalogue."""
        entry = catalogue.get(EXTRACTED)
        result = self._llm.extract(entry.schema, entry.sample)
        timings, tokens = result.timings, result.usage.output_tokens
        return (
            f"the {EXTRACTED} of the catalogue is valid: {tokens} tokens, "
            f"{timings.prefill_ms + timings.decode_ms:.0f} ms of model work, "
            f"{tokens / (timings.decode_ms / 1000):.0f} tokens/s"
        )


def _attempt(name: str, step: Callable[[], str]) -> Check:
    try:
        return Check(name, State.OK, step())
    except (IntaglioError, EngineError, ServiceError) as error:
        return Check(name, State.FAIL, error.message, error.hint)
    except GrammarError as error:
        hint = error.refusals[0].hint if error.refusals else ""
        return Check(name, State.FAIL, error.message, hint)
    except (OSError, ValueError, ArithmeticError) as error:
        return Check(name, State.FAIL, str(error), REINSTALL)


def _ms(started: float) -> int:
    return round((time.perf_counter() - started) * 1000)
