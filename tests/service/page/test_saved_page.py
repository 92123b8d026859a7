"""Saved pages: self-contained, closed to the network, and safe for any results."""

import base64
import hashlib
import json
import re

from hypothesis import given
from hypothesis import strategies as st
from intaglio.service.page.saved_page import saved_page, viewer_template

SCRIPT = re.compile(r"<script>(.*?)</script>", re.S)
RESULTS = re.compile(r'<script type="application/json" id="results">(.*?)</script>', re.S)


def results(page: str) -> object:
    """What the page's script reads."""
    (found,) = RESULTS.findall(page)
    return json.loads(found)


def test_a_page_holds_its_rows() -> None:
    rows = [{"id": "a", "data": {"n": 1}, "text": "n is 1"}]
    page = saved_page("One", rows)
    assert results(page) == {"title": "One", "rows": rows}


@given(st.recursive(st.text() | st.integers(), lambda inner: st.lists(inner), max_leaves=6))
def test_any_value_comes_back(value: object) -> None:
    assert results(saved_page("t", [{"id": "x", "data": value}])) == {
        "title": "t",
        "rows": [{"id": "x", "data": value}],
    }


def test_no_text_ends_the_script_that_holds_it() -> None:
    hostile = "</script><script>alert(1)</script><!-- <script>"
    page = saved_page(hostile, [{"id": hostile, "data": hostile, "text": hostile}])
    assert page.count("<script") == viewer_template().count("<script")
    assert results(page) == {
        "title": hostile,
        "rows": [{"id": hostile, "data": hostile, "text": hostile}],
    }


def test_the_policy_allows_the_script_and_style_of_the_page_only() -> None:
    page = viewer_template()
    (script,) = SCRIPT.findall(page)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.S)
    for code in (script, style):
        digest = base64.b64encode(hashlib.sha256(code.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in page
    assert "default-src 'none'" in page
    assert "{{" not in page


def test_the_script_is_no_module_any_more() -> None:
    (script,) = SCRIPT.findall(viewer_template())
    assert not re.findall(r"^(?:import|export)\b", script, re.M)
