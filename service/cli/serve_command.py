"""`intaglio serve`: run a server with settings from the command line.

Does: build both configurations, announce the address, return the exit code. Does not: serve (`app`).
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from .banner import Banner
from .cli_errors import CliError, Exit
from .console import errors, spinner


@dataclass(frozen=True, slots=True)
class ServeCommand:
    """The arguments of `intaglio serve`; None leaves a setting to the environment, then to its default."""

    model: str | None
    host: str | None
    port: int | None
    threads: int | None
    max_running: int | None
    max_context: int | None
    log_format: str | None
    data: Path | None


def run(settings: ServeCommand) -> Exit:
    """Serve until a signal. Raises `CliError` if the server cannot start."""
    with spinner("starting"):
        try:
            from intaglio.engine.api import EngineConfig, model_folder

            from ..config import ServiceConfig
            from ..http.app import ServerAddress, serve
            from ..http.listen import CannotListen

            if settings.data is not None:
                import_module("..jobs.host", __package__)
        except ModuleNotFoundError as error:
            raise CliError(
                f"a server needs {error.name!r}, which is not installed",
                Exit.UNREACHABLE,
                hint=f"pip install 'intaglio[server{',bulk' if settings.data else ''}]'",
            ) from error
        folder = model_folder(settings.model)
        names = ("threads", "max_running", "max_context")
        given = {name: value for name in names if (value := getattr(settings, name)) is not None}
        engine = EngineConfig.load({"model": str(folder), **given})
        try:
            config = ServiceConfig.load(
                host=settings.host,
                port=settings.port,
                log_format=settings.log_format,
                data=None if settings.data is None else str(settings.data),
            )
        except ValueError as error:
            raise CliError(str(error), Exit.USAGE) from None

    def announce(listening: ServerAddress) -> None:
        keyed = bool(config.api_keys)
        banner = Banner(version("intaglio"), listening.url, folder.resolve().name, keyed)
        errors().print(f"\n{banner}\n")

    try:
        status = serve(engine, config, announce)
    except CannotListen as error:
        raise CliError(error.message, Exit.UNREACHABLE, hint=error.hint) from None
    return Exit(status) if status in (Exit.OK, Exit.INTERRUPTED) else Exit.UNREACHABLE
