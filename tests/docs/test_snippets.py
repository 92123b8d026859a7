"""Every snippet of the documentation gives the output on its page, against one server with the embedded model."""

from pathlib import Path

import pytest

from tests.support.snippets import blocks, pages, run, same, server, unrunnable


@pytest.mark.timeout(900)  # a machine that is busy with other tests
def test_every_snippet_does_what_its_page_says(tmp_path: Path) -> None:
    with server(tmp_path) as url:
        failures = run(pages(), tmp_path / "pages", url)
    assert not failures, "\n\n".join(map(str, failures))


@pytest.mark.parametrize("page", pages(), ids=lambda page: page.stem)
def test_what_is_not_run_says_why(page: Path) -> None:
    assert list(unrunnable(page)) == []


def test_an_answer_that_differs_is_noticed() -> None:
    assert same('{"id": "ext_1", "data": {"a": 1}}', '{"data":{"a":1},"id":"ext_2"}')
    assert not same('{"data": {"a": 1}}', '{"data": {"a": 2}}')
    assert same("ready in 3.1 s\n…\nend", "ready in 9 s\nanything\nat all\nend\n")
    assert same("valid · … ms of model work", "valid · 812 ms of model work")
    assert not same("total 19.99", "total 19.9")
    assert not same("one", "one\ntwo")
    assert not same("", "an error")


def test_a_snippet_that_fails_is_noticed(tmp_path: Path) -> None:
    page = _page(
        tmp_path,
        "```python\nprint(1 + 1)\n```\n```text\n3\n```\n"
        "```python\nraise ValueError\n```\n"
        "```console\n$ echo one \\\n    two\none two\n$ false\n$ echo $?\n0\n```\n"
        '```json title="a.json"\n{}\n```\n```console\n$ cat a.json\n{}\n```\n',
    )
    failures = run([page], tmp_path / "pages", "http://localhost:9", root=tmp_path)
    assert [each.place for each in failures] == ["page.md:4", "page.md:7", "page.md:10 (echo $?)"]


def test_the_shell_has_what_a_command_prints_and_its_status(tmp_path: Path) -> None:
    page = _page(
        tmp_path,
        "```console\n$ intaglio schema list | grep -c '^invoice'\n1\n"
        "$ intaglio schema list > all.txt\n$ grep -c '^invoice' all.txt\n1\n"
        "$ intaglio schema list | grep nothing\n$ echo $?\n1\n"
        "$ intaglio schema show nothing > none.txt\n…\n$ echo $?\n2\n```\n",
    )
    assert run([page], tmp_path / "pages", "http://localhost:9", root=tmp_path) == []


def test_a_block_without_a_reason_is_noticed(tmp_path: Path) -> None:
    page = _page(tmp_path, '```bash\nls\n```\n```{ .bash data-not-run="a GPU" }\nls\n```\n')
    assert [block.reason for block in blocks(page, tmp_path)] == [None, "a GPU"]
    (place,) = unrunnable(page, tmp_path)
    assert place.startswith("page.md:1: ")


def _page(folder: Path, text: str) -> Path:
    page = folder / "page.md"
    page.write_text(text, encoding="utf-8")
    return page
