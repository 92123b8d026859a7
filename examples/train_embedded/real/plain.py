"""Markdown, reStructuredText and XHTML as the plain text that a person reads.

Does: drop markup, links' targets, images, code blocks and front matter. Does not: keep tables' layout.
"""

from __future__ import annotations

import html
import re

_FRONT = re.compile(r"\A(---|\+\+\+)\n(.*?)\n\1\n", re.DOTALL)
_MARKDOWN = (
    (re.compile(r"^```.*?^```[ \t]*$", re.DOTALL | re.MULTILINE), ""),
    (re.compile(r"\{[{%][<%]?.*?[%>]?[}%]\}", re.DOTALL), ""),
    (re.compile(r"<!--.*?-->", re.DOTALL), ""),
    (re.compile(r"!\[[^\]]*\]\([^)]*\)"), ""),
    (re.compile(r"\[([^\]]*)\]\([^)]*\)"), r"\1"),
    (re.compile(r"\[([^\]]+)\]\[[^\]]*\]"), r"\1"),
    (re.compile(r"^\[[^\]]+\]:.*$", re.MULTILINE), ""),
    (re.compile(r"<[^>\n]{1,200}>"), ""),
    (re.compile(r"^#{1,6}[ \t]*", re.MULTILINE), ""),
    (re.compile(r"(\*\*|__)(.+?)\1"), r"\2"),
    (re.compile(r"(?<![\w*])\*([^*\n]+)\*(?![\w*])"), r"\1"),
    (re.compile(r"`([^`\n]+)`"), r"\1"),
    (re.compile(r"^(- )?\[[ x]\] ", re.MULTILINE), "- "),
)
_RST = (
    (re.compile(r"^\.\. .*(?:\n(?:[ \t]+.*|[ \t]*))*", re.MULTILINE), ""),
    (re.compile(r":[\w-]+:`([^`<]*?)(?: ?<[^>]*>)?`"), r"\1"),
    (re.compile(r"`([^`<]*?)(?: <[^>]*>)?`_{1,2}"), r"\1"),
    (re.compile(r"``([^`]+)``"), r"\1"),
    (re.compile(r"^([=\-~^\"'*#+])\1{3,}[ \t]*$", re.MULTILINE), ""),
    (re.compile(r"::$", re.MULTILINE), ":"),
)
_BLANK = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)+")


def front_matter(text: str) -> tuple[str, str]:
    """(front matter, rest) of a page; the first is empty where there is none."""
    found = _FRONT.match(text)
    return (found.group(2), text[found.end() :]) if found else ("", text)


def markdown(text: str) -> str:
    """Plain text of a Markdown page without its front matter."""
    _, body = front_matter(text)
    for pattern, instead in _MARKDOWN:
        body = pattern.sub(instead, body)
    return tidy(html.unescape(body))


def restructured(text: str) -> str:
    """Plain text of a reStructuredText page."""
    for pattern, instead in _RST:
        text = pattern.sub(instead, text)
    return tidy(text)


def xhtml(text: str) -> str:
    """Plain text of an XHTML page: a line a block, a blank line a paragraph."""
    body = re.sub(r"<(head|script|style)\b.*?</\1>", "", text, flags=re.DOTALL)
    body = re.sub(r"\s+", " ", body)
    body = re.sub(r"</(p|h[1-6]|li|header|section|blockquote|tr)>", "\n\n", body)
    body = re.sub(r"<br ?/>", "\n", body)
    return tidy(html.unescape(re.sub(r"<[^>]+>", "", body)).replace("⁠", "").replace(" ", " "))


def tidy(text: str) -> str:
    """`text` without trailing blanks and runs of empty lines."""
    lines = "\n".join(line.rstrip() for line in text.replace("\r\n", "\n").split("\n"))
    return _BLANK.sub("\n\n", lines).strip()
