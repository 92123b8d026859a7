"""The batch step: one compiled call that reads a few tokens of each of many outputs along device tables.

Does: read tokens, detect ends, find forced text, and check that each output can be completed within its budget. Does
not: own the arrays or spell forced text (`followers`).
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
TABLE_ADDRESSES: Final = 30  # int64 numbers of `table_addresses`
MOST_FORCED: Final = 512  # bytes

# The verdict on an output.
MOVED: Final = 0
FORCED: Final = 1  # only one text can come next
FORCED_END: Final = 2  # ... and the output is over after it
FINISHED: Final = 3  # an end token was read
REFUSED: Final = 4  # its position is invalid now
FULL: Final = 5  # its stack is too high; its position is invalid now

# The end of an output is short, not always the shortest: `_SPARE` tokens and a quarter more must fit the budget.
_SPARE: Final = 8


class BatchPositions(NamedTuple):
    """The positions of outputs, a row each.

    `state`, `stack[:depth]`: the configuration; `left`: tokens left in the budget; `tokens[:known]`: the output;
    `tokens[:before]`: the output before its last sampled tokens. `rests[tops[i] : tops[i + 1]]`: bytes to the end of
    the output after each outcome of the i-th rule on the stack, where 0 is the outermost; valid for the first
    `valid_rests` rules.
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
    valid_rests: Ints


class TokenBytes(NamedTuple):
    """The bytes of token t are `data[begins[t] : begins[t + 1]]`; `ends` are its end tokens.

    `all_bytes` [1]: whether each byte is a token by itself. `crossed` [65536]: at 256 * a + b, whether some token
    contains byte a followed by byte b.
    """

    data: Bytes
    begins: Ints
    ends: Ints
    all_bytes: Bytes
    crossed: Bytes


class BatchReport(NamedTuple):
    """The results of a batch step, by output: the verdict, and whether it surely can be completed within its budget.

    `text[:length]`: the forced text. `window[WINDOW - back :]`: the last tokens, on which the spelling of the forced
    text depends; `back` is -1 if these are too many. `reported` begins with the outputs that need attention.
    """

    verdict: Bytes
    fits: Bytes
    text: Bytes  # [n x MOST_FORCED]
    length: Ints
    window: Ints  # [n, WINDOW]
    back: Ints
    reported: Ints


class _GrammarTables(NamedTuple):
    """The tables of one grammar, for compiled code."""

    codes: Codes
    column_of: Bytes
    ahead: Lookahead


def table_addresses(tables: DeviceTables) -> Longs:
    """The addresses of a grammar's tables, for `move`. The caller keeps the tables alive while they are in use."""
    return addresses(
        tables.cells, tables.sites, tables.returns, tables.column_of, *tables.lookahead
    )


@kernel
def _tables_at(pointers: Longs) -> _GrammarTables:
    return _GrammarTables(
        Codes(grid(pointers, 0), grid(pointers, 1), line(pointers, 2)),
        octets(pointers, 3),
        Lookahead(
            line(pointers, 4),
            line(pointers, 5),
            line(pointers, 6),
            line(pointers, 7),
            octets(pointers, 8),
            line(pointers, 9),
        ),
    )


def position_addresses(positions: BatchPositions, row_tables: Longs) -> Longs:
    """The addresses, for `move`, of the positions and of `row_tables` [rows, TABLE_ADDRESSES].

    A row of `row_tables` holds the `table_addresses` of the grammar of that output.
    """
    return addresses(*positions, row_tables.reshape(-1))


def text_addresses(texts: TokenBytes) -> Longs:
    """The addresses of the texts, for `move`."""
    return addresses(*texts)


def report_addresses(report: BatchReport) -> Longs:
    """The addresses of the arrays for the results, for `move`."""
    return addresses(*report)


@kernel
def _positions(pointers: Longs) -> BatchPositions:
    return BatchPositions(
        line(pointers, 0),
        line(pointers, 1),
        grid(pointers, 2),
        line(pointers, 3),
        line(pointers, 4),
        line(pointers, 5),
        grid(pointers, 6),
        grid(pointers, 7),
        grid(pointers, 8),
        line(pointers, 9),
    )


@kernel
def _texts(pointers: Longs) -> TokenBytes:
    return TokenBytes(
        octets(pointers, 0),
        line(pointers, 1),
        line(pointers, 2),
        octets(pointers, 3),
        octets(pointers, 4),
    )


@kernel
def _report(pointers: Longs) -> BatchReport:
    return BatchReport(
        octets(pointers, 0),
        octets(pointers, 1),
        octets(pointers, 2),
        line(pointers, 3),
        grid(pointers, 4),
        line(pointers, 5),
        line(pointers, 6),
    )


