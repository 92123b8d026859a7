"""The Triton passes that compute grammar masks and advance grammar states; `walk_masks` launches them.

Does: the step of the exported machine (`docs/machine-step.md`), with one lane per token or sequence. Does not:
allocate. Codes and tables are defined in `arena`. `before` holds the configurations at the start of the last walk.
"""

import triton
import triton.language as tl

from ..runtime.tuples import Pair, Three
from .grammar_records import Configuration, RowStates, Tables, TokenPlaces, TokenTexts

FINAL: tl.constexpr = tl.constexpr(512)
# States after each first byte, and after none at place 256, of a row.
FIRSTS: tl.constexpr = tl.constexpr(264)
BLOCK: tl.constexpr = tl.constexpr(1024)
CHUNK: tl.constexpr = tl.constexpr(128)
CHUNKS: tl.constexpr = tl.constexpr(8)
# Steps after which rules are taken to call one another without end.
ROUNDS: tl.constexpr = tl.constexpr(8192)


@triton.jit
def run_texts(
    tables: Tables,
    columns: tl.tensor,
    text: tl.tensor,
    length: tl.tensor,
    stack: tl.tensor,
    below: tl.tensor,
    local: tl.tensor,
    top: tl.tensor,
    current: tl.tensor,
    active: tl.tensor,
    capacity: tl.constexpr,
) -> Three:
    """Run a text through the machine, one lane each: (states, heights of `local`, 1 where `local` was too small).

    A state is 0 if the text is refused or the lane is not `active`. Frames are in `local[:top]` and, below them, in
    `stack[:below]`, which is read-only. `current` of a lane is a state that reads the next byte, or the code of an end
    in progress.
    """
    cells, sites, returns = tables.cells, tables.sites, tables.returns
    done = length * 0
    full = length * 0
    current = tl.where(active, current, 0)
    rounds = 0
    while (tl.max(active.to(tl.int32), 0) > 0) & (rounds < ROUNDS):
        rounds += 1
        over = active & (current > 0) & (done >= length)
        active = active & (over == 0)
        reads = active & (current > 0)
        ends = active & (current < 0)
        byte = tl.load(text + done, mask=reads, other=0).to(tl.int32)
        column = tl.load(columns + byte, mask=reads, other=0).to(tl.int32)
        cell = tl.load(cells + current + column, mask=reads, other=0)
        value = -1 - cell
        operates = reads & (cell < 0)
        calls = operates & ((value & 3) == 2)
        leaves = operates & ((value & 3) == 1)
        what = value >> 2
        done += reads.to(tl.int32) - calls.to(tl.int32) - leaves.to(tl.int32)
        entry = tl.load(sites + what * 2, mask=calls, other=0)
        back = tl.load(sites + what * 2 + 1, mask=calls, other=0)
        full = tl.where(calls & (top >= capacity), 1, full)
        entry = tl.where(top >= capacity, 0, entry)
        tl.store(local + top, back, mask=calls & (top < capacity))
        own = ends & (top > 0)
        under = ends & (top <= 0) & (below > 0)
        frame = tl.load(local + top - 1, mask=own, other=0)
        deeper = tl.load(stack + below - 1, mask=under, other=0)
        outcome = (-1 - current) >> 2
        target = returns + tl.where(own, frame, deeper) + outcome
        following = tl.load(target, mask=own | under, other=FINAL)
        read = tl.where(calls, entry, tl.where(leaves, -1 - (what << 2), cell))
        top += calls.to(tl.int32) - own.to(tl.int32)
        below -= under.to(tl.int32)
        current = tl.where(reads, read, tl.where(ends, following, current))
        active = active & (current != 0)
    full = tl.where(active, 1, full)
    return tl.where((current > 0) & (full == 0), current, 0), top, full


