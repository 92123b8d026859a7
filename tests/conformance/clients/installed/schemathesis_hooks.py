"""What schemathesis puts into every second request in place of made-up names: those of things that are there.

The fuzzer loads it, in an environment of its own. `CLIENTS_MODEL` has the model's name, and `CLIENTS_NAMES` is a JSON
object of the other names, by path. Requests that delete keep the names they have.
"""

import json
import os
import zlib
from typing import Any

import schemathesis

MODEL = os.environ["CLIENTS_MODEL"]
NAMES: dict[str, list[str]] = json.loads(os.environ["CLIENTS_NAMES"])


def chosen(of: object) -> int:
    """A number that is the same for the same request, so that a failure can be repeated."""
    return zlib.crc32(repr(of).encode("utf-8", "replace"))


@schemathesis.hook
def map_path_parameters(context: Any, path_parameters: Any) -> Any:
    """Name a thing that there is."""
    names = NAMES.get(context.operation.path)
    number = chosen(path_parameters)
    if not names or number % 2 or context.operation.method.upper() == "DELETE":
        return path_parameters
    known = {"page": "1", "index": "0"}
    return {
        name: known.get(name, names[number // 2 % len(names)]) for name in (path_parameters or {})
    }


@schemathesis.hook
def map_body(context: Any, body: Any) -> Any:
    """Name the model."""
    if isinstance(body, dict) and isinstance(body.get("model"), str) and chosen(body) % 2 == 0:
        return {**body, "model": MODEL}
    return body
