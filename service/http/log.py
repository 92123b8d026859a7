"""Structured logs on standard error, for terminals or as JSON.

Does: create the logger of one server. Does not: change global configuration, or ever log user content.
"""

import logging
import sys
import traceback
from typing import Any, Literal, TextIO

import structlog
from structlog.typing import FilteringBoundLogger

LEVELS = {
    "debug": logging.DEBUG,
    "info": logging.INFO,
    "warning": logging.WARNING,
    "error": logging.ERROR,
}


def make_logger(
    style: Literal["console", "json"], level: str, stream: TextIO | None = None
) -> FilteringBoundLogger:
    """Create a logger that writes to `stream`, by default standard error."""
    target = stream or sys.stderr
    renderer: Any = (
        structlog.processors.JSONRenderer()
        if style == "json"
        else structlog.dev.ConsoleRenderer(colors=target.isatty())
    )
    logger: FilteringBoundLogger = structlog.wrap_logger(
        structlog.PrintLogger(target),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            renderer,
        ],
        wrapper_class=structlog.make_filtering_bound_logger(LEVELS[level]),
    )
    return logger


def origin(error: BaseException) -> dict[str, Any]:
    """Type and stack of an exception. The message is left out because it may hold user content."""
    return {
        "error": type(error).__qualname__,
        "stack": "".join(traceback.format_tb(error.__traceback__)),
    }
