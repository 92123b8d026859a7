"""What `intaglio serve` says when it listens: where, what, and a command line that works as it stands.

Does: words. Does not: print or serve.
"""

import json
import shlex
from dataclasses import dataclass

from ..schemas import catalogue

SHOWN = "contact"
TEXT = (
    "Name: Helena Brandt. Position: Head of Sales. Company: Kestrel Acoustics. City: Leipzig. "
    "Phone: +49 341 555 0170."
)


@dataclass(frozen=True, slots=True)
class Banner:
    """What a server is, as its user sees it. `keyed`: whether requests need an API key."""

    version: str
    url: str
    model: str
    keyed: bool = False

    def __str__(self) -> str:
        return "\n".join(
            [
                f"Intaglio {self.version} · model {self.model} · {self.url}",
                "Loading the model; a line that says ready follows.",
                "",
                "Try it from another terminal:",
                "",
                f"  {curl(self.url, keyed=self.keyed)}",
                "",
                f"Catalogue schemas: {', '.join(catalogue.names())}. Yours: put it in place of the name.",
                "Ctrl-C stops.",
            ]
        )


def curl(url: str, *, keyed: bool = False) -> str:
    """One line for a POSIX shell that extracts something from the service at `url`, with the key of the environment."""
    body = json.dumps({"schema": SHOWN, "text": TEXT}, ensure_ascii=False)
    header = shlex.quote("content-type: application/json")
    key = ' -H "authorization: Bearer $INTAGLIO_API_KEY"' if keyed else ""
    return f"curl -s {shlex.quote(url + '/v1/extract')}{key} -H {header} -d {shlex.quote(body)}"
