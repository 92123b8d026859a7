"""Requests of one form that arrive at once, before the form is known: the first one is examined, the others wait.

Does: recognise the first request of a form, and hold the following ones until it is examined. Does not: define forms
(`known_schema`), or hold requests of a form that was seen before: if that is not known by now, it never will be.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

MOST_FORMS: Final = 4096


class FirstRequests:
    """The forms that were seen last, at most `most`, by numbers. For one event loop."""

    def __init__(self, most: int = MOST_FORMS) -> None:
        self._most = most
        self._seen = OrderedDict[int, asyncio.Event]()

    def examined(self, form: int) -> asyncio.Event | None:
        """An event that is set when the first request of a form is examined; None if there is nothing to wait for."""
        event = self._seen.get(form)
        return None if event is None or event.is_set() else event

    @contextmanager
    def examining(self, form: int | None) -> Iterator[bool]:
        """Examine a request for the duration of the context; gives whether it is the first of its form.

        The others may go on when it ends, however it ends. None stands for no form.
        """
        if form is None or form in self._seen:
            yield False
            return
        event = self._seen[form] = asyncio.Event()
        while len(self._seen) > self._most:
            self._seen.popitem(last=False)[1].set()
        try:
            yield True
        finally:
            event.set()
