"""References: RFC 3986 resolution and RFC 6901 pointers, for any scheme.

Does: join, split off fragments, read and write JSON Pointers. Does not: fetch anything. `urllib.parse.urljoin` is not
used: it does not resolve references under schemes unknown to it (`urn:`, `tag:`), which JSON Schema allows.
"""

import re
from urllib.parse import unquote

# RFC 3986, appendix B.
_PARTS = re.compile(r"(?:([^:/?#]+):)?(?://([^/?#]*))?([^?#]*)(?:\?([^#]*))?(?:#(.*))?", re.DOTALL)

_Split = tuple[str | None, str | None, str, str | None, str | None]


def _split(uri: str) -> _Split:
    found = _PARTS.fullmatch(uri)
    assert found is not None  # every string matches: all groups are optional
    scheme, authority, path, query, fragment = found.groups()
    return scheme, authority, path or "", query, fragment


def join(base: str, reference: str) -> str:
    """`reference` resolved against `base` (RFC 3986, section 5.2), with its fragment."""
    scheme, authority, path, query, fragment = _split(reference)
    if scheme is None:
        of_base = _split(base)
        scheme = of_base[0]
        if authority is None:
            authority = of_base[1]
            if not path:
                path, query = of_base[2], of_base[3] if query is None else query
            else:
                path = path if path.startswith("/") else _merge(of_base, path)
                path = _without_dots(path)
    text = path
    if authority is not None:
        text = f"//{authority}{text}"
    if scheme is not None:
        text = f"{scheme}:{text}"
    if query is not None:
        text = f"{text}?{query}"
    return text if fragment is None else f"{text}#{fragment}"


def _merge(base: _Split, path: str) -> str:
    if base[1] is not None and not base[2]:
        return f"/{path}"
    return base[2][: base[2].rfind("/") + 1] + path


def _without_dots(path: str) -> str:
    kept: list[str] = []
    parts = path.split("/")
    for part in parts:
        if part == "..":
            if len(kept) > 1:
                kept.pop()
        elif part != ".":
            kept.append(part)
    if parts[-1] in {".", ".."}:
        kept.append("")
    return "/".join(kept)


def defragment(uri: str) -> tuple[str, str]:
    """The URI without its fragment, and the fragment, percent-decoded ("" if there is none)."""
    base, _, fragment = uri.partition("#")
    return base, unquote(fragment)


def step(pointer: str, key: str | int) -> str:
    """The pointer one step further down."""
    name = str(key)
    if "~" in name or "/" in name:
        name = name.replace("~", "~0").replace("/", "~1")
    return f"{pointer}/{name}"


def steps(pointer: str) -> list[str]:
    """The unescaped steps of a JSON Pointer."""
    return [part.replace("~1", "/").replace("~0", "~") for part in pointer.split("/")[1:]]
