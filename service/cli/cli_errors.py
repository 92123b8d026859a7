"""Exit codes, and the display of errors on a terminal.

Does: map errors of the SDK and the service to exit codes; print message, place, reason and hint to standard error. Does
not: catch unknown exceptions: those are bugs and show a traceback.
"""

import errno
import functools
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from enum import IntEnum
from typing import TYPE_CHECKING, Any, Final, NoReturn, ParamSpec

import typer

from ..keys.store_errors import KeyStoreError
from .console import errors
from .early_signals import restore_signals

if TYPE_CHECKING:
    from intaglio.schemas.problem import Detail

P = ParamSpec("P")


class Exit(IntEnum):
    """The exit codes of `intaglio`."""

    OK = 0
    FAILED = 1
    USAGE = 2
    REFUSED = 3
    UNREACHABLE = 4
    INVALID = 5
    INTERRUPTED = 130
    PIPE = 141


EXIT_CODES = """
0 success · 1 no valid result · 2 wrong usage · 3 the schema was refused ·
4 the service, the model or the ledger could not be reached or started · 5 not a schema, pattern or grammar ·
130 interrupted · 141 output closed early
"""


@dataclass(eq=False)
class CliError(Exception):
    """An error with its exit code, as a command reports it."""

    message: str
    exit: Exit = Exit.FAILED
    code: str = ""
    hint: str = ""
    details: "tuple[Detail, ...]" = ()
    request_id: str | None = None
    where: str = ""

    def document(self) -> dict[str, Any]:
        """The error as JSON, for machine-readable output."""
        fields: dict[str, Any] = {"message": self.message, "code": self.code, "hint": self.hint}
        fields["details"] = [detail.model_dump() for detail in self.details]
        fields |= {"where": self.where, "request_id": self.request_id}
        return {key: value for key, value in fields.items() if value}


def cli_error(error: Exception) -> CliError | None:
    """`error` as a `CliError`; None for an exception that is not meant for users."""
    if isinstance(error, CliError):
        return error
    if isinstance(error, KeyStoreError):
        return CliError(error.message, Exit.USAGE, hint=error.hint)
    if isinstance(error, ModuleNotFoundError):
        return _missing(error)
    if isinstance(error, OSError) and error.errno is not None:
        return _system_error(error)
    for package, convert in _CONVERTED.items():
        # A package that is not imported cannot be the source, and importing one takes up to a second.
        found = convert(error) if package in sys.modules else None
        if found is not None:
            return found
    return None


_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def _system_error(error: OSError) -> CliError:
    """The error for a file or device that the system refused. Without a name it is standard output: commands name the
    files that they write.
    """
    reason = error.strerror or str(error)
    hint = "make room, then run the command again" if error.errno in _FULL else ""
    if error.filename is not None:
        end = Exit.USAGE if isinstance(error, PermissionError) else Exit.FAILED
        return CliError(f"{os.fsdecode(error.filename)}: {reason}", end, hint=hint)
    if error.errno in _FULL:
        return CliError(f"standard output cannot be written: {reason}", hint=hint)
    return CliError(reason)


_EXTRAS = {
    **dict.fromkeys(("sqlalchemy", "psycopg", "pyarrow", "lxml", "charset_normalizer"), "bulk"),
    "flashinfer": "flashinfer",
    "ray": "cluster",
}


def _missing(error: ModuleNotFoundError) -> CliError | None:
    """The error for a missing package, with the extra that provides it; None for a module of this package (a bug)."""
    name = (error.name or "").partition(".")[0]
    if name in ("", "intaglio"):
        return None
    extras = ",".join(filter(None, ["server", _EXTRAS.get(name)]))
    return CliError(
        f"this needs {name!r}, which is not installed",
        Exit.UNREACHABLE,
        hint=f"pip install 'intaglio[{extras}]'",
    )


def _sdk_error(error: Exception) -> CliError | None:
    """The error for what a service answered, or for a service or model that cannot be reached or used."""
    from ..client import APIStatusError, ConfigError, ConnectionFailed, IntaglioError, ModelError

    if isinstance(error, APIStatusError):
        return CliError(
            error.message,
            _exit_of(error.code),
            error.code,
            error.hint,
            error.details,
            error.request_id,
            "" if error.details else error.param or "",
        )
    if isinstance(error, ModelError | ConfigError):
        end = Exit.USAGE if isinstance(error, ConfigError) else Exit.UNREACHABLE
        return CliError(error.message, end, error.code, error.hint, where=error.where)
    if not isinstance(error, IntaglioError):
        return None
    unreachable = isinstance(error, ConnectionFailed)
    return CliError(
        error.message, Exit.UNREACHABLE if unreachable else Exit.FAILED, hint=error.hint
    )


