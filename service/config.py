"""Settings of the service. The only module of the service that reads the environment.

Does: build one frozen value from keyword arguments, then `INTAGLIO_SERVICE_*` variables, then defaults. Does not:
configure the engine (engine/config.py).
"""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, Literal, Self

from .adapters.named_adapters import named_adapters

PREFIX = "INTAGLIO_SERVICE_"
KEYS = "INTAGLIO_API_KEYS"

_MOST = {
    "max_body_bytes": 2**40,
    "max_json_depth": 10_000,
    "max_requests": 1_000_000,
    "max_open_jobs": 1_000_000,
    "max_data_bytes": 2**60,
    "max_document_bytes": 2**27,
    "max_unpacked_bytes": 2**60,
    "max_images": 1024,
    "max_image_tokens": 65_536,
    "cpu_threads": 1024,
    "engines": 64,
}
_MOST_WORKERS = 64

MAX_IMAGES: Final = 16
MAX_IMAGE_TOKENS: Final = 1280
"""What a request has at most by default: images, and tokens of an image."""

_ORIGIN = re.compile(r"https?://([a-z0-9.-]+|\[[0-9a-f:]+\])(:[0-9]{1,5})?")
TOOL_FORMATS = ("auto", "hermes", "llama3", "mistral", "mistral_args", "extraction")

