"""Synthetic documents that are laid out as machines print them: tills, invoices' text layers, notices, addresses,
orders of broadcasters, recipes' pages, agencies' reports.

They resemble sources of a set of real documents that models are scored on (see the README of this example).
"""

from __future__ import annotations

import random
from collections.abc import Callable

from ..draw import Draw
from ..real.records import Record
from . import (
    addresses,
    airtime,
    broadcast,
    cookery,
    einvoices,
    incidents,
    invoices,
    notices,
    pages,
    places,
    tills,
    trade_bills,
)

Maker = Callable[[Draw, list[str]], Record | None]
MAKERS: tuple[tuple[Maker, float], ...] = (
    (addresses.address, 1.2),
    (tills.till, 2.0),
    (invoices.invoice, 1.0),
    (einvoices.einvoice, 1.2),
    (trade_bills.bill, 3.0),
    (broadcast.order, 1.2),
    (airtime.paper, 3.0),
    (cookery.page, 2.0),
    (incidents.incident, 2.0),
    (notices.failure, 1.0),
    (notices.versions, 0.6),
    (places.place, 1.6),
    (pages.page, 1.4),
)
_WEIGHTS = [weight for _, weight in MAKERS]


def printed(rng: random.Random, pieces: list[str]) -> Record | None:
    """A document of any of these kinds; `pieces` is real prose for those that have a body."""
    maker = rng.choices(MAKERS, _WEIGHTS)[0][0]
    return maker(Draw(rng, "train", rng.choice(("en", "en", "en", "de", "fr", "es"))), pieces)
