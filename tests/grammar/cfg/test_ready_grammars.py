"""Ready grammars: their outputs are read by an independent reader of each language, and composed by `%import ready`."""

import ast
import datetime
import random
import re
import sqlite3
from collections.abc import Callable

import pytest
from intaglio.grammar.api import (
    READY,
    CompiledGrammar,
    Compiler,
    Constraint,
    InvalidConstraint,
    Kind,
    UnsupportedConstraint,
    allowed_tokens,
    empty_rows,
    json_patch,
    markdown_table,
    ready_grammar,
    screen,
    sql_select,
)

from tests.support.texts import Fate, fate
from tests.support.tokens import small

TABLES = {"orders": ["id", "total", "customer_id"], "Customers": ["id", "name", "order"]}


@pytest.fixture(scope="module")
def compiler() -> Compiler:
    return Compiler(small().vocabulary(), small().canonical)


def outputs(compiler: Compiler, grammar: CompiledGrammar, count: int, most: int = 40) -> list[str]:
    """Random outputs: tokens of plain text as they come, then a short end."""
    vocabulary = compiler.vocabulary
    row, found = empty_rows(1, vocabulary.width)[0], []
    for seed in range(count):
        draw, matcher, text = random.Random(seed), grammar.matcher(), b""
        for _ in range(draw.randint(0, most)):
            matcher.fill(row)
            legal = allowed_tokens(row, vocabulary.width).tolist()
            texts = [(t, vocabulary.text(t) or b"") for t in legal]
            plain = [(t, s) for t, s in texts if s and all(32 <= b < 127 or b == 10 for b in s)]
            if not plain:
                break
            token, added = draw.choice(plain)
            matcher.accept(token)
            text += added
        closing = matcher.closing()
        assert closing is not None
        text += b"".join(vocabulary.text(token) or b"" for token in closing)
        found.append(text.decode())
    return found


def _date(text: str) -> None:
    if not text.startswith("0000"):  # no year of Python's
        assert datetime.date.fromisoformat(text).isoformat() == text


def _table(text: str) -> None:
    cells = [len(re.findall(r"(?<!\\)\|", line.replace("\\\\", ""))) for line in text.splitlines()]
    assert len(set(cells)) == 1
    assert re.fullmatch(r"\|( :?-+:? \|)+", text.splitlines()[1])


READERS: dict[str, Callable[[str], object]] = {
    "iso_date": _date,
    "iso_time": lambda text: datetime.time.fromisoformat(text[:15] if "." in text else text),
    "iso_datetime": lambda text: (
        text.startswith("0000") or datetime.datetime.fromisoformat(text[:19])
    ),
    "markdown_table": _table,
    "mini_python": ast.parse,
}


@pytest.mark.parametrize("name", READERS)
def test_outputs_are_read_by_an_independent_reader(compiler: Compiler, name: str) -> None:
    for text in outputs(compiler, compiler.compile(ready_grammar(name)), 40):
        READERS[name](text)


CASES = {
    "email": (["a@b.example", "a.b+c@x-y.org"], ["a", "a@", ".a@b.org", "a..b@c.org", "a@b", "a" * 65 + "@b.org"]),
    "iso_date": (["2024-02-29", "2000-02-29", "1999-12-31"], ["2023-02-29", "1900-02-29", "2024-04-31", "2024-13-01"]),
    "iso_time": (["23:59:59", "00:00:00.5"], ["24:00:00", "1:00:00", "00:60:00"]),
    "iso_datetime": (["2024-02-29T10:00:00Z", "2024-01-01T00:00:00.25+02:00"], ["2023-02-29T10:00:00Z", "2024-01-01"]),
    "graphql": (
        [
            "{ a }",
            'query Q($id: ID! = "x") { user(id: $id) { name, ...F @include(if: true) } }',
            "fragment F on User { id alias: name(first: 3, after: null) { x } }",
            "mutation { like(input: {id: 4, tags: [A, B]}) { ok } }",
            "{ ... on User { id } ... { name } }",
        ],
        ["{ }", "query", "{ a(b) }", "fragment on on A { b }", "{ a", "subscription S"],
    ),
    "markdown_table": (
        ["| a | b |\n| --- | :---: |\n| 1 | x \\| y |\n", "| a |\n| --- |\n"],
        ["| a | b |\n| --- |\n", "| a |\n", "a | b\n", "| a | b |\n| --- | --- |\n| 1 |\n"],
    ),
    "mini_python": (
        ["x = 1\n",
         'def f(a, b=2):\n    if a > b:\n        return a\n    return [x * 2 for x in b if x]\n', "print(-x, y=1)\n"],
        ["x = \n", "if x:\n", "f() = 1\n", "def = 1\n", "f(a=1, 2)\n", " x\n", "x = 1"],
    ),
    "sql_select": (["SELECT *\nFROM t", "SELECT COUNT(*)\nFROM t\nWHERE a > 1"], ["DELETE FROM t", "SELECT * FROM t;"]),
}  # fmt: skip