@triton.jit
def first_pass(
    rows: tl.tensor,
    place: RowStates,
    tables: Tables,
    every_byte: tl.tensor,
    firsts: tl.tensor,
    ends: tl.tensor,
    local: tl.tensor,
    troubles: tl.tensor,
    before: Configuration,
    capacity: tl.constexpr,
) -> None:
    """States after each first byte, and whether the output may end; fills `before`: grid [rows]."""
    place, tables, before = RowStates(*place), Tables(*tables), Configuration(*before)
    n = tl.program_id(0)
    row = tl.load(rows + n)
    slot = tl.load(place.slots + row)
    if slot >= 0:
        state = tl.load(place.states + row)
        depth = tl.load(place.depths + row)
        stack = place.stacks + row.to(tl.int64) * place.stride
        lane = tl.arange(0, 256)
        copy_place(Configuration(state, depth, stack), before, row, place.stride)
        none = lane * 0
        after, _, full = run_texts(
            tables, tables.columns + slot * 256, every_byte + lane, none + 1, stack, none + depth,
            local + (n * 256 + lane) * capacity, none, none + state, (none + state) > 0, capacity,
        )  # fmt: skip
        tl.store(firsts + n * FIRSTS + lane, after)
        if tl.max(full, 0) > 0:
            tl.store(troubles + row, 1)
        current = state
        while (current != 0) & (current != FINAL):
            if current > 0:
                current = tl.load(tables.cells + current)
            elif depth > 0:
                depth -= 1
                current = tl.load(tables.returns + tl.load(stack + depth) + ((-1 - current) >> 2))
            else:
                current = depth * 0 + FINAL
        tl.store(ends + n, (current == FINAL).to(tl.int32))


@triton.jit
def copy_place(
    source: Configuration, target: Configuration, row: tl.tensor, stride: tl.tensor
) -> None:
    """Write one configuration (`source`) to a row of `target`: of the stack, as much as is in use."""
    state, depth, stack = source
    tl.store(target.states + row, state)
    tl.store(target.depths + row, depth)
    lane = tl.arange(0, 256)
    for first in range(0, depth, 256):
        inside = first + lane < depth
        frame = tl.load(stack + first + lane, mask=inside)
        tl.store(target.stacks + row.to(tl.int64) * stride + first + lane, frame, mask=inside)


@triton.jit
def packed_bits(bits: tl.tensor, count: tl.constexpr) -> tl.tensor:
    """int32 [count]: `count * 32` bits packed into words."""
    shifts = tl.arange(0, 32)
    return tl.sum(tl.reshape(bits, (count, 32)) << shifts[None, :], 1)


@triton.jit(do_not_specialize=["count", "words", "out_stride"])
def walk_pass(
    rows: tl.tensor,
    count: tl.tensor,
    slots: tl.tensor,
    tables: Tables,
    tokens: TokenPlaces,
    blocks: tl.tensor,
    firsts: tl.tensor,
    ends: tl.tensor,
    out: tl.tensor,
    out_stride: tl.tensor,
    words: tl.tensor,
    lists: tl.tensor,
    counts: tl.tensor,
    several: tl.constexpr,
) -> None:
    """Compute masks along plain moves; tokens that meet a call or an end are listed in `lists`: grid [rows / several,
    blocks]."""
    tables, tokens = Tables(*tables), TokenPlaces(*tokens)
    block = tl.program_id(1)
    word = block * 32 + tl.arange(0, 32)
    for turn in range(several):
        n = tl.program_id(0) * several + turn
        if n < count:
            slot = tl.load(slots + tl.load(rows + n))
            target = out + n.to(tl.int64) * out_stride + word
            listed = 0
            if slot == -1:
                tl.store(target, tl.full((32,), -1, tl.int32), mask=word < words)
            elif slot >= 0:
                listing = lists + (n.to(tl.int64) * blocks + block) * BLOCK
                legal, listed = walk_block(
                    tables,
                    tables.columns + slot * 256,
                    tokens,
                    block,
                    blocks,
                    firsts + n * FIRSTS,
                    listing,
                )
                bits = tl.full((32,), 0, tl.int32)
                if tl.max((legal != 0).to(tl.int32), 0) > 0:
                    at = tl.load(tokens.places + block * BLOCK + tl.arange(0, BLOCK)).to(tl.int32)
                    mine = tl.gather(legal, at >> 5, 0)
                    bits = packed_bits((mine >> (at & 31)) & 1, 32)
                if tl.load(ends + n) > 0:
                    bits |= tl.load(tokens.end_words + word)
                tl.store(target, bits, mask=word < words)
            tl.store(counts + n * blocks + block, listed)


