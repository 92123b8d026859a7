"""The sorts of documents the generator knows."""

from . import business, jobs, life, money, records, soup, trade

KINDS = (
    *trade.KINDS,
    *money.KINDS,
    *business.KINDS,
    *jobs.KINDS,
    *life.KINDS,
    *records.KINDS,
    *soup.KINDS,
)