def test_every_ready_grammar_has_cases() -> None:
    assert set(CASES) == set(READY)


@pytest.mark.parametrize("name", CASES)
def test_texts_are_accepted_or_refused(name: str) -> None:
    screened = screen(ready_grammar(name))
    accepted, refused = CASES[name]
    assert {text: fate(screened, text) for text in accepted} == dict.fromkeys(accepted, Fate.WHOLE)
    assert [text for text in refused if fate(screened, text) is Fate.WHOLE] == []


def prepared(database: sqlite3.Connection, text: str) -> str:
    """What SQLite says against a statement; empty if nothing."""
    try:
        database.execute(f"EXPLAIN {text}")
    except sqlite3.Error as error:
        return str(error)
    return ""


def test_sql_over_given_tables_is_prepared_by_sqlite(compiler: Compiler) -> None:
    grammar = compiler.compile(sql_select(TABLES))
    screened = screen(sql_select(TABLES))
    for text in (
        'SELECT id\nFROM orders AS t1\nJOIN "Customers" AS t2 ON t1.customer_id = t2.id',
        'SELECT "Customers"."order", total AS x\nFROM orders',
    ):
        assert fate(screened, text) is Fate.WHOLE, text
    for text in (
        "SELECT secret\nFROM orders",
        "SELECT id\nFROM users",
        "SELECT orders.name\nFROM orders",
    ):
        assert fate(screened, text) is Fate.REFUSED, text
    database = sqlite3.connect(":memory:")
    database.execute("CREATE TABLE orders (id, total, customer_id)")
    database.execute('CREATE TABLE "Customers" (id, name, "order")')
    for text in outputs(compiler, grammar, 60, 60):
        # Whether a column's table is read, and what functions take, is not a matter of grammar.
        fault = prepared(database, text)
        assert "syntax error" not in fault, text
        unread = re.match("no such table: (.*)", fault)
        assert unread is None or unread[1] in (*TABLES, *(f"t{i}" for i in range(1, 10))), text


def test_names_are_checked_and_quoted() -> None:
    screened = screen(sql_select({'we"ird': ["select", "a b"]}))
    assert fate(screened, 'SELECT "select", "a b"\nFROM "we""ird"') is Fate.WHOLE
    wrong: tuple[dict[str, list[str]], ...] = ({}, {"a": []}, {"a": ["x\n"]}, {"": ["a"]})
    for tables in wrong:
        with pytest.raises(ValueError, match=r"tables?|columns?"):
            sql_select(tables)


def test_markdown_tables_keep_their_head() -> None:
    screened = screen(markdown_table(["name", "a|b"]))
    assert fate(screened, "| name | a\\|b |\n| --- | --- |\n| x | y |\n") is Fate.WHOLE
    assert fate(screened, "| name | other |") is Fate.REFUSED
    assert fate(screened, "| name | a\\|b |\n| --- | --- |\n| x |\n") is Fate.REFUSED
    with pytest.raises(ValueError, match="1 to 64"):
        markdown_table([])


def test_a_json_patch_has_the_members_of_each_operation() -> None:
    screened = screen(json_patch())
    assert (
        fate(screened, '[{"op":"add","path":"/a~1b","value":{"x":[1]}},{"op":"remove","path":""}]')
        is Fate.WHOLE
    )
    assert fate(screened, '[{"op":"move","from":"/a","path":"/b"}]') is Fate.WHOLE
    for text in (
        '[{"op":"remove","path":"a"}]',
        '[{"op":"add","path":"/a"}]',
        '[{"op":"move","path":"/a"}]',
    ):
        assert fate(screened, text) is Fate.REFUSED, text


def test_ready_grammars_are_parts_of_other_grammars() -> None:
    source = 'start: "on " iso_date " by " sender\n%import ready.iso_date\n%import ready.email -> sender\n'
    screened = screen(Constraint(Kind.LARK, source))
    assert fate(screened, "on 2024-02-29 by a@b.example") is Fate.WHOLE
    assert fate(screened, "on 2023-02-29 by a@b.example") is Fate.REFUSED
    with pytest.raises(InvalidConstraint, match="lower case"):
        screen(Constraint(Kind.LARK, "start: DAY\n%import ready.iso_date -> DAY"))
    with pytest.raises(UnsupportedConstraint, match="`ready` has no 'nothing'"):
        screen(Constraint(Kind.LARK, "start: nothing\n%import ready.nothing"))
    with pytest.raises(ValueError, match="there are email, graphql"):
        ready_grammar("nothing")
