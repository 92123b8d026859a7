"""Many outputs moved along the tables of their grammars by a few tokens each, in one compiled call.

Does: read tokens, see ends, find what must come next, and whether the output can be completed within what is left of
its budget. Does not: own the arrays or spell (`followers`).
"""

from typing import Final, NamedTuple

import numpy as np

from ..backends.token_spelling import WINDOW
from ..base.addresses import addresses, grid, line, longs, octets
from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import kernel
from .device_tables import NO_BYTE, DeviceTables, Lookahead
from .lookahead import ASK, SEVERAL, UNKNOWN, after_outcomes, to_end
from .table_step import FIRST_COLUMN, MOST_CALLS, Codes, Whole, can_end, step

STACK: Final = 256  # frames
ROOM: Final = 1024  # numbers of `BatchPositions.rests`
TABLE_ADDRESSES: Final = 30  # numbers that say where the tables of a grammar lie
MOST_FORCED: Final = 512  # bytes

# What became of an output.
MOVED: Final = 0
FORCED: Final = 1  # there is only one text that can come next
FORCED_END: Final = 2  # ... and the output is over after it
FINISHED: Final = 3  # an end token was read
REFUSED: Final = 4  # its place is spoilt
FULL: Final = 5  # its stack is too high; its place is spoilt

# What closes an output is short, but not always the shortest: so many tokens more have to fit, and a quarter more.
_SPARE: Final = 8


class BatchPositions(NamedTuple):
    """Where outputs stand, a row each.

    `state`, `stack[:depth]`: the configuration; `left`: tokens that it may still take; `tokens[:known]`: the output, of
    which `tokens[:before]` stood there before the last pick. `rests[tops[i] : tops[i + 1]]`: bytes to the end of the
    output after each outcome of the rule that is i-th on the stack, the outermost being number 0; right for the first
    `settled` of them.
    """

    state: Ints
    depth: Ints
    stack: Ints  # [rows, STACK]
    left: Ints
    known: Ints
    before: Ints
    tokens: Ints  # [rows, as many as needed]
    rests: Ints  # [rows, ROOM]
    tops: Ints  # [rows, STACK + 2]
    settled: Ints


class TokenTexts(NamedTuple):
    """The bytes of token t are `data[begins[t] : begins[t + 1]]`; `ends` are its end tokens.

    `all_bytes` [1]: whether each byte is a token by itself. `crossed` [65536]: whether some token holds a byte, 256
    times it, and another side by side.
    """

    data: Bytes
    begins: Ints
    ends: Ints
    all_bytes: Bytes
    crossed: Bytes


class BatchReport(NamedTuple):
    """Room for answers, by output: what became of it, whether it can be completed in time for sure; `text[:length]`:
    what must come.

    `window[WINDOW - back :]`: the last tokens, on which it depends how that is spelled; `back` is -1 for too many.
    `said`: those of whom there is something to say, first.
    """

    verdict: Bytes
    fits: Bytes
    text: Bytes  # [n x MOST_FORCED]
    length: Ints
    window: Ints  # [n, WINDOW]
    back: Ints
    reported: Ints


class _GrammarTables(NamedTuple):
    """Tables of one grammar, for compiled code."""

    codes: Codes
    column_of: Bytes
    ahead: Lookahead


def table_addresses(tables: DeviceTables) -> Longs:
    """The tables for `move`, by where they lie: they are to be kept as long as that is used."""
    return addresses(
        tables.cells, tables.sites, tables.returns, tables.column_of, *tables.lookahead
    )


@kernel
def _tables_at(held: Longs) -> _GrammarTables:
    return _GrammarTables(
        Codes(grid(held, 0), grid(held, 1), line(held, 2)),
        octets(held, 3),
        Lookahead(
            line(held, 4),
            line(held, 5),
            line(held, 6),
            line(held, 7),
            octets(held, 8),
            line(held, 9),
        ),
    )


def place_addresses(places: BatchPositions, books: Longs) -> Longs:
    """The places, and the books [rows, BOOK] of their grammars, for `move`: by where they lie."""
    return addresses(*places, books.reshape(-1))


