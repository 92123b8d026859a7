"""The prefix cache: finds blocks with the keys and values of a prefix, so that a shared prefix is computed once.

Does: name every full block by a hash of its tokens and of all tokens before it, find the blocks of a prompt, forget a
block that gets other contents. Does not: own blocks (`pool`) or decide which block is evicted: the pool allocates the
least recently freed block, whatever it holds.

A name is BLAKE2b over the previous name and the block's tokens; the first one is over the root (`page_key`), so that
requests with different salts or adapters share nothing. The tokens of all images are the same, so a block with tokens
of an image is named by the image's digest as well. A name only locates a block and proves nothing: content and chain of
the block found are compared, so that two prefixes with the same name are never confused (chained block hashes as in
vLLM; the comparison is ours).

With several block groups, a page is found by its block in the first one; `side_blocks` has those of the others.
"""

from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from ..errors import InternalError
from ..types import PromptImage
from .block_groups import BlockGroups
from .page_key import Chain, first_chain, next_chain, root_of
from .side_blocks import SideBlocks

Name = bytes
Hash = Callable[[bytes], bytes]

NAME_BYTES = 16


def digest(data: bytes) -> Name:
    """The name of `data`."""
    return blake2b(data, digest_size=NAME_BYTES).digest()


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """The content of a block: `tokens`, as `_content` gives them, after the page `before` (the root before the first).

    `chain` is its key outside the device.
    """

    name: Name
    before: "Page | bytes"
    tokens: bytes
    block: int
    chain: Chain

    def holds(self, tokens: bytes, before: "Page | bytes") -> bool:
        """Whether this is the page of `tokens` after `before`. Roots are compared by value, pages by identity."""
        return self.tokens == tokens and self.before == before


@dataclass(slots=True)
class _Trail:
    """The last published page of a sequence, its name, and the number of pages up to it."""

    page: Page | bytes
    name: Name
    pages: int


class PrefixCache:
    """Pages by name and by block. `hash_` is replaced by tests that make names collide."""

    def __init__(
        self, block_size: int, hash_: Hash = digest, groups: BlockGroups | None = None
    ) -> None:
        """`groups`: None for a model with one block table."""
        self._block_size = block_size
        self._hash = hash_
        self._side = None if groups is None or groups.count == 1 else SideBlocks(groups)
        self._pages: dict[Name, Page] = {}
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
        root = root_of(salt, adapter)
        trail = _Trail(root, self._hash(root), 0)
        blocks: list[int] = []
        trails = [trail]
        data = memoryview(array("i", tokens)).cast("B")
        width = 4 * self._block_size
        for index in range((len(tokens) - 1) // self._block_size):
            text = data[index * width : (index + 1) * width].tobytes()
            if images:
                text += _seen(images, index * self._block_size, (index + 1) * self._block_size)
            name = self._hash(trail.name + text)
            page = self._pages.get(name)
            if page is None or not page.holds(text, trail.page):
                break
            blocks.append(page.block)
            trail = _Trail(page, name, index + 1)
            trails.append(trail)
        if self._side is not None:
            del blocks[self._side.complete(blocks) :]
        self._trails[seq_id] = trails[len(blocks)]
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
    ) -> None:
        """Make the first `end` of `tokens` findable in the blocks of `table`, which hold them before any read.

        `others`: the tables of the other block groups.
        """
        trail, size = self._trails[seq_id], self._block_size
        if end < (trail.pages + 1) * size:
            return
        for index in range(trail.pages, min(end, len(tokens)) // size):
            text = _content(tokens, images, index * size, (index + 1) * size)
            name = self._hash(trail.name + text)
            page = self._pages.get(name)
            if page is None or not page.holds(text, trail.page):
                chain = next_chain(_chain(trail.page), text)
                page = self._insert(Page(name, trail.page, text, table[index], chain))
            if self._side is not None:
                self._side.hold(page.block, [other[index] for other in others])
            self._trails[seq_id] = trail = _Trail(page, name, index + 1)

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
            if page is not None and self._pages.get(page.name) is page:
                del self._pages[page.name]

    def _insert(self, page: Page) -> Page:
        """Insert `page`; it replaces an older page of the same name with other tokens or a forgotten predecessor."""
        older = self._pages.get(page.name)
        if older is not None:
            del self._held[older.block]
            self._shared.discard(older.block)
            if self._side is not None:
                self._side.forget(older.block)
        self._pages[page.name] = self._held[page.block] = page
        return page

    def check(self) -> None:
        """Check that every page is found by its name and by its block.

        Raises:
            InternalError: that is not the case.
        """
        by_block = {page.block: page for page in self._pages.values()}
        if by_block != self._held or len(by_block) != len(self._pages):
            raise InternalError("the prefix cache's names and blocks differ")
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
