"""Structured logs on standard error, for terminals or as JSON.

Does: create the logger of one server. Does not: change global configuration, or ever log user content.
"""

import logging
import sys
import traceback
from typing import Any, Literal, TextIO

import structlog
from structlog.typing import FilteringBoundLogger

from .log_writer import LineWriter, QueuedLogger

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def make_logger(
    style: Literal["console", "json"], level: str, stream: TextIO | None = None
) -> FilteringBoundLogger:
    """Create a logger that writes to `stream`, by default through a queue to standard error."""
    target = stream or sys.stderr
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=target.isatty())
    )
    processors = [
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        renderer,
    ]

    def dropped(count: int) -> str:
        """The line about lines that were dropped."""
        entry: Any = {"event": "log lines dropped", "lines": count}
        for process in processors:
            entry = process(None, "warning", entry)
        return str(entry)

    direct = structlog.PrintLogger(target)
    logger: FilteringBoundLogger = structlog.wrap_logger(
        direct if stream is not None else QueuedLogger(LineWriter(target, dropped)),
        processors=processors,
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
    )
    return logger


def origin(error: BaseException) -> dict[str, Any]:
    """Type and stack of an exception. The message is left out because it may hold user content."""
    return {
        "error": type(error).__qualname__,
        "stack": "".join(traceback.format_tb(error.__traceback__)),
    }
