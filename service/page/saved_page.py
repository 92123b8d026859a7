"""Pages with results as one HTML file, which needs neither a server nor a network.

Does: put the modules that show results, their style and the results into one file, with a content security policy that
allows nothing else. Does not: read result files (`result_rows`). The browser saves the same page from the same
template.
"""

import base64
import hashlib
import json
import re
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from .page_assets import page_asset

_STYLES: Final = ("theme.css", "result.css")
# In the order of their imports: a module is listed after those that it imports.
_MODULES: Final = (
    "dom.js",
    "pointers.js",
    "marks.js",
    "tree.js",
    "token-view.js",
    "detail.js",
    "result-view.js",
    "viewer.js",
)
_IMPORT: Final = re.compile(r'^import \{[^}]*\} from "\./[\w-]+\.js";\n', re.MULTILINE)
_EXPORT: Final = re.compile(r"^export (?=(?:async )?(?:function|class|const)\b)", re.MULTILINE)
_ESCAPED: Final = re.compile("[<\ud800-\udfff]")
_NOTHING: Final = '{"title":"","rows":[]}'


@cache
def viewer_template() -> str:
    """The page without results. `_NOTHING` marks their place."""
    style = "".join(_text(name) for name in _STYLES)
    script = f'"use strict";\n(() => {{\n{"".join(map(_inlined, _MODULES))}}})();\n'
    policy = (
        f"default-src 'none'; script-src '{_digest(script)}'; style-src '{_digest(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
    page = _text("viewer.html")
    values = {"policy": policy, "style": style, "results": _NOTHING, "script": script}
    for name, value in values.items():
        page = page.replace(f"{{{{{name}}}}}", value)
    return page


def saved_page(title: str, rows: Sequence[dict[str, Any]]) -> str:
    """A page with results. A row has `id`, `data`, and may have `text`, `fields` and `warnings`."""
    results = json.dumps({"title": title, "rows": rows}, ensure_ascii=False, separators=(",", ":"))
    # Only a tag can end a script element, so `<` is escaped in the JSON; so are lone surrogates, which a file cannot
    # hold.
    escaped = _ESCAPED.sub(lambda found: f"\\u{ord(found[0]):04x}", results)
    return viewer_template().replace(_NOTHING, escaped)


def _text(name: str) -> str:
    return page_asset(name).content.decode("utf-8")


def _inlined(name: str) -> str:
    """A module as a part of one script."""
    return _EXPORT.sub("", _IMPORT.sub("", _text(name)))


def _digest(text: str) -> str:
    """The source expression of an inline script or style in a content security policy."""
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
