"""The prefix cache: finds blocks with the keys and values of a prefix, so that a shared prefix is computed once.

Does: find the blocks of a prompt by the tokens of every full block and the page before it, and forget a block that gets
other contents. Does not: own blocks (`pool`) or decide which block is evicted: the pool allocates the least recently
freed block, whatever it holds.

The key of a page is the page before it, or the root (`page_key`), with its own tokens. So pages form a tree, two
prefixes are never confused, and requests with different salts or adapters share nothing. Nothing is hashed but by the
dictionary. The tokens of all images are the same, so the digest of an image is part of the content of its blocks. When
a page is forgotten, those after it are found no more; they are there until their blocks are allocated.

With several block groups, a page is found by its block in the first one; `side_blocks` has those of the others.
"""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from ..errors import InternalError
from ..types import PromptImage
from .block_groups import BlockGroups
from .page_key import Chain, first_chain, next_chain, root_of
from .side_blocks import SideBlocks


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """The content of a block: `tokens`, as `_content` gives them, after the page `before` (the root before the first).

    `chain` is its key outside the device. Pages are compared by identity.
    """

    before: "Page | bytes"
    tokens: bytes
    block: int
    chain: Chain

    @property
    def key(self) -> "_Key":
        """What the page is found by."""
        return self.before, self.tokens


_Key = tuple[Page | bytes, bytes]


@dataclass(slots=True)
class _Trail:
    """The last published page of a sequence, or its root, and the number of pages up to it."""

    page: Page | bytes
    pages: int


