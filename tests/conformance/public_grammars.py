"""Grammars that others have published, against Lark's Earley parser; and their masks, budgets and times.

Run: `python -m tests.conformance.public_grammars CLONES [NAME ...]`. CLONES is a folder with clones of the repositories
of `SOURCES`, named `owner+name` (bare or not); each file is read at the commit that `SOURCES` gives. None is kept here.

For each grammar: 1,000 texts, half of them written by a random walk, half with one character changed, are accepted or
refused as by Lark (`earley`, `dynamic_complete`). Then outputs of a sampler that picks any legal token, at each budget
from the least: all have to be whole. Then masks along the accepted texts with a vocabulary of 131,072 tokens.
"""

import argparse
import random
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import lark
import numpy as np
import numpy.typing as npt
from intaglio.engine.grammars.budgeted_matcher import BudgetedMatcher
from intaglio.grammar.api import (
    CompiledGrammar,
    Compiler,
    Constraint,
    Kind,
    Screened,
    allowed_tokens,
    empty_rows,
    screen,
)
from intaglio.grammar.backends.native import NativeGrammar

from tests.conformance.gbnf_as_lark import lark_source
from tests.support.texts import Fate, fate
from tests.support.tokens import large

TEXTS = 1_000
LONGEST = 40  # bytes of a random walk, before its end
BUDGETS = 12
MASKED = 200  # texts along which masks are timed


@dataclass(frozen=True, slots=True)
class Bound:
    """The most texts of one grammar, and seconds after which no further text is compared."""

    texts: int
    seconds: float


@dataclass(frozen=True, slots=True)
class Source:
    """A file at a commit of a public repository, and its start rule."""

    repository: str
    commit: str
    path: str
    start: str = ""

    @property
    def kind(self) -> Kind:
        """The notation of the file."""
        return Kind.LARK if self.path.endswith(".lark") else Kind.EBNF


_CFG = "epfl-dlab/transformers-CFG", "adadedb6749099ec8a0efd90562d92480e518cbf"
_LLG = "guidance-ai/llguidance", "c5a94538639291b053e8c91134936222e2c02b25"
_LARK = "lark-parser/lark", "ee27eb47ddbb24acbecb17f80c3878fe7cb70c01"
_POETRY = "python-poetry/poetry-core", "0e16061b49decb4adf49df09309bc6d8f2c94e75"
_SYNCODE = "structuredllm/syncode", "b6fbdc7f15405c8ba145d54cd6b6e7ce68e4385c"
_OPTIMADE = "Materials-Consortia/optimade-python-tools", "49f618dc1a361ffb2c843dd36442f1bc79b4ce36"
_SDL = "tartiflette/tartiflette", "9b8071a0486037c55cc8585f6b51a0c3fc8edfaa"
_GEO = "geopython/pygeofilter", "7d41d13814abf97bc4dc4b210c13fe993639802f"
_EXAMPLES = "examples/grammars/"
_LLAMA = "sample_parser/data/from-llama.cpp/"
_PARSERS = "syncode/parsers/grammars/"

