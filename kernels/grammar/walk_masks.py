"""Grammar masks and grammar states on the device: `walk` before a token is sampled, `advance` after it.

Does: find the legal tokens of every sequence by running every token's bytes from its state and stack, one lane a token;
move state and stack along the sampled token, and take the last such move back. Exact: a mask equals the host's bit for
bit. Does not: keep rows, read anything on the host; sizes of launches follow from shapes, so all calls can be captured.

A walk has three passes. The first follows each of the 256 first bytes, calls and returns included. The second continues
all tokens from there along plain moves, which suffice for nearly all tokens. The third runs the tokens that met a call
or a return again, packed together, each with its own stack.
"""

import torch
import triton
from torch import Tensor

from ..contracts import WORD_BITS
from ..runtime.launch import processors
from .arena import GrammarArena
from .grammar_passes import FIRSTS, advance_pass, first_pass, replay_pass, stack_pass, walk_pass
from .grammar_records import Configuration, RowStates, Tables, TokenPlaces, TokenTexts
from .vocabulary_layout import BLOCK, TokenTable

FREE, HOST = -1, -2
"""Slots of rows without a grammar on the device: all tokens are legal; the row of the mask is not touched."""

_FIRST_DEPTH = 32
_TOKEN_DEPTH = 64
_STACK_LANES = 32
_QUAD = 4


class GrammarStates:
    """The grammar state of every sequence: a row each, all int32 on the device.

    `slots` [rows]: grammar in the arena, FREE or HOST. `states` [rows]: offset in the arena's cells; 0: nothing may
    follow. `depths` [rows], `stacks` [rows, most_depth]. `troubles` [rows]: 1 once a stack was too small; the row's
    state is 0 then. `before`: states, depths and stacks as the last walk found them.
    """

    def __init__(self, rows: int, device: torch.device, most_depth: int = 256) -> None:
        self.slots = torch.full((rows,), FREE, dtype=torch.int32, device=device)
        self.states = torch.zeros(rows, dtype=torch.int32, device=device)
        self.depths = torch.zeros(rows, dtype=torch.int32, device=device)
        self.stacks = torch.zeros((rows, most_depth), dtype=torch.int32, device=device)
        self.troubles = torch.zeros(rows, dtype=torch.int32, device=device)
        self.before = Configuration(
            *(torch.zeros_like(t) for t in (self.states, self.depths, self.stacks))
        )

    def place(self, row: int, slot: int, state: int, stack: list[int]) -> None:
        """Put a sequence into a row; see `GrammarArena.configuration`. Raises `ValueError` for too deep a stack."""
        if len(stack) > self.stacks.shape[1]:
            raise ValueError(f"a stack of {len(stack)} is deeper than {self.stacks.shape[1]}")
        self.slots[row] = slot
        self.states[row] = state
        self.depths[row] = len(stack)
        self.troubles[row] = 0
        if stack:
            self.stacks[row, : len(stack)] = torch.tensor(stack, dtype=torch.int32)


class GrammarWalker:
    """`walk` and `advance` for up to `most_rows` rows at once, with their scratch. One instance serves one stream."""

    def __init__(self, arena: GrammarArena, tokens: TokenTable, most_rows: int) -> None:
        device = arena.cells.device
        self._arena = arena
        self._tokens = tokens
        self._firsts = torch.zeros((most_rows, FIRSTS.value), dtype=torch.int32, device=device)
        self._ends = torch.zeros(most_rows, dtype=torch.int32, device=device)
        self._lists = torch.zeros(
            (most_rows, tokens.blocks * BLOCK), dtype=torch.int16, device=device
        )
        self._counts = torch.zeros((most_rows, tokens.blocks), dtype=torch.int32, device=device)
        self._first_local = torch.zeros(
            (most_rows, 256, _FIRST_DEPTH), dtype=torch.int32, device=device
        )
        jobs = most_rows * triton.cdiv(tokens.blocks, _QUAD)
        self._programs: int = min(processors(device) * 16, jobs)
        self._token_local = torch.zeros(
            (self._programs, _STACK_LANES, _TOKEN_DEPTH), dtype=torch.int32, device=device
        )

    def walk(self, states: GrammarStates, rows: Tensor, out: Tensor) -> None:
        """Write the masks of `rows` [N] int32 to `out` [N, words] int32, in its order; words past the vocabulary are 0
        for grammars. Ends are allowed where the output may end.
        """
        tokens, tables, count = self._tokens, self._tables, len(rows)
        words = min(out.shape[1], -(-tokens.width // WORD_BITS))
        place = _place(states)
        first_pass[(count,)](
            rows, place, tables, tokens.bytes, self._firsts, self._ends, self._first_local,
            states.troubles, states.before, capacity=_FIRST_DEPTH, num_warps=8,
        )  # fmt: skip
        several = 8 if count >= 64 else 1
        walk_pass[(triton.cdiv(count, several), tokens.blocks)](
            rows, count, states.slots, tables,
            TokenPlaces(
                tokens.first_bytes, tokens.words, tokens.steps, tokens.places, tokens.end_words
            ),
            tokens.blocks, self._firsts, self._ends, out, out.stride(0), words, self._lists,
            self._counts, several=several, num_warps=1,
        )  # fmt: skip
        stack_pass[(self._programs,)](
            rows, count, place, tables, tokens.tokens, TokenTexts(tokens.offsets, tokens.data),
            tokens.blocks, self._lists, self._counts, out, out.stride(0), words, self._token_local,
            states.troubles, quad=_QUAD, lanes=_STACK_LANES, capacity=_TOKEN_DEPTH, num_warps=1,
        )  # fmt: skip

    def replay(self, states: GrammarStates, replays: Tensor, letters: Tensor) -> None:
        """Reset N sequences or undo their last tokens, then replay texts, each sequence in a row of its own.

        `replays` int32 [5 N + 1], field by field: the rows; the slots of sequences that restart, -1 for the others;
        their start states (`GrammarArena.start`); 1 for sequences that return to their state at the last walk, because
        the tokens since then are void; N + 1 offsets into `letters` (uint8) of the texts to replay afterwards.
        """
        count = (len(replays) - 1) // 5
        replay_pass[(count,)](
            replays, count, letters, _place(states), states.before, self._tables, states.troubles,
            capacity=states.stacks.shape[1], lanes=32, num_warps=1,
        )  # fmt: skip

    def advance(self, states: GrammarStates, rows: Tensor, tokens: Tensor) -> None:
        """Advance `rows` [N] int32, each once, by `tokens` [N] int64, in place.

        After an illegal token, and after the end, no token is legal.
        """
        table, count = self._tokens, len(rows)
        advance_pass[(triton.cdiv(count, 32),)](
            rows, count, _place(states), self._tables,
            TokenTexts(table.offsets, table.data), tokens, table.width, states.troubles,
            capacity=states.stacks.shape[1], lanes=32, num_warps=1,
        )  # fmt: skip

    @property
    def _tables(self) -> Tables:
        arena = self._arena
        return Tables(arena.cells, arena.sites, arena.returns, arena.columns)


def _place(states: GrammarStates) -> RowStates:
    """The configurations as the passes take them."""
    return RowStates(
        states.slots, states.states, states.depths, states.stacks, states.stacks.stride(0)
    )
