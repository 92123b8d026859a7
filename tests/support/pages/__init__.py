"""Pages of docs that are made from the code, so that they cannot fall behind it: `make docs-pages`.

Does: name every page and the function that makes it. A test compares the pages in the tree with these.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path

from intaglio.service.http.interface import OPERATIONS
from intaglio.service.http.openapi import document

from . import cli, decisions, http, models, sdk, settings

DOCS = Path(__file__).resolve().parents[3] / "docs"

PAGES: Mapping[str, Callable[[], str]] = {
    "decisions/index.md": decisions.page,
    "reference/http.md": http.page,
    "reference/openapi.json": lambda: json.dumps(document(OPERATIONS), indent=1) + "\n",
    "reference/sdk.md": sdk.page,
    "reference/cli.md": cli.page,
    "reference/settings.md": settings.page,
    "reference/models.md": models.page,
}
