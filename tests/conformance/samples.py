"""Grammars to try masks on: of the benchmark, of the hostile corpus, made up, and ready-made.

Does: list grammars as constraints, in an order fixed by seeds. Does not: compile them.
"""

import json
import random
from collections.abc import Iterator
from pathlib import Path

from intaglio.grammar.api import Constraint, Kind

from tests.conformance import hostile
from tests.conformance.cases import bench
from tests.conformance.invented import schema

SEED = 20261
_SCHEMAS = {"bench": 260, "invented": 120}
_MOST_TEXT = 20_000

# Features that the benchmark seldom has, alone and together.
PATTERNS = (
    "", "a*", "(a|ab)(c|bcd)?", r'\{"[^"]*":\d+\}', "[^]{0,12}", r"\p{L}+", r"\d{4}-\d\d", "(?=.*e).{3,9}",
    "(quick|brown|qu)+ ?", r"\u{1F642}{1,3}|é", r"-?(0|[1-9]\d*)(\.\d+)?", "[^a-z]{2,5}", r"(\w+ ){1,4}\w+",
    "^(GET|POST) /[a-z]*$", "(?!.*aa)[ab]{1,9}", r"[\u4e00-\u9fff]{1,4}", r"(.)?x|y*", "(?i:a)b|c", "a{2,300}",
    r"[0-9A-F]{2}(:[0-9A-F]{2}){5}", r'"(\\.|[^"\\])*"', r"(ab?){3,7}", r"\S+@\S+", "(a?){40}b",
)  # fmt: skip
GRAMMARS = (
    'root ::= "(" root ")" | word\nword ::= [a-z]+ ("é" | "")',
    'root ::= expr\nexpr ::= term (("+" | "-") term)*\nterm ::= num | "(" expr ")"\nnum ::= [0-9]+',
    'root ::= "a" root "b" | ""',
    'root ::= "<" tag ">" root* "</" tag ">" | [a-z ]+\ntag ::= "b" | "i" | "li"',
    'root ::= row ("\\n" row)* "\\n"?\nrow ::= cell ("," cell)*\ncell ::= [^,"\\n]* | "\\"" [^"]* "\\""',
    'root ::= root root | "a"',
    'root ::= root "+" [0-9] | [0-9]',
    'root ::= "a" | "a" root "a"',
    """root ::= stmt+
stmt ::= "if " cond " then " stmt (" else " stmt)? | "do " [a-z]{1,4} ";"
cond ::= "x" | "not " cond""",
    'root ::= [a-c]{2,5} ("-" [0-9]{1,3}){0,2}',
)
LARKS = (
    'start: "(" start ")" | WORD\nWORD: /[a-z]+/',
    'start: pair ("," pair)*\npair: NAME "=" NUMBER\nNAME: /[a-z_][a-z0-9_]*/\nNUMBER: /-?[0-9]+/',
    'start: start "+" term | term\nterm: term "*" NUM | NUM\nNUM: /[0-9]+/',
    """%import common.ESCAPED_STRING
%import common.SIGNED_NUMBER
%import common.WS
?start: value
?value: object | array | ESCAPED_STRING | SIGNED_NUMBER | "true" | "false" | "null"
array: "[" [value ("," value)*] "]"
object: "{" [pair ("," pair)*] "}"
pair: ESCAPED_STRING ":" value
%ignore WS""",
    """start: "SELECT " cols " FROM " NAME [" WHERE " NAME "=" VALUE]
cols: "*" | NAME (", " NAME)*
NAME: /[a-z]+/
VALUE: /'[^']*'/ | /[0-9]+/""",
)
ROWS = (
    {"type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string", "maxLength": 12}},
     "required": ["id", "name"], "additionalProperties": False},
    {"type": "object", "properties": {"day": {"type": "string", "format": "date"}, "paid": {"type": "boolean"},
     "sum": {"type": "number", "minimum": 0}}, "required": ["day", "paid", "sum"], "additionalProperties": False},
)  # fmt: skip


def grammars(folder: Path) -> Iterator[tuple[str, Constraint]]:
    """(name, constraint) of every grammar."""
    choose = random.Random(SEED)
    benched = [g for g in bench(folder) if len(str(g.schema)) < _MOST_TEXT]
    for group in choose.sample(benched, _SCHEMAS["bench"]):
        yield f"bench {group.name}", Constraint(Kind.JSON_SCHEMA, _text(group.schema))
    for number in range(_SCHEMAS["invented"]):
        source = json.dumps(schema(random.Random(f"{SEED} {number}")))
        yield f"invented {number}", Constraint(Kind.JSON_SCHEMA, source)
    kinds = {kind.value for kind in Kind}
    for case in hostile.cases(folder):
        small = case.source is not None and len(case.source) < _MOST_TEXT
        if small and case.source is not None and case.kind in kinds and "compiles" in case.right:
            yield f"hostile {case.name}", Constraint(Kind(case.kind), case.source)
    rows = tuple(json.dumps(row) for row in ROWS)
    tables = tuple(json.dumps({"type": "array", "items": row}) for row in ROWS)
    families = (
        ("regex", PATTERNS), ("ebnf", GRAMMARS), ("lark", LARKS), ("csv", tables), ("xml", rows),
    )  # fmt: skip
    for kind, sources in families:
        if kind in kinds:
            for number, source in enumerate(sources):
                yield f"{kind} {number}", Constraint(Kind(kind), source)


def _text(schema_: object) -> str:
    return json.dumps(schema_, default=float)
