"""A placeholder for the document, with which a schema is examined before there is a document.

Does: make the text. Does not: know schemas. It is longer than any string that a schema may require.
"""

from typing import Final


def _words(count: int) -> str:
    """Some words without meaning, always the same."""
    number, made = 1, []
    for _ in range(count):
        number = number * 48271 % 0x7FFFFFFF
        letters = [chr(97 + (number >> shift) % 26) for shift in range(0, 4 + 3 * (number % 6), 3)]
        made.append("".join(letters))
    return " ".join(made)


PLACEHOLDER: Final = _words(4_500)
