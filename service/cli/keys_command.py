"""`intaglio keys`: create, list and revoke API keys, and verify the audit of their use.

Does: translate options to a grant, print keys and lines. Does not: store anything itself (`service/keys`). Creations
and revocations are lines of the audit, too.
"""

import sys
import time
from contextlib import closing
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rich.table import Table

from ..config import ServiceConfig
from ..keys.audit_log import AuditLog, BrokenAudit, entries, verified
from ..keys.key_limits import KeyLimits
from ..keys.key_store import KeyGrant, KeyStore, StoredKey
from ..keys.scopes import ALL_SCOPES, KeyScope
from ..keys.usage import UsageStore
from .cli_errors import CliError, Exit
from .console import compact, errors, results

DAY_S = 86_400
USUAL_SCOPES = frozenset({KeyScope.EXTRACT, KeyScope.JOBS})


@dataclass(frozen=True, slots=True)
class GrantOptions:
    """The options of `intaglio keys create`, as given."""

    tenant: str
    scopes: tuple[str, ...]
    limits: tuple[str, ...]
    weight: float
    days: float | None

    def grant(self) -> KeyGrant:
        """The permissions of the key. Raises `CliError` if an option makes no sense."""
        try:
            return KeyGrant(
                tenant=self.tenant,
                scopes=frozenset(map(_scope, self.scopes)) or USUAL_SCOPES,
                limits=KeyLimits.of(dict(map(_limit, self.limits))),
                weight=self.weight,
                lifetime_s=None if self.days is None else self.days * DAY_S,
            )
        except ValueError as error:
            raise CliError(
                str(error), Exit.USAGE, hint="see `intaglio keys create --help`"
            ) from None


def create_key(folder: Path | None, options: GrantOptions, *, as_json: bool) -> Exit:
    """Make a key and print it to standard output, everything else to standard error."""
    grant, folder = options.grant(), _folder(folder)
    with closing(KeyStore(folder, create=True)) as store:
        key, made = store.create(grant)
        _record(folder, store, "key created", made)
    if as_json:
        sys.stdout.write(compact({"key": key, **_described(made)}) + "\n")
        return Exit.OK
    errors().print(f"Key {made.id} of tenant {made.tenant}. It is shown once:\n")
    sys.stdout.write(key + "\n")
    return Exit.OK


def revoke_key(folder: Path | None, name: str, *, as_json: bool) -> Exit:
    """Revoke a key. Raises `UnknownKey`."""
    folder = _folder(folder)
    with closing(KeyStore(folder)) as store:
        key = store.revoke(name)
        _record(folder, store, "key revoked", key)
    if as_json:
        sys.stdout.write(compact(_described(key)) + "\n")
    else:
        errors().print(f"Key {key.id} of tenant {key.tenant} is revoked.")
    return Exit.OK


def show_keys(folder: Path | None, *, as_json: bool) -> Exit:
    """Print all keys, with the requests and tokens of today."""
    folder = _folder(folder)
    with closing(KeyStore(folder)) as store, closing(UsageStore(folder)) as usage:
        rows = [
            {**_described(key), "today": dict(zip(("requests", "tokens"), used, strict=True))}
            for key in store.all()
            for used in [usage.today(key.id)]
        ]
    if as_json:
        sys.stdout.write(compact(rows) + "\n")
        return Exit.OK
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for title in ("key", "tenant", "state", "scopes", "limits", "today"):
        table.add_column(title, no_wrap=title in ("key", "state"), overflow="fold")
    for row in rows:
        given = {name.replace("_", "-"): value for name, value in row["limits"].items()}
        limits = " ".join(f"{name}={value}" for name, value in given.items())
        today = ", ".join(f"{value} {name}" for name, value in row["today"].items())
        cells = (row["id"], row["tenant"], row["state"], " ".join(row["scopes"]))
        table.add_row(*cells, limits or "none", today if limits else "not counted")
    results().print(table)
    return Exit.OK


def verify_audit(folder: Path | None, *, show: bool, as_json: bool) -> Exit:
    """Verify the audit and print its length and last code. Raises `CliError` if it was changed."""
    folder = _folder(folder)
    with closing(KeyStore(folder)) as store:
        secret = store.secret
    try:
        head = verified(folder, secret)
    except BrokenAudit as error:
        raise CliError(error.message, Exit.FAILED, hint=error.hint) from None
    if show:
        for entry in entries(folder):
            sys.stdout.write(compact(entry) + "\n")
    if as_json:
        sys.stdout.write(compact({"lines": head.lines, "code": head.code}) + "\n")
    else:
        errors().print(f"{head.lines} lines verified. The code of the last one: {head.code}")
    return Exit.OK


def _folder(given: Path | None) -> Path:
    """The folder of the option or the environment. Raises `CliError` if there is none."""
    if given is not None:
        return given
    try:
        configured = ServiceConfig.load().key_store
    except ValueError as error:
        raise CliError(str(error), Exit.USAGE) from None
    if not configured:
        raise CliError(
            "there is no key store",
            Exit.USAGE,
            hint="name its folder with --key-store DIR or INTAGLIO_SERVICE_KEY_STORE",
        )
    return Path(configured)


def _scope(text: str) -> KeyScope:
    known = sorted(ALL_SCOPES)
    if text not in known:
        raise ValueError(f"there is no scope {text[:40]!r}; there are {', '.join(known)}")
    return KeyScope(text)


def _limit(text: str) -> tuple[str, int]:
    name, _, number = text.partition("=")
    if not number.isdecimal():
        raise ValueError(f"{text[:40]!r} is no limit such as requests-per-minute=60")
    known = [member.name for member in fields(KeyLimits)]
    if (member_name := name.replace("-", "_")) not in known:
        listed = ", ".join(known).replace("_", "-")
        raise ValueError(f"there is no limit {name[:40]!r}; there are {listed}")
    return member_name, int(number)


def _record(folder: Path, store: KeyStore, event: str, key: StoredKey) -> None:
    with closing(AuditLog(folder, store.secret)) as audit:
        scopes = " ".join(sorted(key.scopes))
        audit.append(event, {"key": key.id, "tenant": key.tenant, "scopes": scopes})


def _described(key: StoredKey) -> dict[str, Any]:
    """A key as JSON."""
    state = "valid" if key.is_valid(time.time()) else "expired"
    return {
        "id": key.id,
        "tenant": key.tenant,
        "state": "revoked" if key.revoked is not None else state,
        "scopes": sorted(key.scopes),
        "limits": key.limits.given(),
        "weight": key.weight,
        "created": _time(key.created),
        "expires": _time(key.expires),
        "revoked": _time(key.revoked),
    }


def _time(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat()
