"""`intaglio serve`: settings from the command line into a running server.

Does: build the two configurations, announce where it listens, tell the shell how it ended. Does not: serve (`app`).
"""

from dataclasses import dataclass
from importlib.metadata import version

from .banner import Banner
from .cli_console import errors, waiting
from .cli_trouble import Exit, Trouble


@dataclass(frozen=True, slots=True)
class Settings:
    """What was given on the command line; None leaves it to the environment, then to the defaults."""

    model: str | None
    host: str | None
    port: int | None
    threads: int | None
    max_running: int | None
    max_context: int | None
    log_format: str | None


def run(settings: Settings) -> Exit:
    """Serve until told to stop. Raises `Trouble` where it cannot start."""
    with waiting("starting"):
        try:
            from ..engine.api import EngineConfig, model_folder
            from .app import Listening, serve
            from .config import ServiceConfig
        except ModuleNotFoundError as error:
            raise Trouble(
                f"a server needs {error.name!r}, which is not installed",
                Exit.UNREACHABLE,
                hint="pip install 'intaglio[server]'",
            ) from error
        folder = model_folder(settings.model)
        names = ("threads", "max_running", "max_context")
        given = {name: value for name in names if (value := getattr(settings, name)) is not None}
        engine = EngineConfig.load({"model": str(folder), **given})
        try:
            config = ServiceConfig.load(
                host=settings.host, port=settings.port, log_format=settings.log_format
            )
        except ValueError as error:
            raise Trouble(str(error), Exit.USAGE) from None

    def announce(listening: Listening) -> None:
        banner = Banner(version("intaglio"), listening.url, folder.resolve().name)
        errors().print(f"\n{banner}\n")

    status = serve(engine, config, announce)
    return Exit(status) if status in (Exit.OK, Exit.INTERRUPTED) else Exit.UNREACHABLE
