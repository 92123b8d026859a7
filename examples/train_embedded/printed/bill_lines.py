"""Lines and sums of electronic invoices: discounts and charges of a line and of the document, taxes by rate."""

from __future__ import annotations

from dataclasses import dataclass

from ..draw import Draw, Language
from ..wording import digits, title_words

_RATES: dict[Language, tuple[float, ...]] = {"en": (20.0, 5.0, 0.0), "de": (19.0, 7.0, 0.0), "fr": (20.0, 10.0, 5.5)}
_COUNTS = (1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 8.0, 10.0, 12.0, 20.0, 24.0, 50.0, 100.0, 250.0, 1200.0, 0.5, 1.5, 2.25, 7.75, 12.345)  # fmt: skip


@dataclass(frozen=True)
class Line:
    """One line; `change` is a discount below 0 or a charge, `listed` the price before a discount on it."""

    name: str
    description: str
    article: str
    buyers: str
    gtin: str
    count: float
    unit: str
    price: float
    listed: float
    change: float
    rate: float

    @property
    def net(self) -> float:
        return round(round(self.count * self.price, 2) + self.change, 2)


@dataclass(frozen=True)
class Change:
    """A discount of the whole document, below 0, or a charge, with its rate of tax."""

    label: str
    amount: float
    rate: float


class Totals:
    """Tax, gross amount and amount due of an invoice; `taxes` has rate, base and tax of each rate."""

    taxes: tuple[tuple[float, float, float], ...]
    prepaid: float

    @property
    def base(self) -> float:
        """The amount before tax."""
        raise NotImplementedError

    @property
    def tax(self) -> float:
        return round(sum(tax for _, _, tax in self.taxes), 2)

    @property
    def gross(self) -> float:
        return round(self.base + self.tax, 2)

    @property
    def due(self) -> float:
        return round(self.gross - self.prepaid, 2)


@dataclass(frozen=True)
class Sums(Totals):
    """What lines and changes add up to; `taxes` has rate, base and tax of each rate."""

    lines: float
    changes: tuple[Change, ...]
    taxes: tuple[tuple[float, float, float], ...]
    prepaid: float

    @property
    def allowances(self) -> float:
        return round(sum(change.amount for change in self.changes if change.amount * self.sign < 0), 2)

    @property
    def charges(self) -> float:
        return round(sum(change.amount for change in self.changes if change.amount * self.sign > 0), 2)

    @property
    def sign(self) -> int:
        return -1 if self.lines < 0 else 1

    @property
    def base(self) -> float:
        return round(self.lines + sum(change.amount for change in self.changes), 2)


@dataclass(frozen=True)
class Columns:
    """Which parts the lines of one document have beside name, quantity, price and sum."""

    article: bool
    buyers: bool
    gtin: bool
    described: bool
    listed: bool
    changed: bool
    coded: bool
    rated: bool


def columns(draw: Draw) -> Columns:
    return Columns(*(draw.chance(share) for share in (0.55, 0.2, 0.25, 0.35, 0.25, 0.3, 0.4, 0.8)))


def _name(draw: Draw) -> str:
    tail = draw.pick(
        "|||| {n} mm| M{k}x{n}| {n} x {k} cm| {n} W| Typ @| {k} l| DN {n}| #{k}|, {n} m|-Set| @{n}| {k}er Pack"
    )
    tail = tail.replace("{n}", str(draw.rng.randint(5, 250))).replace("{k}", str(draw.rng.randint(2, 12)))
    return title_words(draw, 1, 4) + digits(draw, tail.replace("#", "N"))


def lines(draw: Draw, parts: Columns, units: str, sign: int) -> list[Line]:
    """The lines of a document; `sign` is -1 where a credit note has quantities below 0."""
    rng = draw.rng
    usual, *others = _RATES[draw.lang]
    rates = (
        rng.sample((usual, *others), 1)
        if draw.chance(0.2)
        else [usual, *rng.sample(others, rng.choice((0, 0, 1, 1, 2)))]
    )
    fine = draw.chance(0.2)
    shape = draw.pick("@@###|######|@-####|##.###.##|@@@-##-##|#######")
    high = rng.choice((9, 60, 400, 2000))
    found = []
    for _ in range(rng.choice((1, 1, 2, 2, 3, 4, 5, 6, 8, 10, 12, 16))):
        count = sign * rng.choice(_COUNTS)
        listed = round(rng.uniform(0.05, 8) if abs(count) > 60 else rng.uniform(0.3, high), 4 if fine else 2)
        price = round(listed * rng.choice((0.9, 0.95, 0.8, 0.65)), 4 if fine else 2) if parts.listed else listed
        gross = round(count * price, 2)
        change = round(gross * rng.choice((-0.1, -0.05, -0.02, 0.03)), 2) if parts.changed and draw.chance(0.4) else 0.0
        word, code = rng.choice(units.split("|")).split("=")
        text = " ".join(title_words(draw, 2, 5) for _ in range(rng.choice((1, 1, 2))))
        found.append(Line(
            _name(draw), text if parts.described and draw.chance(0.7) else "", digits(draw, shape) if parts.article else "",
            digits(draw, "K-####") if parts.buyers else "", digits(draw, "40###########") if parts.gtin else "",
            count, code if parts.coded else word, price, listed, change, rng.choice(rates),
        ))  # fmt: skip
    return found


def sums(draw: Draw, found: list[Line], words: dict[str, str]) -> Sums:
    """The sums of the lines with discounts and charges of the document, each at the rate of one of the lines."""
    rng = draw.rng
    total = round(sum(line.net for line in found), 2)
    rates = sorted({line.rate for line in found}, reverse=True)
    changes = []
    for label, sign in (("allow", -1), ("add", 1)):
        if draw.chance(0.3):
            part = round(total * rng.choice((0.02, 0.03, 0.05, 0.1, 0.015)), 2)
            fee = rng.choice((4.9, 6.5, 12.5, 19.9, 25.0, 48.0, 120.0)) * (1 if total > 0 else -1)
            amount = fee if sign > 0 and draw.chance(0.7) else sign * part
            if amount:
                changes.append(Change(words[label], amount, rng.choice(rates)))
    taxes = []
    for rate in rates:
        base = sum(line.net for line in found if line.rate == rate)
        base = round(base + sum(change.amount for change in changes if change.rate == rate), 2)
        taxes.append((rate, base, round(base * rate / 100, 2)))
    whole = Sums(total, tuple(changes), tuple(taxes), 0.0)
    prepaid = round(whole.gross * rng.choice((0.2, 0.5, 0.3, 1.0)), 2) if total > 0 and draw.chance(0.2) else 0.0
    return Sums(total, tuple(changes), tuple(taxes), prepaid)
