"""Hits and misses of the prefix cache, and the order of eviction."""

from random import Random

from intaglio.engine.memory.manager import KVManager
from intaglio.engine.memory.pool import BlockPool
from intaglio.engine.memory.prefix import PrefixCache
from intaglio.engine.sequence import Sequence
from intaglio.engine.types import PromptImage, Request, SamplingParams

SIZE = 4


class Rig:
    """Memory with a prefix cache, and sequences that are computed as soon as they are admitted."""

    def __init__(self, blocks: int = 40) -> None:
        self.pool = BlockPool(blocks)
        self.cache = PrefixCache(SIZE)
        self.memory = KVManager(self.pool, SIZE, self.cache)
        self.running: list[Sequence] = []
        self._last = 0

    def admit(self, prompt: list[int], salt: str = "") -> Sequence | None:
        self._last += 1
        request = Request(
            id=str(self._last), prompt=tuple(prompt), sampling=SamplingParams(), cache_salt=salt
        )
        seq = Sequence(self._last, request, (0.0, self._last), 0.0)
        room = self.memory.reserve(seq, seq.known)
        if room is None:
            return None
        seq.admit(0.0, room.computed)
        seq.compute(seq.pending)
        self.memory.computed(seq)
        self.running.append(seq)
        self.memory.check(self.running)
        return seq

    def end(self, seq: Sequence) -> None:
        self.running.remove(seq)
        self.memory.release(seq)
        self.memory.check(self.running)

    def cached(self, prompt: list[int], salt: str = "") -> int:
        """How many tokens of a prompt are found."""
        seq = self.admit(prompt, salt)
        assert seq is not None
        self.end(seq)
        return seq.record.cached


PROMPT = list(range(10, 31))  # 21 tokens: five blocks and one token


def test_what_may_be_wrong_is_found_by_nobody() -> None:
    rig = Rig()
    first, second = rig.admit(PROMPT), rig.admit(PROMPT)
    assert first is not None
    assert second is not None
    rig.running.remove(first)
    rig.memory.release(first, spoiled=True)
    rig.memory.check(rig.running)
    assert rig.cached(PROMPT) == 0
    rig.end(second)
    assert rig.cached(PROMPT) == 20, "computed anew in the meantime"


def test_a_running_sequence_shares_what_it_computed() -> None:
    rig = Rig()
    first = rig.admit(PROMPT)
    second = rig.admit(PROMPT[:12] + [1] * 9)
    assert first is not None
    assert second is not None
    assert (first.record.cached, second.record.cached) == (0, 12)
    assert rig.memory.table(second)[:3] == rig.memory.table(first)[:3]
    assert set(rig.memory.table(second)[3:]).isdisjoint(rig.memory.table(first))
    rig.end(first)
    assert rig.cached(PROMPT) == 20


def test_the_last_token_is_always_computed() -> None:
    rig = Rig()
    rig.cached(PROMPT[:8])
    assert rig.cached(PROMPT[:8]) == 4
    assert rig.cached(PROMPT[:9]) == 8


def test_a_block_is_found_only_after_the_same_beginning() -> None:
    rig = Rig()
    rig.cached([1, 2, 3, 4, *PROMPT])
    assert rig.cached(PROMPT) == 0
    assert rig.cached([1, 2, 3, 5, *PROMPT]) == 0


def test_salts_never_meet() -> None:
    rig = Rig()
    rig.cached(PROMPT, "a")
    assert rig.cached(PROMPT, "b") == 0
    assert rig.cached(PROMPT) == 0
    assert rig.cached(PROMPT, "a") == 20


def test_a_block_after_a_forgotten_one_is_found_again_once_both_are_computed() -> None:
    rig = Rig()
    rig.cached(PROMPT)
    first, second = rig.cache.match(0, PROMPT, "")[:2]
    rig.cache.forget([first])
    rig.memory.check(rig.running)
    assert rig.cached(PROMPT) == 0, "what came before it is unknown"
    assert rig.cached(PROMPT) == 20
    assert second not in rig.cache.match(0, PROMPT, "")


def test_tenants_with_nearly_the_same_prompts_never_meet() -> None:
    rig = Rig(blocks=200)
    dice, sent = Random(11), dict[str, list[list[int]]]()
    hits = 0
    for _ in range(3000):
        salt = f"tenant {dice.randrange(8)}"
        prompt = [dice.randrange(3) for _ in range(21)]
        if sent.get(salt) and dice.random() < 0.5:
            prompt = dice.choice(sent[salt])
        own = max((_common(prompt, other) for other in sent.get(salt, ())), default=0)
        found = rig.cached(prompt, salt)
        assert found <= own, "no more than the tenant itself has sent"
        hits += found > 0
        sent.setdefault(salt, []).append(prompt)
    assert hits > 10


def _common(one: list[int], other: list[int]) -> int:
    """The length of the longest common beginning."""
    return next((i for i, (a, b) in enumerate(zip(one, other, strict=True)) if a != b), len(one))


def test_the_least_recently_used_is_evicted_ends_before_beginnings() -> None:
    rig = Rig(blocks=1 + 12)
    rig.cached(PROMPT)  # six blocks, five of them full
    rig.cached([7] * 21)
    assert rig.cached(PROMPT) == 20  # used again: now the other is the older one
    assert rig.cached([5] * 12) == 0  # takes the free block and the end of the older one
    assert rig.cached(PROMPT) == 20
    assert 0 < rig.cached([7] * 21) < 20


def test_no_room_leaves_everything_as_it_was() -> None:
    rig = Rig(blocks=1 + 6)
    first = rig.admit(PROMPT)
    assert first is not None
    assert rig.admit(PROMPT + PROMPT) is None
    rig.memory.check(rig.running)
    rig.end(first)
    assert rig.memory.free_blocks == 6
    assert rig.admit([*PROMPT, 1, 2]) is not None


def test_a_block_of_output_is_shared_once_it_is_known() -> None:
    rig = Rig()
    seq = rig.admit(PROMPT[:6])
    assert seq is not None
    for token in (70, 71, 72):
        seq.record.token_sampled(0.0)
        seq.append(token)
        assert rig.memory.reserve(seq, 1) is not None
        seq.compute(1)
        rig.memory.computed(seq)
    rig.end(seq)
    assert rig.cached([*PROMPT[:6], 70, 71, 72]) == 8


def _with_image(rig: Rig, number: int, pixels: bytes, start: int = 1) -> int:
    """The blocks that a prompt with this image found, after which it is computed and released."""
    tokens = (1,) * start + (7,) * 10 + (2,) * 9
    request = Request(
        id=str(number),
        prompt=tokens,
        sampling=SamplingParams(),
        images=(PromptImage.of(start, 2, 5, pixels),),
    )
    seq = Sequence(number, request, (0.0, number), 0.0)
    room = rig.memory.reserve(seq, seq.known)
    assert room is not None
    seq.admit(0.0, room.computed)
    seq.compute(seq.pending)
    rig.memory.computed(seq)
    rig.memory.release(seq)
    return room.computed // SIZE


def test_two_images_never_share_a_block() -> None:
    rig = Rig()
    assert _with_image(rig, 1, b"cat") == 0
    assert _with_image(rig, 2, b"dog") == 0, "all tokens are the same"
    assert _with_image(rig, 3, b"dog") == 4
    assert _with_image(rig, 4, b"dog", start=2) == 0


def test_blocks_before_an_image_are_shared() -> None:
    rig = Rig()
    assert _with_image(rig, 1, b"cat", start=SIZE * 2) == 0
    assert _with_image(rig, 2, b"dog", start=SIZE * 2) == 2