SOURCES = {
    "llama.cpp arithmetic": Source(*_LLG, _LLAMA + "arithmetic.gbnf"),
    "llama.cpp C": Source(*_LLG, _LLAMA + "c.gbnf"),
    "llama.cpp chess": Source(*_LLG, _LLAMA + "chess.gbnf"),
    "llama.cpp JSON": Source(*_LLG, _LLAMA + "json.gbnf"),
    "llama.cpp list": Source(*_LLG, _LLAMA + "list.gbnf"),
    "vLLM SQL": Source(*_LLG, _LLAMA + "vllm-sql.gbnf"),
    "CalFlow": Source(*_CFG, _EXAMPLES + "calflow.ebnf"),
    "GeoQuery": Source(*_CFG, _EXAMPLES + "geo_query.ebnf"),
    "Overnight": Source(*_CFG, _EXAMPLES + "overnight.ebnf"),
    "PDDL depot": Source(*_CFG, _EXAMPLES + "PDDL/depot_typed.ebnf"),
    "SMILES acrylates": Source(*_CFG, _EXAMPLES + "SMILES/acrylates.ebnf"),
    "SMILES isocyanates": Source(*_CFG, _EXAMPLES + "SMILES/isocyanates.ebnf"),
    "product catalogue": Source(
        *_CFG, _EXAMPLES + "custom_json_grammars/grammars/product_catalog.ebnf"
    ),
    "Lark JSON": Source(*_LARK, "examples/standalone/json.lark"),
    "Lark": Source(*_LARK, "lark/grammars/lark.lark"),
    "templates": Source(*_LARK, "examples/advanced/template_lark.lark"),
    "llguidance Lark": Source(*_LLG, "sample_parser/data/lark.lark"),
    "markers (PEP 508)": Source(*_POETRY, "src/poetry/core/version/grammars/markers.lark"),
    "OPTIMADE filter": Source(*_OPTIMADE, "optimade/grammar/v1.2.0.develop.lark"),
    "GraphQL SDL": Source(
        *_SDL, "tartiflette/language/parsers/lark/graphql_sdl_grammar.lark", "document"
    ),
    "WKT": Source(*_GEO, "pygeofilter/parsers/wkt.lark", "ewkt_geometry"),
    "SynCode C": Source(*_SYNCODE, _PARSERS + "c_grammar.lark"),
    "SynCode calculator": Source(*_SYNCODE, _PARSERS + "calc_grammar.lark"),
    "SynCode Go": Source(*_SYNCODE, _PARSERS + "go_grammar.lark"),
    "SynCode Java": Source(*_SYNCODE, _PARSERS + "java_grammar.lark"),
    "SynCode Prover9": Source(*_SYNCODE, _PARSERS + "prover9_grammar.lark"),
    "SynCode SQL": Source(*_SYNCODE, _PARSERS + "sql_grammar.lark"),
}


@dataclass(frozen=True, slots=True)
class Figures:
    """What was found of one grammar. `wrong`: texts on which Lark disagrees; `masks`: times in microseconds."""

    engine: str
    compile_s: float
    texts: int
    accepted: int
    wrong: tuple[str, ...]
    unfinished: int
    masks: tuple[float, ...]

    def line(self, name: str) -> str:
        """A row of the table."""
        times = np.array(self.masks)
        spread = " / ".join(f"{each:.0f}" for each in np.percentile(times, (50, 99, 99.9)))
        return (
            f"| {name} | {self.engine} | {self.compile_s:.2f} | {self.texts} | {self.accepted} "
            f"| {len(self.wrong)} | {self.unfinished} | {len(times)} | {times.mean():.1f} | {spread} |"
        )


def text_of(clones: Path, source: Source) -> str:
    """The content of a source, from a clone of its repository."""
    clone = clones / source.repository.replace("/", "+")
    place = clone if not (clone / "repo").is_dir() else clone / "repo"
    command = ["git", "-C", str(place), "show", f"{source.commit}:{source.path}"]
    content = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return f"{content}\nstart: {source.start}\n" if source.start else content


@cache
def plain_tokens() -> npt.NDArray[np.bool_]:
    """Whether a token is printable ASCII or a line feed; and shorter than most of them."""
    found = np.zeros(large().vocabulary().width, np.bool_)
    for token, text in enumerate(large().vocabulary().tokens):
        found[token] = (
            text is not None and len(text) < 8 and all(32 <= b < 127 or b == 10 for b in text)
        )
    return found


def walked(grammar: CompiledGrammar, draw: random.Random) -> str:
    """A random text of a grammar: legal tokens as they come, most of them short, then a short end."""
    matcher, tokens, most = grammar.matcher(), [], draw.randint(1, LONGEST)
    vocabulary = large().vocabulary()
    row = empty_rows(1, vocabulary.width)[0]
    size = 0
    while size < most:
        matcher.fill(row)
        legal = allowed_tokens(row, vocabulary.width)
        legal = legal[plain_tokens()[legal]]
        if not len(legal):
            break
        some = [int(draw.choice(legal)) for _ in range(3)]
        pick = min(some, key=lambda token: len(vocabulary.tokens[token] or b""))
        matcher.accept(pick)
        tokens.append(pick)
        size += len(vocabulary.tokens[pick] or b"")
    closing = matcher.closing()
    assert closing is not None
    return b"".join(vocabulary.text(token) or b"" for token in (*tokens, *closing)).decode()


