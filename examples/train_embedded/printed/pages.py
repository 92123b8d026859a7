"""Web pages around real prose: menus, a headline, a byline, a date, and a body of real sentences."""

from __future__ import annotations

import re

from ..draw import Draw
from ..entities import person_name
from ..numerals import date_text
from ..real.records import Record, Stated
from ..values import iso_day
from ..wording import title_words

_MENU = "Home|News|Sport|Politics|Culture|Opinion|Login|Subscribe|Search|Menu|About us|Contact|Video|Weather|Newsletter|Skip to content|Share|Tweet|Comments|Print|Startseite|Nachrichten|Anmelden|Suche|Accueil|Actualités|Connexion|Inicio|Noticias|Related articles|Most read|Cookie settings|Follow us|Archive"
_MARKS = {
    "en": (" the ", " and ", " of "),
    "de": (" der ", " und ", " die "),
    "fr": (" les ", " des ", " est "),
    "es": (" los ", " del ", " para "),
}
_LANGUAGES = ("en", "de", "fr", "es", "it", "pt", "nl", "other")


def _language(text: str) -> str | None:
    counts = {name: sum(text.lower().count(mark) for mark in marks) for name, marks in _MARKS.items()}
    best, second = sorted(counts, key=lambda name: -counts[name])[:2]
    return best if counts[best] > 3 + 2 * counts[second] else None


def _headline(paragraph: str) -> str:
    """The first words of a real sentence, as a headline has them."""
    return re.sub(r"[\s,;:.]+$", "", " ".join(re.split(r"(?<=[.;:!?])\s", paragraph)[0].split()[:11]))


def page(draw: Draw, pieces: list[str]) -> Record | None:
    if not pieces:
        return None
    rng = draw.rng
    parts = [part for part in rng.choice(pieces).split("\n\n") if 120 < len(part) < 900 and '"' not in part[:90]]
    if len(parts) < 3:
        return None
    start = rng.randrange(len(parts) - 2)
    title, body = _headline(parts[start]), parts[start + 1 : start + 1 + rng.choice((1, 2, 3, 4, 6))]
    language = _language(" ".join(body))
    if language is None or not 12 < len(title) < 110:
        return None
    draw = Draw(rng, "train", language if language in ("en", "de", "fr", "es") else "en")  # type: ignore[arg-type]
    day, author, site = iso_day(draw), person_name(draw), title_words(draw, 1, 3)
    has_day, has_author = draw.chance(0.75), draw.chance(0.65)
    shown = date_text(draw, day)
    by = {
        "en": "By {}|by {}|{}|Written by {}|Author: {}|Posted by {}",
        "de": "Von {}|{}|Autor: {}",
        "fr": "Par {}|{}|Publié par {}",
        "es": "Por {}|{}|Escrito por {}",
    }[draw.lang]
    line = [draw.pick(by).replace("{}", author)] if has_author else []
    line += (
        [draw.pick("{}|{}|Published {}|Updated: {}").replace("{}", shown) if language == "en" else shown]
        if has_day
        else []
    )
    rng.shuffle(line)
    menu = draw.some(_MENU, 0, 9)
    rng.shuffle(menu)
    cut = rng.randint(0, len(menu))
    top = [*menu[:cut], *([site] if draw.chance(0.6) else [])]
    rng.shuffle(top)
    lines = [title, *([rng.choice((" | ", "\n", " - ", " · ")).join(line)] if line else [])]
    if draw.chance(0.25):
        lines.reverse()
    end = [
        *menu[cut:],
        draw.pick("© 20## {}|Copyright {}|{} - all rights reserved|{}")
        .replace("##", str(rng.randint(10, 27)))
        .replace("{}", site),
    ]
    text = "\n".join((*top, *lines, *(part for part in body), *end))
    options = tuple(each for each in _LANGUAGES if each == language or draw.chance(0.85))
    return Record("page", text, (
        Stated("headline|title|heading", title, notes="of the article|as written"),
        Stated("author|byline|written_by|writer", author if has_author else None, notes="without 'By'; null if nobody is named|who wrote it"),
        Stated("site_name|site|publisher|newspaper|source", site, notes="name of the site, as the page writes it"),
        Stated("published|date|publication_date|published_on", day.isoformat() if has_day else None, "date", "null if the page gives none|date of publication"),
        Stated("language|lang|text_language", language, "enum", "language of the text", options),
        Stated("rating|price", None, "number"),
    ))  # fmt: skip