def text_addresses(texts: TokenTexts) -> Longs:
    """The texts for `move`, by where they lie."""
    return addresses(*texts)


def report_addresses(moves: BatchReport) -> Longs:
    """The answers of `move`, by where they lie."""
    return addresses(*moves)


@kernel
def _places(held: Longs) -> BatchPositions:
    return BatchPositions(
        line(held, 0),
        line(held, 1),
        grid(held, 2),
        line(held, 3),
        line(held, 4),
        line(held, 5),
        grid(held, 6),
        grid(held, 7),
        grid(held, 8),
        line(held, 9),
    )


@kernel
def _texts(held: Longs) -> TokenTexts:
    return TokenTexts(
        octets(held, 0), line(held, 1), line(held, 2), octets(held, 3), octets(held, 4)
    )


@kernel
def _report(held: Longs) -> BatchReport:
    return BatchReport(
        octets(held, 0),
        octets(held, 1),
        octets(held, 2),
        line(held, 3),
        grid(held, 4),
        line(held, 5),
        line(held, 6),
    )


@kernel
def move(
    held: Longs,
    texts_held: Longs,
    moves_held: Longs,
    rows: Ints,
    upto: Ints,
    tokens: Ints,
    most: int,
) -> tuple[int, int, int]:
    """Read tokens: those of output i, which stands in `rows[i]`, end before `upto[i]`.

    Then look for up to `most` bytes that must come, `MOST_FORCED` at most; 0: for none. Returns of how many there is
    something to say, and of all these outputs the most tokens and the highest stack.
    """
    places, texts, moves, books = (
        _places(held),
        _texts(texts_held),
        _report(moves_held),
        longs(held, 10),
    )
    scratch, calls = np.empty(STACK, np.int32), np.empty(MOST_CALLS, np.int32)
    begin, reported, longest, highest = 0, 0, 0, 0
    for i in range(len(rows)):
        row, end = rows[i], upto[i]
        tables = _tables_at(books[TABLE_ADDRESSES * row : TABLE_ADDRESSES * (row + 1)])
        if most:
            places.before[row] = places.known[row]
        verdict = MOVED
        for token in tokens[begin:end]:
            if verdict == MOVED:
                verdict = _read(places, tables, texts, row, token, calls)
        begin = end
        left = places.left[row]
        moves.fits[i], moves.length[i], moves.back[i] = left >= 0, 0, 0
        if verdict == MOVED:
            need = _need(places, tables, row)
            moves.fits[i] = texts.all_bytes[0] and need + need // 4 + _SPARE <= left
            if most:
                text = moves.text[MOST_FORCED * i : MOST_FORCED * i + most]
                verdict, moves.length[i] = _force(places, tables, row, text, scratch, calls)
                if moves.length[i] > 0:
                    window = moves.window[i]
                    moves.back[i] = _tokens_since_hard(places, texts, row, text[0], window)
        moves.verdict[i] = verdict
        if verdict != MOVED or not moves.fits[i]:
            moves.reported[reported] = i
            reported += 1
        longest, highest = max(longest, places.known[row]), max(highest, places.depth[row])
    return reported, longest, highest


@kernel
def _read(
    places: BatchPositions,
    tables: _GrammarTables,
    texts: TokenTexts,
    row: int,
    token: int,
    calls: Ints,
) -> int:
    """Read one token."""
    codes, stack = tables.codes, places.stack[row]
    state: Whole = np.int64(places.state[row])
    depth: Whole = np.int64(places.depth[row])
    lowest = depth
    ends = False
    for one in texts.ends:
        ends |= token == one
    if ends:
        if not can_end(codes, stack, depth, state):
            return REFUSED
        state, depth, lowest = len(codes.cells), 0, 0
    elif not 0 <= token < len(texts.begins) - 1 or texts.begins[token] == texts.begins[token + 1]:
        return REFUSED
    else:
        for byte in texts.data[texts.begins[token] : texts.begins[token + 1]]:
            if byte == NO_BYTE or state == len(codes.cells):
                return REFUSED
            column = tables.column_of[byte]
            if codes.cells[state, column] > 0:  # as mostly: the stack stays
                state = np.int64(codes.cells[state, column]) - 1
                continue
            state, kept, more, _ = step(codes, stack, depth, state, column, calls)
            if state < 0:
                return REFUSED
            depth, lowest = kept + more, min(lowest, kept)
            if depth > STACK:
                return FULL
            stack[kept:depth] = calls[:more]
    places.state[row], places.depth[row] = state, depth
    places.settled[row] = min(places.settled[row], lowest + 1)
    places.tokens[row, places.known[row]] = token
    places.known[row] += 1
    places.left[row] -= 1
    return FINISHED if ends else MOVED


