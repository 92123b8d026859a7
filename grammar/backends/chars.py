"""Sets of characters as ranges of code points. Surrogates are not characters and are in none of them."""

Ranges = tuple[tuple[int, int], ...]  # inclusive code points, ascending, apart

LAST = 0x10FFFF
DIGIT: Ranges = ((0x30, 0x39),)
WORD: Ranges = ((0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A))
SPACE: Ranges = (
    (0x09, 0x0D), (0x20, 0x20), (0xA0, 0xA0), (0x1680, 0x1680), (0x2000, 0x200A),
    (0x2028, 0x2029), (0x202F, 0x202F), (0x205F, 0x205F), (0x3000, 0x3000), (0xFEFF, 0xFEFF),
)  # fmt: skip
BREAK: Ranges = ((0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029))
EVERY: Ranges = ((0, 0xD7FF), (0xE000, LAST))


def union(*parts: Ranges) -> Ranges:
    """All characters of the parts, without surrogates."""
    merged: list[tuple[int, int]] = []
    for low, high in sorted(pair for part in parts for pair in part):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(high, merged[-1][1]))
        else:
            merged.append((low, high))
    return tuple(merged)


def intersection(left: Ranges, right: Ranges) -> Ranges:
    """The characters in both."""
    pairs = ((max(a, c), min(b, d)) for a, b in left for c, d in right)
    return union(tuple((low, high) for low, high in pairs if low <= high))


def complement(part: Ranges) -> Ranges:
    """All Unicode scalar values that are not in `part`."""
    result: list[tuple[int, int]] = []
    at = 0
    for low, high in (*part, (LAST + 1, LAST + 1)):
        if at < low:
            result.append((at, low - 1))
        at = max(at, high + 1)
    return intersection(tuple(result), EVERY)
