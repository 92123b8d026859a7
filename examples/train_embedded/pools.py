"""Names and places from Faker and words from frequency lists, read once a process.

The held-out share of each pool (see `draw`) gives held-out documents people, firms and places that no
training document knows.
"""

from __future__ import annotations

import gzip
import json
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

from faker import Faker

from .draw import Language, Pool

_HOME = {"en": ("en_US", "en_GB", "en_IN", "en_AU"), "de": ("de_DE", "de_AT", "de_CH")}
_HOME |= {"fr": ("fr_FR", "fr_CA"), "es": ("es_ES", "es_MX")}
# Names from elsewhere stand in documents of every language; they teach copying of rare letters.
_ELSEWHERE = ("pl_PL", "cs_CZ", "tr_TR", "sv_SE", "no_NO", "hu_HU", "ro_RO", "pt_BR", "it_IT", "fi_FI")
_FAR = ("el_GR", "uk_UA", "ja_JP")
# Faker's list of towns comes in another order in every process here.
_UNSTEADY = ("it_IT", "el_GR")
_PROVIDERS = [f"faker.providers.{name}" for name in ("address", "company", "job", "person")]  # a fifth of all
_PREFIX = ("Mr", "Mrs", "Ms", "Dr", "Herr", "Frau", "Prof", "Univ", "Miss", "Mme", "M.", "Sr", "Sra", "Dipl", "Ing")


@dataclass(frozen=True)
class Places:
    """Entities of one language, each pool split into training and held-out items."""

    given: Pool
    family: Pool
    company: Pool
    street: Pool
    city: Pool
    zip: Pool
    job: Pool
    word: Pool
    glue: Pool


@cache
def places(lang: Language) -> Places:
    """The pools of a language; the first call takes about half a second."""
    given: list[str] = []
    family: list[str] = []
    companies: list[str] = []
    streets: list[str] = []
    cities: list[str] = []
    codes: list[str] = []
    jobs: list[str] = []
    homes = [(name, 500) for name in _HOME[lang]]
    for locale, count in homes + [(name, 60) for name in _ELSEWHERE] + [(name, 12) for name in _FAR]:
        fake = Faker(locale, _PROVIDERS)
        fake.seed_instance(f"{lang}-{locale}")
        given += [fake.first_name() for _ in range(count)]
        family += [fake.last_name() for _ in range(count)]
        companies += [fake.company() for _ in range(count // 2)]
        streets += [fake.street_address().split("\n")[0] for _ in range(count // 2)]
        if locale not in _UNSTEADY:
            cities += [fake.city() for _ in range(count // 2)]
        if locale in _HOME[lang]:
            codes += [fake.postcode() for _ in range(count)]
            jobs += [fake.job() for _ in range(count)]
    words = frequent(lang)
    drawn = (given, family, companies, streets, cities, codes, jobs, words)
    return Places(*(_pool(items) for items in (*drawn, words[:120])))


@cache
def frequent(lang: Language, count: int = 20_000) -> list[str]:
    """The most frequent words of a language, most frequent first."""
    packed = files("spellchecker") / f"resources/{lang}.json.gz"  # its classes go through every letter
    known: dict[str, int] = json.loads(gzip.decompress(packed.read_bytes()))
    plain = sorted(word for word in known if word.isalpha() and (len(word) > 1 or word in "aiyoà"))
    return sorted(plain, key=known.__getitem__, reverse=True)[:count]


def _pool(items: list[str]) -> Pool:
    clean = dict.fromkeys(item.strip() for item in items if item.strip() and '"' not in item)
    return Pool.of(tuple(item for item in clean if not item.startswith(_PREFIX)))
