"""The files of the page in this package: HTML, style sheets and ES modules.

Does: read them, with their media types and digests. Does not: send them, or read any file that is not listed.
"""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final

INDEX: Final = "index.html"
_MEDIA: Final[Mapping[str, str]] = MappingProxyType(
    {
        "html": "text/html; charset=utf-8",
        "css": "text/css; charset=utf-8",
        "js": "text/javascript; charset=utf-8",
    }
)


@dataclass(frozen=True, slots=True)
class PageAsset:
    """A file of the page, its media type, and a digest that changes with its content."""

    content: bytes
    media: str
    digest: str

    @classmethod
    def of(cls, content: bytes, media: str) -> "PageAsset":
        """An asset of this content."""
        return cls(content, media, hashlib.sha256(content).hexdigest()[:32])


@cache
def asset_names() -> tuple[str, ...]:
    """The names of all style sheets and modules, sorted."""
    folder = files(__package__) / "assets"
    names = (path.name for path in folder.iterdir())
    return tuple(sorted(name for name in names if name.endswith((".css", ".js"))))


@cache
def page_asset(name: str) -> PageAsset:
    """One file of the page. `name` is `index.html`, `viewer.html` or one of `asset_names`."""
    content = (files(__package__) / "assets" / name).read_bytes()
    return PageAsset.of(content, _MEDIA[name.rpartition(".")[2]])
