"""The option `--adapter`, which several commands have.

Does: declare it, and tell a name that a service knows from a folder on this machine. Does not: open a folder.
"""

from dataclasses import dataclass
from typing import Annotated

import typer

from ..adapters.named_adapters import is_adapter_name, local_adapter
from .cli_errors import CliError, Exit

AdapterChoiceOption = Annotated[
    str | None,
    typer.Option(
        "--adapter",
        help="LoRA adapter: its folder, or NAME=PATH; with --url, the name of one of the service's.",
    ),
]


@dataclass(frozen=True, slots=True)
class ChosenAdapter:
    """An adapter by name. `folder` is that of an adapter for a model of this process, None for one of a service."""

    name: str
    folder: str | None = None

    @property
    def folders(self) -> dict[str, str]:
        """The adapters that a model of this process loads, by name."""
        return {} if self.folder is None else {self.name: self.folder}

    @property
    def text(self) -> str:
        """The adapter as the specification of a job has it."""
        return self.name if self.folder is None else f"{self.name}={self.folder}"


def chosen_adapter(text: str | None, url: str | None, model: str | None) -> ChosenAdapter | None:
    """The adapter that an option means for a service at `url`, or for a model of this process; None without one.

    Raises:
        CliError: the service could have no adapter of that name, or its model is named too.
    """
    if text is None:
        return None
    if url is None:
        return ChosenAdapter(*local_adapter(text))
    if model is not None:
        raise CliError(
            "--adapter and --model exclude each other with --url",
            Exit.USAGE,
            hint="a service's adapter belongs to the model that it serves: omit --model",
        )
    if not is_adapter_name(text):
        raise CliError(
            f"{text!r} is not the name of an adapter",
            Exit.USAGE,
            hint="with --url, name an adapter that the service has loaded: GET /v1/models lists them",
            where="--adapter",
        )
    return ChosenAdapter(text)
