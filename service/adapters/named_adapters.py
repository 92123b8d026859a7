"""Adapters as a setting: their names and folders.

Does: read the texts. Does not: open a folder.
"""


def named_adapters(given: tuple[str, ...]) -> dict[str, str]:
    """Paths by name from texts `NAME=PATH`. Raises `ValueError` for another text, or a name given twice."""
    found: dict[str, str] = {}
    for text in given:
        name, sign, path = text.partition("=")
        if not sign or not name or not path or name in found:
            raise ValueError(f"adapters must be NAME=PATH, each name once, not {text!r}")
        found[name] = path
    return found