_TRUTHS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceConfig:
    """Settings and limits of one server.

    `max_body_bytes` and `max_json_depth` bound a request body, `max_document_bytes` a file, `body_timeout_s` the time
    for the body to arrive, and `header_timeout_s` the time for its headers; a client that takes nothing of its response
    for `write_timeout_s` is disconnected. `max_requests` is the number of requests in flight; more get status 429.
    `grace_s` is how long requests in flight may continue after SIGTERM. `cpu_threads` is
    the number of threads for parsing, tokenization and validation. `ledger` is the file or database URL of the command
    line's jobs. `data` is the folder for jobs and files of clients, with at most `max_data_bytes` of files and
    `max_open_jobs` unfinished jobs; a server without it runs no jobs. `max_unpacked_bytes` bounds the decompressed size
    of a job's source (gzip, zstd, Parquet), also on the command line. A request has at most `max_images` images, each
    resized to at most `max_image_tokens` tokens. With `api_keys` every request except those for
    `/health` and `/ready` needs one of the keys; the lines of `api_keys_file` are keys, too, and so are the valid ones
    of the key store in the folder `key_store`, each with a tenant, scopes and limits. `allowed_hosts` are the permitted
    names in a Host header, `*` for any; the default is described in `access`. With `allow_anonymous` a server without
    keys may listen for other machines. `cors_origins` are the origins of web pages that may call the server from a
    browser. `tls_cert` and `tls_key` are PEM files. With `vllm_metrics` metrics have vLLM's names, too. `engines` is
    the number of engine processes, each with a GPU of its own where there are GPUs, of which the first
    `prefill_engines` compute prompts for the others; a request waits `engine_wait_s`
    where none is ready. With `engine_standby` a process stands by for each engine, ready to replace it; "auto" is on
    for engines on a GPU or in several processes. `tool_format` is the wire format in which the model calls tools;
    `auto` finds it in the chat template. `calibration` is the file of a calibration of the model's confidences.
    `api_workers` is the number of API processes that share the port, 0 for one for every four cores; limits hold for
    each of them. With `traces` spans are exported. `metrics_folder` is the folder in which several API processes of one
    server count; the process that starts them sets it.
    """

    host: str = "127.0.0.1"
    port: int = 8000
    max_body_bytes: int = 8 * 1024 * 1024
    max_json_depth: int = 128
    max_document_bytes: int = 32 * 1024 * 1024
    body_timeout_s: float = 15.0
    header_timeout_s: float = 10.0
    write_timeout_s: float = 60.0
    max_requests: int = 512
    grace_s: float = 30.0
    cpu_threads: int = 4
    engines: int = 1
    prefill_engines: int = 0
    api_workers: int = 0
    engine_wait_s: float = 60.0
    engine_standby: Literal["auto", "on", "off"] = "auto"
    data: str = ""
    max_data_bytes: int = 10 * 1024**3
    max_open_jobs: int = 1000
    max_unpacked_bytes: int = 16 * 1024**3
    max_images: int = MAX_IMAGES
    max_image_tokens: int = MAX_IMAGE_TOKENS
    api_keys: tuple[str, ...] = field(default=(), repr=False)
    api_keys_file: str = ""
    key_store: str = ""
    allowed_hosts: tuple[str, ...] = ()
    allow_anonymous: bool = False
    cors_origins: tuple[str, ...] = ()
    tls_cert: str = ""
    tls_key: str = ""
    ledger: str = "~/.local/state/intaglio/jobs.db"
    vllm_metrics: bool = False
    traces: bool = False
    tool_format: str = "auto"
    calibration: str = ""
    adapters: tuple[str, ...] = ()
    metrics_folder: str = ""
    log_format: Literal["console", "json"] = "console"
    log_level: Literal["debug", "info", "warning", "error"] = "info"

    def __post_init__(self) -> None:
        for name, most in _MOST.items():
            if not 1 <= getattr(self, name) <= most:
                raise ValueError(f"{name} must be from 1 to {most}, not {getattr(self, name)}")
        for name in (
            "body_timeout_s",
            "header_timeout_s",
            "write_timeout_s",
            "grace_s",
            "engine_wait_s",
        ):
            if not 0 <= getattr(self, name) < 86_400:
                raise ValueError(
                    f"{name} must be between 0 and 86400 seconds, not {getattr(self, name)}"
                )
        if not 0 <= self.port < 65_536:
            raise ValueError(f"port must be between 0 and 65535, not {self.port}")
        if not all(key.isascii() and key.isprintable() and " " not in key for key in self.api_keys):
            raise ValueError("an API key consists of printable ASCII characters without spaces")
        named_adapters(self.adapters)
        self._check_exposure()
        if self.tool_format not in TOOL_FORMATS:
            raise ValueError(
                f"tool_format must be one of {', '.join(TOOL_FORMATS)}, not {self.tool_format!r}"
            )
        if not 0 <= self.api_workers <= _MOST_WORKERS:
            raise ValueError(
                f"api_workers must be from 1 to {_MOST_WORKERS}, or 0 for a number by cores"
            )
        if self.engine_standby not in ("auto", "on", "off"):
            raise ValueError(f"engine_standby must be auto, on or off, not {self.engine_standby!r}")
        if self.log_format not in ("console", "json"):
            raise ValueError(f"log_format must be console or json, not {self.log_format!r}")
        if self.log_level not in ("debug", "info", "warning", "error"):
            raise ValueError(
                f"log_level must be debug, info, warning or error, not {self.log_level!r}"
            )

    @property
    def calibration_file(self) -> Path | None:
        """The file of the calibration; None leaves it to the folder of the model."""
        return Path(self.calibration).expanduser() if self.calibration else None

    def _check_exposure(self) -> None:
        if bool(self.tls_cert) != bool(self.tls_key):
            raise ValueError("tls_cert and tls_key are needed together")
        for origin in self.cors_origins:
            if not _ORIGIN.fullmatch(origin) and origin != "*":
                raise ValueError(
                    f"{origin!r} is no origin such as https://app.example or http://localhost:3000"
                )
        if "*" in self.cors_origins and not (self.api_keys or self.key_store):
            raise ValueError("cors_origins * needs API keys: any web page could use the server")

    @classmethod
    def load(cls, environ: Mapping[str, str] | None = None, **given: Any) -> Self:
        """Build the settings from `given` values that are not None, then the environment (`INTAGLIO_SERVICE_PORT`, …),
        then defaults.

        `INTAGLIO_API_KEYS` is an alias of `INTAGLIO_SERVICE_API_KEYS`.

        Raises:
            ValueError: a variable is unknown, or a value has the wrong type or is out of bounds; the message names it.
                Also if a setting for keys is set but holds none: such a server would be open to all.
            TypeError: `given` names an unknown setting.
        """
        source = os.environ if environ is None else environ
        kinds = {member.name: type(member.default) for member in fields(cls)}
        values: dict[str, Any] = {}
        if KEYS in source:
            values["api_keys"] = _read(KEYS, tuple, source[KEYS])
        for variable, text in source.items():
            if variable.startswith(PREFIX):
                name = variable.removeprefix(PREFIX).lower()
                if name not in kinds:
                    close = get_close_matches(name, kinds, n=1)
                    guess = f"; did you mean {PREFIX}{close[0].upper()}?" if close else ""
                    names = ", ".join(sorted(kinds)).upper()
                    raise ValueError(
                        f"there is no setting {variable}{guess} (after {PREFIX} there are {names})"
                    )
                values[name] = _read(variable, kinds[name], text)
        values.update({name: value for name, value in given.items() if value is not None})
        if values.get("api_keys_file"):
            keys = _keys_of(Path(values["api_keys_file"]))
            values["api_keys"] = (*values.get("api_keys", ()), *keys)
        return cls(**values)


def environment_with(more: Mapping[str, str]) -> Mapping[str, str]:
    """The environment of this process with `more` variables, for a process that it starts."""
    return {**os.environ, **more}


def _keys_of(path: Path) -> tuple[str, ...]:
    """The keys in a file, one per line; lines that begin with # are comments."""
    try:
        lines = path.expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        raise ValueError(f"api_keys_file {path} cannot be read: {reason}") from None
    keys = tuple(line.strip() for line in lines if line.strip() and not line.startswith("#"))
    if not keys:
        raise ValueError(f"api_keys_file {path} holds no key")
    return keys


def _read(variable: str, kind: type, text: str) -> Any:
    if kind is tuple:
        items = tuple(part.strip() for part in text.split(",") if part.strip())
        if not items:
            raise ValueError(f"{variable} is set but holds no value")
        return items
    if kind is bool:
        if text.lower() not in _TRUTHS:
            raise ValueError(f"{variable} must be true or false, not {text!r}")
        return _TRUTHS[text.lower()]
    try:
        return kind(text)
    except ValueError:
        expected = "a whole number" if kind is int else "a number"
        raise ValueError(f"{variable} must be {expected}, not {text!r}") from None
