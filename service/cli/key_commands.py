"""The options and help of `intaglio keys`. The code is in `keys_command`.

Does: declare. Does not: run anything itself.
"""

from pathlib import Path
from typing import Annotated

import typer

from .cli_errors import EXIT_CODES, Exit, reporting

keys = typer.Typer(
    help="The API keys of a server: tenants, scopes, limits, and the audit of their use.",
    epilog=f"Exit codes: {EXIT_CODES}",
    no_args_is_help=True,
)

Store = Annotated[
    Path | None,
    typer.Option(
        "--key-store",
        metavar="DIR",
        help="Folder of the keys.  [default: INTAGLIO_SERVICE_KEY_STORE]",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print raw JSON on one line.")]
Tenant = Annotated[
    str, typer.Option(help="Tenant of the key. Tenants share no cached prompts and no jobs.")
]
Scopes = Annotated[
    list[str] | None,
    typer.Option(
        "--scope", help="extract, jobs, metrics or admin; repeatable.  [default: extract and jobs]"
    ),
]
Limits = Annotated[
    list[str] | None,
    typer.Option(
        "--limit",
        metavar="NAME=NUMBER",
        help="requests-per-minute, tokens-per-minute, requests-per-day, tokens-per-day or concurrent; repeatable.",
    ),
]
Weight = Annotated[float, typer.Option(help="Share of the engine among tenants that compete.")]
Days = Annotated[float | None, typer.Option("--days", help="Lifetime in days.  [default: no end]")]


@keys.command()
@reporting
def create(
    store: Store = None,
    tenant: Tenant = "default",
    scope: Scopes = None,
    limit: Limits = None,
    weight: Weight = 1.0,
    days: Days = None,
    as_json: Json = False,
) -> Exit:
    """Make a key and print it, once: the store keeps only its digest. Makes the store if there is none."""
    from .keys_command import GrantOptions, create_key

    options = GrantOptions(tenant, tuple(scope or ()), tuple(limit or ()), weight, days)
    return create_key(store, options, as_json=as_json)


@keys.command("list")
@reporting
def list_keys(store: Store = None, as_json: Json = False) -> Exit:
    """List all keys with their tenants, scopes, limits and use of today."""
    from .keys_command import show_keys

    return show_keys(store, as_json=as_json)


@keys.command()
@reporting
def revoke(
    name: Annotated[str, typer.Argument(metavar="KEY", help="An id from `intaglio keys list`.")],
    store: Store = None,
    as_json: Json = False,
) -> Exit:
    """Make a key invalid; servers that run refuse it from the next request on."""
    from .keys_command import revoke_key

    return revoke_key(store, name, as_json=as_json)


@keys.command()
@reporting
def audit(
    store: Store = None,
    show: Annotated[bool, typer.Option("--show", help="Print the lines, too.")] = False,
    as_json: Json = False,
) -> Exit:
    """Verify the audit: no line was changed, and none is missing before the last.

    Exit codes: 0 verified, 1 changed.
    """
    from .keys_command import verify_audit

    return verify_audit(store, show=show, as_json=as_json)
