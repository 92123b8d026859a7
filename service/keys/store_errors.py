"""Errors of the key store on disk, as opposed to refusals of requests (`service/errors.py`).

Does: declare them. Does not: map them to exit statuses or HTTP.
"""


class KeyStoreError(Exception):
    """The key store cannot be used; `hint` names a remedy."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UnknownKey(KeyStoreError):
    """The store has no key of that id."""
