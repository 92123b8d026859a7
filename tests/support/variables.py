"""Names of environment variables that a server reads."""

from dataclasses import fields

from intaglio.service.config import KEYS

from tests.support.pages.settings import SECTIONS


def known_variables() -> set[str]:
    """Every variable of the service and of the engine."""
    return {KEYS} | {
        prefix + member.name.upper() for _, prefix, kind in SECTIONS for member in fields(kind)
    }
