"""Hooks for `json.loads` that refuse what Python reads but JSON does not have.

Does: refuse keys that occur twice, and NaN and infinities. Does not: parse, or bound anything; the reader in
`grammar.base.strict_json` does both, but a base install has no grammars.
"""

from typing import Any, NoReturn


def unrepeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object, for `object_pairs_hook`. Raises ValueError for a key that occurs twice; the first would be ignored."""
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in found if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} occurs twice in an object")
    return found


def no_constant(name: str) -> NoReturn:
    """For `parse_constant`. Raises ValueError: `name` is NaN or an infinity."""
    raise ValueError(f"{name} is not a number of JSON")