class PrefixCache:
    """Pages by key and by block."""

    def __init__(self, block_size: int, groups: BlockGroups | None = None) -> None:
        """`groups`: None for a model with one block table."""
        self._block_size = block_size
        self._side = None if groups is None or groups.count == 1 else SideBlocks(groups)
        self._pages: dict[_Key, Page] = {}
        self._held: dict[int, Page] = {}
        self._trails: dict[int, _Trail] = {}
        self._shared: set[int] = set()  # blocks that more than one sequence used

    def __len__(self) -> int:
        """The number of blocks that can be found."""
        return len(self._held)

    def match(
        self,
        seq_id: int,
        tokens: Sequence[int],
        salt: str,
        adapter: str = "",
        images: Sequence[PromptImage] = (),
    ) -> list[int]:
        """The blocks with the longest known prefix of `tokens`, without the last token, which must be computed.

        They are those of the first group; see `in_group`. `publish` continues from there for `seq_id`.
        """
        pages: list[Page] = []
        page: Page | bytes = root_of(salt, adapter)
        root, data, width = page, array("i", tokens).tobytes(), 4 * self._block_size
        for index in range((len(tokens) - 1) // self._block_size):
            text = data[index * width : (index + 1) * width]
            if images:
                text += _seen(images, index * self._block_size, (index + 1) * self._block_size)
            found = self._pages.get((page, text))
            if found is None:
                break
            pages.append(page := found)
        blocks = [page.block for page in pages]
        if self._side is not None:
            del blocks[self._side.complete(blocks) :]
        self._trails[seq_id] = _Trail(pages[len(blocks) - 1] if blocks else root, len(blocks))
        self._shared.update(blocks)
        return blocks

    def in_group(self, group: int, blocks: Sequence[int]) -> list[int]:
        """The blocks of another group with the contents of `blocks`, which `match` gave."""
        return [] if self._side is None else self._side.part(group, blocks)

    def ahead(
        self, seq_id: int, tokens: Sequence[int], images: Sequence[PromptImage] = ()
    ) -> Iterator[Chain]:
        """The chains of the full blocks after those that `match` found, without the last token."""
        trail, size = self._trails[seq_id], self._block_size
        chain = _chain(trail.page)
        for index in range(trail.pages, (len(tokens) - 1) // size):
            text = _content(tokens, images, index * size, (index + 1) * size)
            chain = next_chain(chain, text)
            yield chain

    def chains(self, blocks: Iterable[int]) -> list[tuple[Chain, int]]:
        """Those of `blocks` in which something can be found, with the chains of their contents."""
        held = [(self._held.get(block), block) for block in blocks]
        return [(page.chain, block) for page, block in held if page is not None]

    def published(self, seq_id: int) -> list[Chain]:
        """The chains of the full blocks of a sequence that were published, from the first on."""
        return [page.chain for page in self._published(seq_id)]

    def spoil(self, seq_id: int) -> None:
        """Forget all pages of a sequence, also those that it has no blocks of any more."""
        for page in self._published(seq_id):
            if self._held.get(page.block) is page:
                self.forget([page.block])

    def _published(self, seq_id: int) -> list[Page]:
        found = []
        page = self._trails[seq_id].page
        while isinstance(page, Page):
            found.append(page)
            page = page.before
        return found[::-1]

    def is_shared(self, block: int) -> bool:
        """Whether more than one sequence used the content of a block."""
        return block in self._shared

    def publish(
        self,
        seq_id: int,
        tokens: Sequence[int],
        table: Sequence[int],
        end: int,
        images: Sequence[PromptImage] = (),
        others: Sequence[Sequence[int]] = (),
    ) -> list[tuple[Chain, int]]:
        """Make the first `end` of `tokens` findable in the blocks of `table`, which hold them before any read.

        `others`: the tables of the other block groups. Returns the chains that were not published for this sequence
        before, with the blocks in which they are found.
        """
        trail, size = self._trails[seq_id], self._block_size
        if end < (trail.pages + 1) * size:
            return []
        found: list[tuple[Chain, int]] = []
        for index in range(trail.pages, min(end, len(tokens)) // size):
            text = _content(tokens, images, index * size, (index + 1) * size)
            page = self._pages.get((trail.page, text))
            if page is None:
                chain = next_chain(_chain(trail.page), text)
                page = Page(trail.page, text, table[index], chain)
                self._pages[page.key] = self._held[page.block] = page
            if self._side is not None:
                self._side.hold(page.block, [other[index] for other in others])
            self._trails[seq_id] = trail = _Trail(page, index + 1)
            found.append((page.chain, page.block))
        return found

    def release(self, seq_id: int) -> None:
        """Forget the sequence `seq_id`, which has freed its blocks; they can be found until they are allocated."""
        self._trails.pop(seq_id, None)

    def forget(self, blocks: Sequence[int]) -> None:
        """Forget the contents of these blocks, which were allocated for others or are wrong."""
        for block in blocks:
            page = self._held.pop(block, None)
            self._shared.discard(block)
            if self._side is not None:
                self._side.forget(block)
            if page is not None:
                del self._pages[page.key]

    def check(self) -> None:
        """Check that every page is found by its key and by its block.

        Raises:
            InternalError: that is not the case.
        """
        by_block = {page.block: page for page in self._pages.values()}
        if by_block != self._held or len(by_block) != len(self._pages):
            raise InternalError("the prefix cache's keys and blocks differ")
        if not self._shared <= self._held.keys():
            raise InternalError("a block without a page is shared")
        if self._side is not None:
            self._side.check(self._held.keys())


def _content(tokens: Sequence[int], images: Sequence[PromptImage], begin: int, end: int) -> bytes:
    """The tokens from `begin` up to `end` as bytes, and the images that they belong to."""
    text = array("i", tokens[begin:end]).tobytes()
    return text + _seen(images, begin, end) if images else text


def _seen(images: Sequence[PromptImage], begin: int, end: int) -> bytes:
    """The images with tokens between `begin` and `end`: their digests, and where they start."""
    return b"".join(
        image.digest + (image.start - begin).to_bytes(8, "little", signed=True)
        for image in images
        if image.start < end and begin < image.end
    )


def _chain(page: Page | bytes) -> Chain:
    """The chain up to a page, or of a root."""
    return first_chain(page) if isinstance(page, bytes) else page.chain