@kernel
def move(
    positions_at: Longs,
    texts_at: Longs,
    report_at: Longs,
    rows: Ints,
    upto: Ints,
    tokens: Ints,
    most: int,
) -> tuple[int, int, int]:
    """Read tokens: those of output i, at row `rows[i]` of the positions, end before `upto[i]`.

    Then find up to `most` forced bytes, `MOST_FORCED` at most. Returns the number of outputs in `reported`, the tokens
    of the longest output, and the height of the highest stack.
    """
    positions, texts, report, row_tables = (
        _positions(positions_at),
        _texts(texts_at),
        _report(report_at),
        longs(positions_at, 10),
    )
    scratch, calls = np.empty(STACK, np.int32), np.empty(MOST_CALLS, np.int32)
    begin, reported, longest, highest = 0, 0, 0, 0
    for i in range(len(rows)):
        row, end = rows[i], upto[i]
        tables = _tables_at(row_tables[TABLE_ADDRESSES * row : TABLE_ADDRESSES * (row + 1)])
        if most:
            positions.before[row] = positions.known[row]
        verdict = MOVED
        for token in tokens[begin:end]:
            if verdict == MOVED:
                verdict = _read(positions, tables, texts, row, token, calls)
        begin = end
        left = positions.left[row]
        report.fits[i], report.length[i], report.back[i] = left >= 0, 0, 0
        if verdict == MOVED:
            need = _bytes_to_end(positions, tables, row)
            report.fits[i] = texts.all_bytes[0] and need + need // 4 + _SPARE <= left
            if most:
                text = report.text[MOST_FORCED * i : MOST_FORCED * i + most]
                verdict, report.length[i] = _force(positions, tables, row, text, scratch, calls)
                if report.length[i] > 0:
                    window = report.window[i]
                    report.back[i] = _tokens_since_hard(positions, texts, row, text[0], window)
        report.verdict[i] = verdict
        if verdict != MOVED or not report.fits[i]:
            report.reported[reported] = i
            reported += 1
        longest, highest = max(longest, positions.known[row]), max(highest, positions.depth[row])
    return reported, longest, highest


@kernel
def _read(
    positions: BatchPositions,
    tables: _GrammarTables,
    texts: TokenBytes,
    row: int,
    token: int,
    calls: Ints,
) -> int:
    """Read one token; returns the verdict."""
    codes, stack = tables.codes, positions.stack[row]
    state: Whole = np.int64(positions.state[row])
    depth: Whole = np.int64(positions.depth[row])
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
            if codes.cells[state, column] > 0:  # the usual case: the stack stays
                state = np.int64(codes.cells[state, column]) - 1
                continue
            state, kept, more, _ = step(codes, stack, depth, state, column, calls)
            if state < 0:
                return REFUSED
            depth, lowest = kept + more, min(lowest, kept)
            if depth > STACK:
                return FULL
            stack[kept:depth] = calls[:more]
    positions.state[row], positions.depth[row] = state, depth
    positions.valid_rests[row] = min(positions.valid_rests[row], lowest + 1)
    positions.tokens[row, positions.known[row]] = token
    positions.known[row] += 1
    positions.left[row] -= 1
    return FINISHED if ends else MOVED


@kernel
def _bytes_to_end(positions: BatchPositions, tables: _GrammarTables, row: int) -> int:
    """Bytes to the end of an output; `UNKNOWN` if not known."""
    state, depth, ahead = positions.state[row], positions.depth[row], tables.ahead
    if state == len(tables.codes.cells):
        return 0
    rests, tops = positions.rests[row], positions.tops[row]
    if tops[1] > ROOM:
        return UNKNOWN
    for level in range(positions.valid_rests[row], depth + 1):
        begin = positions.stack[row, level - 1]
        if tops[level] + ahead.outcomes[begin] > ROOM:
            return UNKNOWN
        rest, out = rests[tops[level - 1] : tops[level]], rests[tops[level] :]
        tops[level + 1] = tops[level] + after_outcomes(
            tables.codes.returns, ahead, begin, rest, out
        )
        positions.valid_rests[row] = level + 1
    return to_end(ahead, state, rests[tops[depth] : tops[depth + 1]])


@kernel
def _force(
    positions: BatchPositions,
    tables: _GrammarTables,
    row: int,
    text: Bytes,
    stack: Ints,
    calls: Ints,
) -> tuple[int, int]:
    """(verdict, bytes in `text`): reads on while exactly one byte is legal and no rule can end."""
    codes, done = tables.codes, 0
    state: Whole = np.int64(positions.state[row])
    depth: Whole = np.int64(positions.depth[row])
    while done < len(text) and state < len(codes.cells):
        only: Whole = np.int64(tables.ahead.only[state])
        if not done and only != SEVERAL:
            stack[:depth] = positions.stack[row, :depth]
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
    """The column of the only legal byte; `SEVERAL` if there is none, or more than one."""
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
    positions: BatchPositions, texts: TokenBytes, row: int, right: int, window: Ints
) -> int:
    """Tokens since the last hard boundary (see `token_spelling`) before byte `right`; -1 if it is too far back."""
    known = positions.known[row]
    for back in range(min(known, WINDOW)):
        token = positions.tokens[row, known - 1 - back]
        begin, end = texts.begins[token], texts.begins[token + 1]
        if not texts.crossed[256 * texts.data[end - 1] + right]:
            return back
        window[WINDOW - 1 - back] = token
        right = texts.data[begin]
    return known if known < WINDOW else -1
