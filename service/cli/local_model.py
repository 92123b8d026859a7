"""The local model for commands that run one.

Does: load it with a spinner, and report what to install or fetch if that fails. Does not: extract.
"""

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from .cli_errors import CliError, Exit
from .console import spinner

if TYPE_CHECKING:
    from ..offline.llm import LLM


@dataclass(frozen=True, slots=True)
class Loaded:
    """A loaded model and the seconds it took, imports included."""

    llm: "LLM"
    seconds: float


@contextmanager
def offline(
    model: str | None,
    calibration: Path | None = None,
    adapters: Mapping[str, str] | None = None,
) -> Iterator[Loaded]:
    """Load the model in folder `model`, or the included one, with a calibration of its confidences and with adapters,
    folders by name.

    Raises `CliError` if this install cannot run a model.
    """
    started = time.perf_counter()
    with spinner("loading the model"):
        try:
            from ..offline.llm import LLM
        except ModuleNotFoundError as error:
            raise CliError(
                f"running a local model needs {error.name!r}, which is not installed",
                Exit.UNREACHABLE,
                hint="pip install 'intaglio[server]', or use a service: --url http://…",
            ) from error
        llm = LLM(model, calibration=calibration, adapters=adapters)
    with llm:
        yield Loaded(llm, time.perf_counter() - started)


def require_local_calibration(calibration: Path | None, url: str | None) -> None:
    """Raise `CliError` for a calibration beside the URL of a service, which has its own."""
    if calibration is not None and url is not None:
        raise CliError(
            "--calibration and --url exclude each other",
            Exit.USAGE,
            hint="the service calibrates its model: intaglio serve --calibration FILE",
        )
