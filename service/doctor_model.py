"""The checks of `intaglio doctor` that need the packages: files, tokenizer, grammar, and one extraction for real.

Does: each step on its own, so that the first that fails is named; later ones are left out then. Does not: look at the
machine (`doctor`).
"""

import time
from collections.abc import Callable, Iterator
from functools import partial

from ..engine.api import EngineError, ModelError, model_folder
from ..grammar.api import Compiler, GrammarError
from ..schemas import catalogue
from ..schemas.wire import ExtractOptions
from .client import IntaglioError
from .doctor import Check, State
from .errors import ServiceError
from .extract import TextModel
from .llm import LLM
from .translate import schema_constraint

TEXT = 'Zoë said "5 € — ok"\n\t漢字 🙂 end'
COMPILED = "invoice"
EXTRACTED = "contact"
REINSTALL = "install the package again: pip install --force-reinstall --no-deps intaglio"


def model_checks(model: str | None) -> Iterator[Check]:
    """From the files to a result. Stops after the first check that fails."""
    steps: tuple[tuple[str, Callable[[str | None], str]], ...] = (
        ("model", files),
        ("tokenizer", tokenizer),
        ("grammar", grammar),
        ("extraction", extraction),
    )
    for name, step in steps:
        check = _attempt(name, partial(step, model))
        yield check
        if check.state is State.FAIL:
            return


def files(model: str | None) -> str:
    """Where the model lies; the files of the one in the package are compared with their manifest on the way."""
    folder = model_folder(model)
    weights = [path.stat().st_size for path in folder.glob("*.safetensors")]
    if not weights:
        raise ModelError(
            f"{folder} holds no safetensors", hint="give the folder of a complete checkpoint"
        )
    state = ", as it was shipped" if model is None else ""
    return f"{folder}, {sum(weights) / 2**20:.0f} MiB of weights{state}"


def tokenizer(model: str | None) -> str:
    """Text to tokens and back is the same text."""
    text = TextModel.load(model_folder(model))
    tokens = text.tokenizer.encode(TEXT)
    back = text.text(tokens)
    if back != TEXT:
        raise ValueError(f"{TEXT!r} came back as {back!r}")
    return f"{text.tokenizer.size} tokens; a text of {len(TEXT)} characters came back whole"


def grammar(model: str | None) -> str:
    """A schema of the catalogue compiles for this model's tokens."""
    text = TextModel.load(model_folder(model))
    constraint = schema_constraint(catalogue.get(COMPILED).schema, ExtractOptions())
    began = time.perf_counter()
    Compiler(text.vocabulary, text.tokenizer.canonical).compile(constraint)
    return f"the schema {COMPILED!r} compiled in {_ms(began)} ms"


def extraction(model: str | None) -> str:
    """One document of the catalogue, through the whole engine, and nothing left behind."""
    entry = catalogue.get(EXTRACTED)
    began = time.perf_counter()
    with LLM(model) as llm:
        loaded = _ms(began)
        result = llm.extract(entry.schema, entry.sample)
        work = result.timings.prefill_ms + result.timings.decode_ms
        speed = result.usage.output_tokens / (result.timings.decode_ms / 1000)
        return (
            f"a valid result from {llm.info.model} ({llm.info.parameters / 1e6:.1f} M parameters, "
            f"{llm.info.device}): loaded in {loaded} ms, {work:.0f} ms of model work, {speed:.0f} tokens/s"
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


def _ms(began: float) -> int:
    return round((time.perf_counter() - began) * 1000)
