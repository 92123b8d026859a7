"""The startup message of `intaglio serve`: address, model, and a curl command that works as printed.

Does: make the text. Does not: print it.
"""

import json
import shlex
from dataclasses import dataclass

from intaglio.schemas import catalogue

SHOWN = "contact"
TEXT = (
    "Name: Helena Brandt. Position: Head of Sales. Company: Kestrel Acoustics. City: Leipzig. "
    "Phone: +49 341 555 0170."
)


@dataclass(frozen=True, slots=True)
class Banner:
    """The startup message of one server. `keyed`: whether requests need an API key."""

    version: str
    url: str
    model: str
    keyed: bool = False

    def __str__(self) -> str:
        return "\n".join(
            [
                f"Intaglio {self.version} · model {self.model} · {self.url}",
                "Loading the model; a log line reports when it is ready.",
                "",
                "Try it from another terminal:",
                "",
                f"  {curl(self.url, keyed=self.keyed)}",
                "",
                f"Catalogue schemas: {', '.join(catalogue.names())}. A JSON Schema of your own may replace the name.",
                "Ctrl-C stops.",
            ]
        )


def curl(url: str, *, keyed: bool = False) -> str:
    """A POSIX shell command for one extraction by the service at `url`; the API key comes from the environment."""
    body = json.dumps({"schema": SHOWN, "text": TEXT}, ensure_ascii=False)
    header = shlex.quote("content-type: application/json")
    key = ' -H "authorization: Bearer $INTAGLIO_API_KEY"' if keyed else ""
    return f"curl -s {shlex.quote(url + '/v1/extract')}{key} -H {header} -d {shlex.quote(body)}"
