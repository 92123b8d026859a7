"""Base URL and API key of the SDK. The only module of the SDK that reads the environment.

Does: take arguments first, then `INTAGLIO_BASE_URL` and `INTAGLIO_API_KEY`, then defaults. Does not: read files or
store anything.
"""

import os
from dataclasses import dataclass, field
from importlib.metadata import version
from urllib.parse import urlsplit

DEFAULT_BASE_URL = "http://localhost:8000"


@dataclass(frozen=True, slots=True)
class Address:
    """The base URL and API key of a service. `repr` omits the key, so that it never reaches a log."""

    base_url: str
    api_key: str | None = field(default=None, repr=False)

    def headers(self) -> dict[str, str]:
        headers = {
            "accept": "application/json",
            "user-agent": f"intaglio-python/{version('intaglio')}",
        }
        if self.api_key:
            headers["authorization"] = f"Bearer {self.api_key}"
        return headers


def address(base_url: str | None, api_key: str | None) -> Address:
    """The address from arguments, environment and defaults.

    A trailing `/v1` is dropped: the service's paths already begin with it, but other SDKs expect it there. White space
    around a key is dropped: a key that was read from a file often ends with a line break.

    Raises:
        TypeError: an argument is not a str.
        ValueError: the base URL is not one of http(s), or the key has characters that no HTTP header can carry.
    """
    for name, given in (("base_url", base_url), ("api_key", api_key)):
        if given is not None and not isinstance(given, str):
            raise TypeError(f"{name} must be a str, not {type(given).__name__}")
    url = base_url or os.environ.get("INTAGLIO_BASE_URL") or DEFAULT_BASE_URL
    if not url.startswith(("http://", "https://")):
        raise ValueError(f"base_url must start with http:// or https://, not {url!r}")
    try:
        has_host = bool(urlsplit(url).hostname) and urlsplit(url).port != 0
    except ValueError as error:
        raise ValueError(f"base_url {url!r} cannot be read: {error}") from None
    if not has_host:
        raise ValueError(f"base_url has no host or port to connect to: {url!r}")
    key = (api_key or os.environ.get("INTAGLIO_API_KEY") or "").strip()
    if not (key.isascii() and key.isprintable()):
        raise ValueError(
            "api_key has line breaks or characters outside ASCII; keys are printed by `intaglio keys create`"
        )
    return Address(url.rstrip("/").removesuffix("/v1").rstrip("/"), key or None)
