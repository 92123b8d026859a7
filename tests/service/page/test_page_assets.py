"""The page's files contain nothing that its policy forbids, and refer to no other host."""

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from intaglio.service.page.page_assets import INDEX, asset_names, page_asset

ASSETS = Path(__file__).parents[3] / "service/page/assets"
MODULES = sorted(ASSETS.glob("*.js"))


class Elements(HTMLParser):
    """Collects the start tags of a page, and the text inside scripts and styles."""

    def __init__(self) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inline: list[str] = []
        self._in_code = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._in_code = tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:
        self._in_code = False

    def handle_data(self, data: str) -> None:
        if self._in_code and data.strip():
            self.inline.append(data)


def elements(name: str) -> Elements:
    parsed = Elements()
    parsed.feed(page_asset(name).content.decode())
    return parsed


def test_the_page_has_no_inline_script_or_style() -> None:
    page = elements(INDEX)
    assert page.inline == []
    for tag, attributes in page.tags:
        assert tag != "style"
        assert not [name for name in attributes if name.startswith("on") or name == "style"]


def test_an_inline_script_would_be_found() -> None:
    planted = Elements()
    planted.feed("<p onclick='a()'><script>b()</script>")
    assert planted.inline == ["b()"]
    assert planted.tags[0] == ("p", {"onclick": "a()"})


def test_the_page_loads_files_of_the_package_only() -> None:
    loaded = [
        str(attributes.get("src") or attributes["href"])
        for tag, attributes in elements(INDEX).tags
        if tag in {"script", "link"}
    ]
    own = [path for path in loaded if not path.startswith("data:image/")]
    assert own == [f"/page/{path.removeprefix('/page/')}" for path in own]
    assert {path.removeprefix("/page/") for path in own} < set(asset_names())


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_modules_import_modules_of_the_package(module: Path) -> None:
    imported = set(re.findall(r'^import .* from "([^"]+)";$', module.read_text("utf-8"), re.M))
    assert imported <= {f"./{name}" for name in asset_names()}


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_modules_are_small_and_say_what_they_do(module: Path) -> None:
    text = module.read_text("utf-8")
    assert text.startswith("// ")
    assert len(text.splitlines()) <= 400


@pytest.mark.parametrize("module", MODULES, ids=lambda path: path.name)
def test_modules_make_no_markup_from_text(module: Path) -> None:
    text = module.read_text("utf-8")
    makers = r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function|srcdoc"
    assert not re.findall(makers, text)


def test_no_file_names_another_host() -> None:
    for path in ASSETS.iterdir():
        text = path.read_text("utf-8").replace("http://www.w3.org/2000/svg", "")
        assert not re.findall(r"(?:https?:)?//[a-z]+\.", text), path.name
        assert "@import" not in text
        assert not re.findall(r"\burl\(", text)


def test_a_digest_follows_the_content() -> None:
    digests = [page_asset(name).digest for name in (*asset_names(), INDEX)]
    assert len(set(digests)) == len(digests)
    assert page_asset("main.js").media.startswith("text/javascript")