def changed(text: str, draw: random.Random) -> str:
    """A text with one character removed, doubled, replaced or exchanged."""
    if not text:
        return draw.choice("a1 (")
    at = draw.randrange(len(text))
    here, rest = text[at], text[at + 1 :]
    other = draw.choice(text + "a1 ()\"'+,;")
    return text[:at] + draw.choice(("", here * 2, other, other + here, rest[:1] + here)) + rest


def compared(
    grammar: CompiledGrammar,
    screened: Screened,
    oracle: lark.Lark,
    draw: random.Random,
    bound: Bound,
) -> Iterator[tuple[str, bool, bool]]:
    """(text, whether we accept it, whether Lark does)."""
    until = time.monotonic() + bound.seconds
    for _ in range(bound.texts // 2):
        if time.monotonic() > until:
            return
        whole = walked(grammar, draw)
        for text in (whole, changed(whole, draw)):
            try:
                oracle.parse(text)
                known = True
            except lark.exceptions.LarkError:
                known = False
            yield text, fate(screened, text) is Fate.WHOLE, known


def unfinished(grammar: CompiledGrammar, screened: Screened, draw: random.Random) -> int:
    """Number of outputs, one for each budget from the least, that are not whole or exceed their budget."""
    failed, least = 0, grammar.least_tokens or 0
    vocabulary = large().vocabulary()
    row = empty_rows(1, vocabulary.width)[0]
    for budget in range(least, least + BUDGETS):
        following = BudgetedMatcher(grammar.matcher(), budget)
        tokens = list(following.start())
        while not following.matcher.finished and len(tokens) <= budget:
            following.matcher.fill(row)
            picked = (int(draw.choice(allowed_tokens(row, vocabulary.width))),)
            followed = following.follow(picked)
            tokens += followed.tokens if followed.instead else (*picked, *followed.tokens)
        text = b"".join(vocabulary.text(token) or b"" for token in tokens)
        failed += len(tokens) > budget or fate(screened, text) is not Fate.WHOLE
    return failed


def masks(grammar: CompiledGrammar, texts: list[str]) -> list[float]:
    """The processor time of each mask along some texts, in microseconds."""
    row = empty_rows(1, large().vocabulary().width)[0]
    found = []
    for text in texts:
        matcher = grammar.matcher()
        for token in (*large().canonical(text.encode()), None):
            begun = time.thread_time_ns()
            matcher.fill(row)
            found.append((time.thread_time_ns() - begun) / 1e3)
            if token is not None:
                matcher.accept(token)
    return found


def measured(compiler: Compiler, source: str, kind: Kind, bound: Bound) -> Figures:
    """Everything about one grammar."""
    draw = random.Random(0)
    constraint = Constraint(kind, source)
    begun = time.process_time()
    grammar = compiler.compile(constraint)
    compile_s = time.process_time() - begun
    screened = screen(constraint)
    oracle = lark.Lark(
        source if kind is Kind.LARK else lark_source(source),
        parser="earley",
        lexer="dynamic_complete",
        ambiguity="forest",
    )
    found = list(compared(grammar, screened, oracle, draw, bound))
    whole = [text for text, ours, _ in found if ours]
    return Figures(
        "machine" if isinstance(grammar, NativeGrammar) else "earley",
        compile_s,
        len(found),
        len(whole),
        tuple(text for text, ours, known in found if ours != known),
        unfinished(grammar, screened, draw),
        tuple(masks(grammar, draw.sample(whole, min(MASKED, len(whole))))),
    )


def main() -> None:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("clones", type=Path)
    parser.add_argument("names", nargs="*", default=list(SOURCES))
    parser.add_argument("--texts", type=int, default=TEXTS)
    parser.add_argument(
        "--seconds", type=float, default=float("inf"), help="for the texts of one grammar"
    )
    options = parser.parse_args()
    compiler = Compiler(large().vocabulary(), large().canonical)
    compiler.warm()
    print(
        "| grammar | engine | compile s | texts | accepted | wrong | unfinished | masks | us avg | p50 / p99 / p99.9 |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|")
    every: list[float] = []
    bound = Bound(options.texts, options.seconds)
    for name in options.names:
        source = SOURCES[name]
        found = measured(compiler, text_of(options.clones, source), source.kind, bound)
        every += found.masks
        print(found.line(name), flush=True)
        for text in found.wrong[:3]:
            print(f"    wrong: {text!r}", flush=True)
    print(f"masks of all: {len(every)}, {np.mean(every):.1f} us on average")


if __name__ == "__main__":
    main()
