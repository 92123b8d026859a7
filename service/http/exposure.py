"""Protection of a server that other machines or web pages can reach: API keys, TLS, CORS.

Does: refuse to listen for other machines without a key, check the certificate, add the headers of CORS. Does not: check
keys or Host headers (`access`).
"""

import ssl
from pathlib import Path

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp

from ..config import ServiceConfig
from .access import is_loopback
from .listen import CannotListen

METHODS = ("GET", "POST", "PUT", "DELETE")
REQUEST_HEADERS = ("authorization", "content-type", "idempotency-key", "x-request-id")
RESPONSE_HEADERS = ("retry-after", "x-request-id")


def is_exposed(config: ServiceConfig) -> bool:
    """Whether other machines can use the server without a key."""
    return not config.api_keys and not config.key_store and not is_loopback(config.host)


def require_protection(config: ServiceConfig) -> None:
    """Return if the server may listen with these settings.

    Raises:
        CannotListen: other machines could use it without a key, or its certificate or key cannot be used.
    """
    if is_exposed(config) and not config.allow_anonymous:
        raise CannotListen(
            f"without API keys, every machine that reaches {config.host} could use this server",
            "make keys with `intaglio keys create` or set INTAGLIO_API_KEYS; or listen on 127.0.0.1; "
            "or permit it with --allow-anonymous",
        )
    if config.tls_cert:
        _check_certificate(Path(config.tls_cert), Path(config.tls_key))


def _check_certificate(certificate: Path, key: Path) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    try:
        context.load_cert_chain(certificate, key)
    except (ssl.SSLError, OSError) as error:
        reason = "they are no certificate and its key" if isinstance(error, ssl.SSLError) else ""
        raise CannotListen(
            f"{certificate} and {key} cannot be used for TLS: {reason or error.strerror}",
            "--tls-cert and --tls-key take PEM files; the key without a password",
        ) from None


def with_cors(app: ASGIApp, config: ServiceConfig) -> ASGIApp:
    """The application with CORS headers for the configured origins; unchanged if there are none.

    Credentials of a browser, such as cookies, have no meaning here: pages send a key.
    """
    if not config.cors_origins:
        return app
    return CORSMiddleware(
        app,
        allow_origins=config.cors_origins,
        allow_methods=METHODS,
        allow_headers=REQUEST_HEADERS,
        expose_headers=RESPONSE_HEADERS,
        allow_credentials=False,
    )
