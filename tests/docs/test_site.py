"""The documents as a site: built without a warning, and no link in it or in the tree leads nowhere."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest

from tests.support.pages.markdown import slug
from tests.support.snippets import FENCE, ROOT

SITE = ROOT / "mkdocs.yml"
OUTSIDE = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/train_embedded/README.md")


class Links(HTMLParser):
    """What a page links to, what can be linked to in it, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.targets: list[str] = []
        self.anchors = {""}
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        if tag == "a" and given.get("href"):
            self.targets.append(given["href"] or "")
        if given.get("id"):
            self.anchors.add(given["id"] or "")
        for name in ("src", "href"):
            if tag in ("script", "img", "link") and given.get(name):
                self.loaded.append(given[name] or "")


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    command: list[str | Path] = [
        sys.executable,
        "-P",
        "-m",
        "mkdocs",
        "build",
        "--strict",
        "--site-dir",
        folder,
    ]
    done = subprocess.run(
        [*command, "--quiet", "-f", SITE],
        capture_output=True,
        text=True,
        env=os.environ | {"NO_MKDOCS_2_WARNING": "1"},
        timeout=280,
    )
    assert (done.returncode, done.stdout + done.stderr) == (0, "")
    return folder


@pytest.fixture(scope="module")
def links(site: Path) -> dict[Path, Links]:
    return {page: Links(page.read_text(encoding="utf-8")) for page in site.rglob("*.html")}


def test_every_link_of_the_site_leads_somewhere(links: dict[Path, Links]) -> None:
    assert len(links) > 20
    broken = []
    for page, found in links.items():
        for target in found.targets:
            parts = urlsplit(target)
            if parts.scheme or parts.netloc or page.name == "404.html":
                continue
            file = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            file = file / "index.html" if file.is_dir() else file
            anchored = file in links and unquote(parts.fragment) in links[file].anchors
            if not file.is_file() or (parts.fragment and not anchored):
                broken.append(f"{page.name} -> {target}")
    assert broken == []


def test_the_site_loads_nothing_from_another_host(links: dict[Path, Links]) -> None:
    foreign = {
        target for found in links.values() for target in found.loaded if urlsplit(target).netloc
    }
    assert foreign == set()


@pytest.mark.parametrize("name", OUTSIDE)
def test_every_link_of_a_page_outside_the_site_leads_somewhere(name: str) -> None:
    broken = [target for target in targets(ROOT / name) if not leads_somewhere(ROOT / name, target)]
    assert broken == []


def test_every_page_of_documents_can_be_read_in_the_tree() -> None:
    """A forge shows the Markdown itself, so its links hold without the site as well."""
    pages = sorted((ROOT / "docs").rglob("*.md"))
    broken = [f"{p.name}: {t}" for p in pages for t in targets(p) if not leads_somewhere(p, t)]
    assert broken == []


def test_the_overview_lists_every_page() -> None:
    """Decisions have a list of their own."""
    docs = ROOT / "docs"
    pages = {
        page.relative_to(docs).as_posix()
        for page in (*docs.glob("*.md"), *docs.glob("reference/*.md"))
    }
    assert pages - {"index.md"} - set(targets(docs / "index.md")) == set()


def targets(page: Path) -> Iterator[str]:
    """Where the links of a Markdown page lead; code is no link."""
    text = FENCE.sub("", page.read_text(encoding="utf-8"))
    for found in re.finditer(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
        yield found[1]


def leads_somewhere(page: Path, target: str) -> bool:
    parts = urlsplit(target)
    if parts.scheme or parts.netloc:
        return True
    file = (page.parent / parts.path).resolve() if parts.path else page
    if not parts.fragment or file.suffix != ".md":
        return file.exists()
    text = FENCE.sub("", file.read_text(encoding="utf-8"))
    return parts.fragment in {slug(head) for head in re.findall(r"^#+ (.*)$", text, re.MULTILINE)}