def _exit_of(code: str) -> Exit:
    """The exit code for the code of an error document."""
    from intaglio.schemas.problem import Code

    if code == Code.NOT_READY:
        return Exit.UNREACHABLE
    if code in (
        Code.INVALID_SCHEMA,
        Code.UNSUPPORTED_SCHEMA,
        Code.UNSATISFIABLE_SCHEMA,
        Code.SCHEMA_TOO_LARGE,
    ):
        return Exit.REFUSED
    of_usage = (
        Code.INVALID_REQUEST,
        Code.INVALID_JSON,
        Code.UNKNOWN_FIELD,
        Code.UNKNOWN_SCHEMA,
        Code.UNKNOWN_MODEL,
        Code.UNAUTHORIZED,
        Code.INSUFFICIENT_SCOPE,
        Code.HOST_NOT_ALLOWED,
    )
    return Exit.USAGE if code in of_usage else Exit.FAILED


def _job_error(error: Exception) -> CliError | None:
    """The error for a job that cannot run, or a ledger that cannot be used."""
    from ..jobs.records.errors import JobError, LedgerRefused, LedgerUnknown

    if not isinstance(error, JobError):
        return None
    end = Exit.FAILED if error.retryable else Exit.USAGE
    if isinstance(error, LedgerRefused) and not isinstance(error, LedgerUnknown):
        end = Exit.UNREACHABLE
    return CliError(error.message, end, error.code, error.hint, where=error.param)


def _engine_error(error: Exception) -> CliError | None:
    """The error for a model or setting that the local engine refused at startup."""
    from intaglio.engine.api import ConfigError, EngineError

    if not isinstance(error, EngineError):
        return None
    end = Exit.USAGE if isinstance(error, ConfigError) else Exit.UNREACHABLE
    return CliError(error.message, end, error.code, error.hint, where=error.where)


_CONVERTED: Final[dict[str, Callable[[Exception], CliError | None]]] = {
    "intaglio.service.client": _sdk_error,
    "intaglio.service.jobs.records.errors": _job_error,
    "intaglio.engine.api": _engine_error,
}
"""By the module that defines an error."""


def show(found: CliError, about: str = "") -> None:
    """Print `found` to standard error: message, place, reasons and hints."""
    console = errors()
    head = f"{about}: {found.message}" if about else found.message
    console.print("error", style="bold red", end=" ")
    console.print(head)
    if found.where:
        console.print(f"  at: {found.where}", style="cyan")
    for detail in found.details:
        console.print(f"  {detail.pointer or '/'}", style="cyan", end=" ")
        console.print(detail.reason)
        if detail.hint and detail.hint != found.hint:
            _hint(detail.hint, indent=4)
    if found.hint:
        _hint(found.hint, indent=2)
    if found.request_id:
        console.print(f"  request id: {found.request_id}", style="dim")


def _hint(text: str, indent: int) -> None:
    errors().print(" " * indent + "hint:", style="green", end=" ")
    errors().print(text)


def reporting(command: Callable[P, Exit]) -> Callable[P, NoReturn]:
    """Decorate a function that returns an exit code as a command: errors are printed, and the process exits with the
    code.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> NoReturn:
        try:
            restore_signals()
            end = command(*args, **kwargs)
            sys.stdout.flush()
        except KeyboardInterrupt:
            errors().print("interrupted", style="yellow")
            end = Exit.INTERRUPTED
        except BrokenPipeError:
            # The reader of the pipe is gone.
            discard_output()
            end = Exit.PIPE
        except Exception as error:
            found = cli_error(error)
            if found is None:
                raise
            if isinstance(error, OSError) and error.errno in _FULL:
                discard_output()
            show(found)
            end = found.exit
        raise typer.Exit(int(end))

    return run


def discard_output() -> None:
    """Prevent a second error when the interpreter flushes standard output at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
