"""Contents of KV blocks in memory of the host, by chain; the least recently used are dropped first.

Does: keep contents within a bound of bytes. Does not: copy from or to a device, or decide what is kept.
"""

from collections import OrderedDict
from collections.abc import Iterator

from ..errors import InternalError
from .block_contents import Content
from .page_key import Chain


class HostTier:
    """Contents of at most `most_bytes` bytes in total."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._contents: OrderedDict[Chain, Content] = OrderedDict()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._contents)

    def __contains__(self, chain: object) -> bool:
        return chain in self._contents

    @property
    def nbytes(self) -> int:
        """Bytes held."""
        return self._bytes

    @property
    def most_bytes(self) -> int:
        """Bytes that may be held."""
        return self._most_bytes

    def get(self, chain: Chain) -> Content | None:
        """The content of this chain, which becomes the most recently used; None if it is not held."""
        content = self._contents.get(chain)
        if content is not None:
            self._contents.move_to_end(chain)
        return content

    def put(self, chain: Chain, content: Content) -> Iterator[tuple[Chain, Content]]:
        """Keep a content; returns the contents dropped for it, or the content itself if it exceeds the bound."""
        replaced = self._contents.pop(chain, None)
        self._bytes += content.nbytes - (0 if replaced is None else replaced.nbytes)
        self._contents[chain] = content
        while self._bytes > self._most_bytes:
            dropped, lost = self._contents.popitem(last=False)
            self._bytes -= lost.nbytes
            yield dropped, lost

    def check(self) -> None:
        """Check the count of bytes and the bound.

        Raises:
            InternalError: that is wrong.
        """
        held = sum(content.nbytes for content in self._contents.values())
        if held != self._bytes or held > self._most_bytes:
            raise InternalError(f"the host tier holds {held} bytes and counts {self._bytes}")
