"""The repositories that training text comes from, with the licence each states for the files that are read.

Left out on purpose: the repositories that the evaluation sets come from; files that share references with them (found as
common sequences of eight words); textbooks under non-commercial terms; corpora of private mail; anything whose licence
the repository does not state.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from . import conversations, events, meetings, mentions, pages, papers, people, plain, questions, recipes, requests
from .records import Record

Reader = Callable[[str, str], Record | Iterator[Record] | None]


@dataclass(frozen=True)
class Source:
    """A repository. `prose` reads language from files that fit `files`; `readers` map patterns to makers of records.

    No record is read from the paths `left_out`.
    """

    repository: str
    licence: str
    files: tuple[str, ...] = ()
    prose: Callable[[str], str] = plain.markdown
    readers: tuple[tuple[str, Reader], ...] = ()
    left_out: tuple[str, ...] = ()


_DATASET = "grobid-trainer/resources/dataset/"
_BOOK = ("src/epub/text/*.xhtml",)
_BOOKS = (
    "arthur-conan-doyle_the-adventures-of-sherlock-holmes",
    "samuel-pepys_the-diary",
    "jane-austen_pride-and-prejudice",
    "p-g-wodehouse_short-fiction",
    "charles-dickens_david-copperfield",
    "jack-london_short-fiction",
    "ulysses-s-grant_personal-memoirs-of-ulysses-s-grant",
    "jerome-k-jerome_three-men-in-a-boat",
    "f-scott-fitzgerald_the-great-gatsby",
    "agatha-christie_the-mysterious-affair-at-styles",
    "agatha-christie_the-murder-of-roger-ackroyd",
    "p-g-wodehouse_right-ho-jeeves",
    "o-henry_short-fiction",
    "anton-chekhov_short-fiction_constance-garnett",
    "mark-twain_the-innocents-abroad",
    "mark-twain_roughing-it",
    "sinclair-lewis_babbitt",
    "sinclair-lewis_main-street",
    "philip-k-dick_short-fiction",
    "h-beam-piper_short-fiction",
    "robert-sheckley_short-fiction",
    "frederik-pohl_short-fiction",
    "w-somerset-maugham_of-human-bondage",
    "dorothy-l-sayers_whose-body",
    "benjamin-franklin_the-autobiography-of-benjamin-franklin",
)

SOURCES = (
    Source("GSA/digitalgov.gov", "public domain (17 U.S.C. 105), CC0", ("content/*.md",), readers=(("content/news/*.md", pages.government_page), ("content/events/*.md", pages.government_page))),
    Source("18F/handbook", "CC0-1.0", ("*.md",)),
    Source("18F/18f.gsa.gov", "public domain (17 U.S.C. 105), CC0", ("content/posts/*.md",)),
    Source("uswds/uswds-site", "public domain (17 U.S.C. 105), CC0", ("*.md",)),
    Source("python/peps", "public domain or CC0-1.0", ("peps/pep-*.rst",), plain.restructured, (("peps/pep-*.rst", pages.proposal),)),
    Source("rust-lang/blog.rust-lang.org", "MIT OR Apache-2.0", ("content/*.md", "posts/*.md"), readers=(("content/*.md", pages.blog_post), ("posts/*.md", pages.blog_post))),
    Source("rust-lang/book", "MIT OR Apache-2.0", ("src/*.md",)),
    Source("rust-lang/this-week-in-rust", "MIT", ("content/*.md",), readers=(("content/*.md", pages.event_lists),)),
    Source("nodejs/nodejs.org", "MIT", tuple(f"apps/site/pages/en/blog/{name}/*.md" for name in ("announcements", "uncategorized", "vulnerability", "weekly"))),
    Source("github/opensource.guide", "CC-BY-4.0", ("_articles/*.md",)),
    Source("alphagov/govuk-design-system", "OGL-3.0, MIT", ("src/*.md", "src/*.njk")),
    Source("nhsuk/nhsuk-service-manual", "MIT, OGL-3.0", ("*.md",)),
    Source("MicrosoftDocs/PowerShell-Docs", "CC-BY-4.0", ("reference/docs-conceptual/*.md",)),
    Source("etalab/schema.data.gouv.fr", "Licence Ouverte 2.0", ("*.md",)),
    Source("bundestag/gesetze", "public domain (§ 5 UrhG)", ("*.md",)),
    Source("legalize-dev/legalize-fr", "Licence Ouverte 2.0", ("fr/*.md",)),
    Source("remoteintech/remote-jobs", "ISC", readers=(("*compan*.md", pages.employer),)),
    Source("ronaldl29/public-domain-recipes", "Unlicense", readers=(("content/*.md", recipes.recipe),)),
    Source("LukeSmithxyz/based.cooking", "public domain", readers=(("content/*.md", recipes.recipe),)),
    Source("kermitt2/grobid", "Apache-2.0", readers=(
        (_DATASET + "citation/corpus/*.xml", papers.references),
        (_DATASET + "affiliation-address/corpus/*.xml", papers.affiliation),
        (_DATASET + "header/corpus/tei/*.xml", papers.header),
        (_DATASET + "header/article/light/corpus/tei/*.xml", papers.header),
        (_DATASET + "name/header/corpus/*.xml", papers.author_names),
    ), left_out=(_DATASET + "citation/corpus/citations.xml", _DATASET + "citation/corpus/raw_ref_corrected.training.references.tei.xml")),
    Source("unitedstates/congress-legislators", "CC0-1.0", readers=(("legislators-current.yaml", people.legislators), ("legislators-historical.yaml", people.legislators))),
    Source("datamade/probablepeople", "MIT", readers=(("name_data/labeled/*.xml", people.labelled_names),)),
    Source("tech-conferences/conference-data", "MIT", readers=(("conferences/*.json", events.conferences),)),
    Source("amir-zeldes/gum", "CC-BY-4.0 (annotations), CC-BY or CC-BY-SA (texts)", readers=(("coref/gum/tsv/*.tsv", mentions.passages),)),
    Source("google-research-datasets/dstc8-schema-guided-dialogue", "CC-BY-SA-4.0", readers=(("train/dialogues_*.json", conversations.conversations),)),
    Source("clinc/oos-eval", "CC-BY-3.0", readers=(("data/data_full.json", requests.intents),)),
    Source("PolyAI-LDN/task-specific-datasets", "CC-BY-4.0", readers=(
        ("banking_data/train.csv", requests.bank_questions),
        ("nlupp/data/*/fold*.json", requests.aspects),
        ("span_extraction/restaurant8k/train_0.json", requests.table_bookings),
    )),
    Source("sonos/nlu-benchmark", "CC0-1.0", readers=(("2017-06-custom-intent-engines/*/train_*[!l].json", requests.assistant_requests),)),
    Source("nodejs/TSC", "ISC", readers=(("meetings/*.md", meetings.minutes),)),
    Source("google-deepmind/xquad", "CC-BY-SA-4.0", readers=(("xquad.en.json", questions.paragraphs), ("xquad.de.json", questions.paragraphs), ("xquad.es.json", questions.paragraphs))),
    *(Source(f"standardebooks/{name}", "CC0-1.0", _BOOK, plain.xhtml) for name in _BOOKS),
)  # fmt: skip
