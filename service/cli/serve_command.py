"""`intaglio serve`: run a server with settings from the command line.

Does: build both configurations, announce the address, return the exit code. Does not: serve (`app`).
"""

from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

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
    engines: int | None = None
    prefill_engines: int | None = None
    kv_listen: str | None = None
    kv_peers: str | None = None
    kv_key_file: str | None = None
    api_workers: int | None = None
    vllm_metrics: bool | None = None
    traces: bool | None = None
    tool_format: str | None = None
    key_store: Path | None = None
    allow_anonymous: bool | None = None
    cors_origins: tuple[str, ...] | None = None
    tls_cert: Path | None = None
    tls_key: Path | None = None
    drafts: str | None = None
    calibration: Path | None = None
    deterministic: bool | None = None
    kv_host_bytes: int | None = None
    kv_disk: str | None = None
    kv_disk_bytes: int | None = None
    tp: int | None = None
    sp: bool | None = None
    pp: int | None = None
    adapters: tuple[str, ...] | None = None
    max_adapters: int | None = None
    adapter_rank: int | None = None


def run(settings: ServeCommand) -> Exit:
    """Serve until a signal. Raises `CliError` if the server cannot start."""
    with spinner("starting"):
        try:
            from intaglio.engine.api import EngineConfig, model_folder

            from ..config import ServiceConfig
            from ..http.listen import CannotListen
            from ..http.server import ServerAddress, serve

            if settings.data is not None:
                import_module("..jobs.host", __package__)
        except ModuleNotFoundError as error:
            raise CliError(
                f"a server needs {error.name!r}, which is not installed",
                Exit.UNREACHABLE,
                hint=f"pip install 'intaglio[server{',bulk' if settings.data else ''}]'",
            ) from error
        folder = model_folder(settings.model)
        names = (
            *("threads", "max_running", "max_context", "drafts", "deterministic"),
            *("kv_host_bytes", "kv_disk", "kv_disk_bytes", "tp", "sp", "pp"),
            *("max_adapters", "adapter_rank", "kv_listen", "kv_peers", "kv_key_file"),
        )
        given = {name: value for name in names if (value := getattr(settings, name)) is not None}
        if settings.adapters and settings.max_adapters is None:
            given["max_adapters"] = len(settings.adapters)
        engine = EngineConfig.load({"model": str(folder), **given})
        try:
            config = ServiceConfig.load(
                host=settings.host,
                port=settings.port,
                log_format=settings.log_format,
                engines=settings.engines,
                prefill_engines=settings.prefill_engines,
                api_workers=settings.api_workers,
                vllm_metrics=settings.vllm_metrics,
                traces=settings.traces,
                allow_anonymous=settings.allow_anonymous,
                cors_origins=settings.cors_origins,
                **_texts(settings, "data", "key_store", "tls_cert", "tls_key", "calibration"),
                tool_format=settings.tool_format,
                adapters=settings.adapters,
            )
        except ValueError as error:
            raise CliError(str(error), Exit.USAGE) from None

    if config.traces:
        _require_traces()

    def announce(listening: ServerAddress) -> None:
        keyed = bool(config.api_keys or config.key_store)
        banner = Banner(version("intaglio"), listening.url, folder.resolve().name, keyed)
        errors().print(f"\n{banner}\n")

    try:
        status = serve(engine, config, announce)
    except CannotListen as error:
        raise CliError(error.message, Exit.UNREACHABLE, hint=error.hint) from None
    return Exit(status) if status in (Exit.OK, Exit.INTERRUPTED) else Exit.UNREACHABLE


def _require_traces() -> None:
    """Raises `CliError` if the extra `otel` is not installed."""
    try:
        import_module("..observability.tracing", __package__)
    except ModuleNotFoundError as error:
        raise CliError(
            f"traces need {error.name!r}, which is not installed",
            Exit.UNREACHABLE,
            hint="pip install 'intaglio[server,otel]'",
        ) from error


def _texts(settings: ServeCommand, *names: str) -> dict[str, Any]:
    """Options that are paths, as texts."""
    paths = {name: getattr(settings, name) for name in names}
    return {name: None if path is None else str(path) for name, path in paths.items()}