@kernel
def _need(places: BatchPositions, tables: _GrammarTables, row: int) -> int:
    """Bytes to the end of an output; `UNKNOWN` if they are not known."""
    state, depth, ahead = places.state[row], places.depth[row], tables.ahead
    if state == len(tables.codes.cells):
        return 0
    rests, tops = places.rests[row], places.tops[row]
    if tops[1] > ROOM:
        return UNKNOWN
    for level in range(places.settled[row], depth + 1):
        begin = places.stack[row, level - 1]
        if tops[level] + ahead.outcomes[begin] > ROOM:
            return UNKNOWN
        rest, out = rests[tops[level - 1] : tops[level]], rests[tops[level] :]
        tops[level + 1] = tops[level] + after_outcomes(
            tables.codes.returns, ahead, begin, rest, out
        )
        places.settled[row] = level + 1
    return to_end(ahead, state, rests[tops[depth] : tops[depth + 1]])


@kernel
def _force(
    places: BatchPositions, tables: _GrammarTables, row: int, text: Bytes, stack: Ints, calls: Ints
) -> tuple[int, int]:
    """(what becomes of an output, bytes in `text`): reads on while exactly one byte can come and nothing can end."""
    codes, done = tables.codes, 0
    state: Whole = np.int64(places.state[row])
    depth: Whole = np.int64(places.depth[row])
    while done < len(text) and state < len(codes.cells):
        only: Whole = np.int64(tables.ahead.only[state])
        if not done and only != SEVERAL:
            stack[:depth] = places.stack[row, :depth]
        if only == ASK:
            only = _only_column(tables, stack, depth, state, calls)
        if only == SEVERAL:
            break
        after, kept, more, _ = step(codes, stack, depth, state, only, calls)
        if after < 0:
            break
        state = after
        if kept + more > STACK:
            return FULL, 0
        depth = kept + more
        stack[kept:depth] = calls[:more]
        text[done] = tables.ahead.byte_of[only]
        done += 1
    if state == len(codes.cells):
        return FORCED_END, done
    return FORCED if done else MOVED, done


@kernel
def _only_column(
    tables: _GrammarTables, stack: Ints, depth: Whole, state: Whole, calls: Ints
) -> int:
    """The column of the only byte that can come; `SEVERAL` if there is none, or another."""
    only, count, cells = SEVERAL, 0, tables.codes.cells
    for column in range(FIRST_COLUMN, cells.shape[1]):
        cell = cells[state, column]
        if cell and tables.ahead.bytes_in[column]:
            if cell < 0 and step(tables.codes, stack, depth, state, column, calls).state < 0:
                continue
            only, count = column, count + tables.ahead.bytes_in[column]
            if count > 1:
                return SEVERAL
    return only


@kernel
def _tokens_since_hard(
    places: BatchPositions, texts: TokenTexts, row: int, right: int, window: Ints
) -> int:
    """Tokens since the last place that no token crosses (see `backends.spelling`), before a byte; -1 if it is far."""
    known = places.known[row]
    for back in range(min(known, WINDOW)):
        token = places.tokens[row, known - 1 - back]
        begin, end = texts.begins[token], texts.begins[token + 1]
        if not texts.crossed[256 * texts.data[end - 1] + right]:
            return back
        window[WINDOW - 1 - back] = token
        right = texts.data[begin]
    return known if known < WINDOW else -1