@triton.jit
def walk_block(
    tables: Tables,
    columns: tl.tensor,
    tokens: TokenPlaces,
    block: tl.tensor,
    blocks: tl.tensor,
    firsts: tl.tensor,
    listing: tl.tensor,
) -> Pair:
    """(bits of the legal tokens by place, int32 [32]; how many went to `listing`) of one block."""
    legal = tl.full((32,), 0, tl.int32)
    listed = 0
    lane = tl.arange(0, CHUNK)
    for chunk in range(CHUNKS):
        at = block * BLOCK + chunk * CHUNK + lane
        state = tl.load(firsts + tl.load(tokens.first_bytes + at).to(tl.int32))
        met = lane * 0
        if tl.max(state, 0) > 0:
            left = tl.load(tokens.steps + block * CHUNKS + chunk)
            source = tokens.words + at
            while (left > 0) & (tl.max(state, 0) > 0):
                word = tl.load(source)
                for shift in tl.static_range(0, 32, 8):
                    column = tl.load(columns + ((word >> shift) & 255)).to(tl.int32)
                    cell = tl.load(tables.cells + state + column)
                    met |= cell
                    state = tl.maximum(cell, 0)
                source += blocks * BLOCK
                left -= 1
            some = packed_bits((state > 0).to(tl.int32), 4)
            spread = tl.reshape(tl.broadcast_to(some[None, :], (8, 4)), (32,))
            legal = tl.where(tl.arange(0, 32) // 4 == chunk, spread, legal)
            stops = (met < 0).to(tl.int32)
            number = tl.sum(stops, 0)
            if number > 0:
                behind = listed + tl.cumsum(stops, 0) - stops
                tl.store(listing + behind, (lane + chunk * CHUNK).to(tl.int16), mask=stops > 0)
                listed += number
    return legal, listed


@triton.jit(do_not_specialize=["count", "words", "out_stride"])
def stack_pass(
    rows: tl.tensor,
    count: tl.tensor,
    place: RowStates,
    tables: Tables,
    ids: tl.tensor,
    texts: TokenTexts,
    blocks: tl.tensor,
    lists: tl.tensor,
    counts: tl.tensor,
    out: tl.tensor,
    out_stride: tl.tensor,
    words: tl.tensor,
    local: tl.tensor,
    troubles: tl.tensor,
    quad: tl.constexpr,
    lanes: tl.constexpr,
    capacity: tl.constexpr,
) -> None:
    """Masks of the tokens of `lists`, each run with its own stack: any grid; a job is `quad` blocks of a row."""
    place, tables, texts = RowStates(*place), Tables(*tables), TokenTexts(*texts)
    lane = tl.arange(0, lanes)
    quads = tl.cdiv(blocks, quad)
    frames = local + (tl.program_id(0) * lanes + lane) * capacity
    for turn in range(tl.cdiv(count * quads, tl.num_programs(0))):
        job = tl.program_id(0) + turn * tl.num_programs(0)
        n = tl.minimum(job // quads, count - 1)
        begin = job % quads * quad
        block = begin + tl.arange(0, quad)
        inside = block < tl.where(job < count * quads, blocks, 0)
        found = tl.load(counts + n * blocks + block, mask=inside, other=0)
        total = tl.sum(found, 0)
        if total > 0:
            until = tl.cumsum(found, 0)
            row = tl.load(rows + n)
            slot = tl.load(place.slots + row)
            state = tl.load(place.states + row)
            depth = tl.load(place.depths + row)
            stack = place.stacks + row.to(tl.int64) * place.stride
            for first in range(0, total, lanes):
                number = first + lane
                passed = (number[:, None] >= until[None, :]).to(tl.int32)
                skipped = tl.sum(passed * found[None, :], 1)
                base = (begin + tl.minimum(tl.sum(passed, 1), quad - 1)) * BLOCK
                there = number < total
                listing = lists + n.to(tl.int64) * blocks * BLOCK + base + number - skipped
                at = base + tl.load(listing, mask=there, other=0).to(tl.int32)
                token = tl.load(ids + at, mask=there, other=0)
                text = tl.load(texts.offsets + token, mask=there, other=0)
                length = tl.load(texts.offsets + token + 1, mask=there, other=0) - text
                none = lane * 0
                after, _, full = run_texts(
                    tables, tables.columns + slot * 256, texts.data + text, length, stack, none + depth,
                    frames, none, none + state, there, capacity,
                )  # fmt: skip
                target = out + n.to(tl.int64) * out_stride + token // 32
                tl.atomic_or(target, 1 << (token % 32), mask=(after > 0) & (token // 32 < words))
                if tl.max(full, 0) > 0:
                    tl.store(troubles + row, 1)


@triton.jit(do_not_specialize=["count", "width"])
def advance_pass(
    rows: tl.tensor,
    count: tl.tensor,
    place: RowStates,
    tables: Tables,
    texts: TokenTexts,
    tokens: tl.tensor,
    width: tl.tensor,
    troubles: tl.tensor,
    capacity: tl.constexpr,
    lanes: tl.constexpr,
) -> None:
    """Advance sequences by one token, a sequence a lane, on its own stack: grid [rows / lanes]."""
    place, tables, texts = RowStates(*place), Tables(*tables), TokenTexts(*texts)
    n = tl.program_id(0) * lanes + tl.arange(0, lanes)
    there = n < count
    row = tl.load(rows + n, mask=there, other=0)
    token = tl.load(tokens + n, mask=there, other=-1)
    known = there & (token >= 0) & (token < width)
    text = tl.load(texts.offsets + token, mask=known, other=0)
    length = tl.load(texts.offsets + token + 1, mask=known, other=0) - text
    follow_texts(row, texts.data + text, length, there, place, tables, troubles, capacity)


@triton.jit
def follow_texts(
    row: tl.tensor,
    text: tl.tensor,
    length: tl.tensor,
    there: tl.tensor,
    place: RowStates,
    tables: Tables,
    troubles: tl.tensor,
    capacity: tl.constexpr,
) -> None:
    """Advance sequences by a text, one sequence per lane, on its own stack."""
    slot = tl.load(place.slots + row, mask=there, other=-1)
    there = there & (slot >= 0)
    state = tl.load(place.states + row, mask=there, other=0)
    depth = tl.load(place.depths + row, mask=there, other=0)
    # After an end, and without a text, there is nothing to follow.
    legal = there & (length > 0) & (state > 0)
    stack = place.stacks + row.to(tl.int64) * place.stride
    after, top, full = run_texts(
        tables, tables.columns + tl.maximum(slot, 0) * 256, text, length, stack, length * 0,
        stack, depth, state, legal, capacity,
    )  # fmt: skip
    tl.store(place.states + row, tl.where(legal, after, 0), mask=there)
    tl.store(place.depths + row, tl.where(legal & (after > 0), top, 0), mask=there)
    tl.store(troubles + row, full, mask=there & (full > 0))


@triton.jit(do_not_specialize=["count"])
def replay_pass(
    replays: tl.tensor,
    count: tl.tensor,
    letters: tl.tensor,
    place: RowStates,
    before: Configuration,
    tables: Tables,
    troubles: tl.tensor,
    capacity: tl.constexpr,
    lanes: tl.constexpr,
) -> None:
    """Reset sequences or return them to the last walk, then advance them by a text: grid [count]."""
    place, tables, before = RowStates(*place), Tables(*tables), Configuration(*before)
    n = tl.program_id(0)
    row, slot = tl.load(replays + n), tl.load(replays + count + n)
    if slot >= 0:
        tl.store(place.slots + row, slot)
        tl.store(place.states + row, tl.load(replays + 2 * count + n))
        tl.store(place.depths + row, 0)
        tl.store(troubles + row, 0)
    if tl.load(replays + 3 * count + n) > 0:
        stack = before.stacks + row.to(tl.int64) * place.stride
        there = Configuration(tl.load(before.states + row), tl.load(before.depths + row), stack)
        here = Configuration(place.states, place.depths, place.stacks)
        copy_place(there, here, row, place.stride)
    tl.debug_barrier()
    begin = tl.load(replays + 4 * count + n)
    length = tl.load(replays + 4 * count + n + 1) - begin
    # Only one lane advances, because lanes do not see each other's writes to the stack.
    lane = tl.arange(0, lanes)
    none = lane * 0
    length += none
    alone = (lane == 0) & (length > 0)
    follow_texts(
        row + none, letters + begin + none, length, alone, place, tables, troubles, capacity
    )
