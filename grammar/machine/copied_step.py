"""Texts that are copied from a document, read along the document instead of through a state for each byte.

Does: find the place after as many whole characters of a text as the document has there, and go on from its state. Does
not: read the bytes of a part of a character, or those behind the text (`text_step`); find masks (`mask.copied_row`).
"""

from ..base.addresses import grid, line, longs, octets
from ..base.array_types import Bytes, Ints, Longs
from ..jit.kernel import brief_kernel, kernel, machine_code_of
from . import walk_state as n
from .byte_step import EXPAND, SITE
from .compiled_view import CompiledView
from .copied_texts import after_characters, copied_place, pattern_at
from .lazy_tables import FIRST, FLAGS, LOW, SIZE, Tables, tables_at
from .machine import Machine, state_of
from .text_step import advance_on
from .walk_state import note_of

Place = tuple[int, int, int, int, int]
"""The low, high, length and least of a `CopiedPlace`, and its outcome as the machine numbers it."""


@kernel
def _after(codes: Ints, order: Ints, length: int, low: int, high: int) -> int:
    """The rank after all those with the character of rank `low` behind `length` characters."""
    code = codes[order[low] + length]
    while high - low > 1:
        middle = (low + high) // 2
        if codes[order[middle] + length] == code:
            low = middle
        else:
            high = middle
    return high


@kernel
def _reaching(reach: Ints, length: int, low: int, high: int) -> int:
    """The first of the ranks from where more than `length` characters may be copied; `high` if there is none."""
    while low < high and reach[low] <= length:
        low += 1
    return low


@kernel
def _goes_on(text: Bytes, done: int, written: Bytes, begin: int, end: int) -> bool:
    """Whether `text` goes on with all of `written[begin:end]`, which is nothing at the end of a document."""
    same = len(text) - done >= end - begin > 0
    for i in range(end - begin if same else 0):
        same = same and text[done + i] == written[begin + i]
    return bool(same)


@kernel
def _may_close(tables: Tables, site: int, outcome: int) -> bool:
    """Whether a call certainly may end with an outcome."""
    at = outcome - tables.sites[site, LOW]
    return bool(
        tables.sites[site, FLAGS] == 0
        and 0 <= at < tables.sites[site, SIZE]
        and tables.returns[tables.sites[site, FIRST] + 2 * at] >= 0
    )


@brief_kernel
def follow(
    held: Longs, texts: Longs, place: Place, text: Bytes, done: int
) -> tuple[int, int, int, int, int]:
    """Read whole characters of `text` from byte `done` on: (bytes read in all, low, high, length, whether two go on).

    `held`: see `text_step.addresses_for`; its note is at the place. `texts`: the addresses of `CopiedTexts`. The last
    result is 1 if two bytes certainly are legal behind what was read.
    """
    written, begins, order = octets(texts, 0), line(texts, 1), line(texts, 2)
    reach, codes = line(texts, 3), line(texts, 4)
    low, high, length, least, outcome = place
    while done < len(text):
        first, after = low, low
        while first < high:
            begin, end = begins[order[first] + length], begins[order[first] + length + 1]
            after = _after(codes, order, length, first, high)
            if _goes_on(text, done, written, int(begin), int(end)):
                break
            first = after
        if first == high or _reaching(reach, length, first, after) == after:
            return done, low, high, length, 0
        low, high = first, after
        done += int(end - begin)
        length += 1
    site, pattern = grid(held, 1)[note_of(longs(held, 0)).top, SITE], pattern_at(texts)
    ways = 0
    if length >= least and pattern.outcome[after_characters(pattern, order[low], length)] >= 0:
        ways = int(_may_close(tables_at(longs(held, 2)), int(site), outcome))
    first, last = _reaching(reach, length, low, high), high - 1
    if first < high:
        while reach[last] <= length:
            last -= 1
        begin, end = begins[order[first] + length], begins[order[last] + length]
        ways += 1 + int(written[begin] != written[end])
    return done, low, high, length, int(ways > 1)


def go_on(machine: Machine, view: CompiledView, text: Bytes, depth: int, version: int) -> int:
    """Go on where `advance` lacked the row of a state, if it is one of a copied text; returns the same.

    Raises:
        TablesFull: see `Machine.expand`.
    """
    noted, found = view.noted, -1 - EXPAND
    while found == -1 - EXPAND:
        state, done, chooses = noted[n.WHAT], noted[n.DONE], 0
        named = machine.name(state)
        copied = copied_place(named)
        if named is None or copied is None or noted[n.STATE] != state:
            break
        after = done
        if not copied.skipped:
            texts, low, high, length, _, _, least, _, outcome = copied
            number = machine.number(view.site_of(noted[n.TOP]), outcome)
            after, low, high, length, chooses = machine_code_of(follow)(
                view.held, texts.addresses, (low, high, length, least, number), text, done
            )
            if after > done:
                state = state_of(machine, named[0], texts.state(low, high, length))
        if after == done:
            machine.expand(state)
        found = machine_code_of(advance_on)(view.held, text, state, after, chooses, depth, version)
    return found
