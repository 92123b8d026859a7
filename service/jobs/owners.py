"""Names of jobs and files on a server, which include the owner.

Does: make and read such names. Does not: know keys. A name is written together with the thing it names, so that no job
or file is ever without an owner. Names of the default tenant are unchanged.
"""

import hashlib
import re

from ..keys import DEFAULT_TENANT
from .records.errors import InputRefused

_JOB = re.compile(r"job_(?:([0-9a-f]{8})\.)?[0-9a-f]{32}")
_OF_A_TENANT = re.compile(r"t[0-9a-f]{16}-")


def job_name(key: str, unique: str) -> str:
    """The name of a job, with the id of a key in a key store or without one; `unique` is 32 hexadecimal digits."""
    name = f"job_{key}.{unique}"
    return name if _JOB.fullmatch(name) else f"job_{unique}"


def key_of(job: str) -> str:
    """The id of the key in a job's name; empty if it has none."""
    found = _JOB.fullmatch(job)
    return "" if found is None else found[1] or ""


def stored_name(tenant: str, name: str) -> str:
    """The name under which a tenant's file is stored.

    Raises:
        InputRefused: the name is that of another tenant's file.
    """
    if tenant != DEFAULT_TENANT:
        return _prefix(tenant) + name
    if _OF_A_TENANT.match(name):
        raise InputRefused(
            f"{name[:40]!r} cannot be the name of a file",
            param="name",
            hint="choose a name that begins differently",
        )
    return name


def shown_name(tenant: str, stored: str) -> str | None:
    """The name by which a tenant knows a stored file; None if the file is another tenant's."""
    if tenant == DEFAULT_TENANT:
        return None if _OF_A_TENANT.match(stored) else stored
    prefix = _prefix(tenant)
    return stored.removeprefix(prefix) if stored.startswith(prefix) else None


def _prefix(tenant: str) -> str:
    return f"t{hashlib.sha256(tenant.encode()).hexdigest()[:16]}-"
