"""The model in this process, for the commands that run one.

Does: load it with a sign of life on standard error, and say what to install or fetch where that fails. Does not:
extract.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .cli_console import spinner
from .cli_trouble import CliError, Exit

if TYPE_CHECKING:
    from .llm import LLM


@dataclass(frozen=True, slots=True)
class Loaded:
    """A model that is ready, and how long that took, imports included."""

    llm: "LLM"
    seconds: float


@contextmanager
def offline(model: str | None) -> Iterator[Loaded]:
    """The model in `model`, or the one in the package. Raises `CliError` where this install cannot run one."""
    started = time.perf_counter()
    with spinner("loading the model"):
        try:
            from .llm import LLM
        except ModuleNotFoundError as error:
            raise CliError(
                f"running a model here needs {error.name!r}, which is not installed",
                Exit.UNREACHABLE,
                hint="pip install 'intaglio[server]', or use a service elsewhere: --url http://…",
            ) from error
        llm = LLM(model)
    with llm:
        yield Loaded(llm, time.perf_counter() - started)
