"""Texts followed by the chart of a grammar, byte by byte, without a tokenizer."""

import numpy as np
from intaglio.grammar.automata import Spelling, encode
from intaglio.grammar.cfg import ebnf
from intaglio.grammar.cfg.body import determinised
from intaglio.grammar.cfg.flat import flatten
from intaglio.grammar.cfg.form import ByteGrammar, GrammarLeaf
from intaglio.grammar.cfg.trim import trim
from intaglio.grammar.earley.chart import Chart


def byte_form(source: str) -> ByteGrammar | None:
    """A grammar in EBNF as a chart needs it, whichever engine would run it; None for a regular one."""
    flat = flatten(*trim(ebnf.parse(source)))
    if flat.whole is not None:
        return None
    leaves = [GrammarLeaf(encode(leaf, Spelling.UTF8)) for leaf in flat.leaves]
    bodies = {rule: determinised(body) for rule, body in flat.bodies.items()}
    return ByteGrammar(flat.start, flat.least[flat.start] == 0, leaves, bodies)


class ChartText:
    """One text being read by a chart."""

    def __init__(self, form: ByteGrammar) -> None:
        self.chart = Chart(form)
        self.column = self.chart.first

    def read(self, text: bytes) -> bool:
        """Read on; false, and nothing read, if it is refused."""
        column = self.chart.read(self.column, np.frombuffer(text, np.uint8).copy())
        if column >= 0:
            self.column = column
        return column >= 0

    @property
    def over(self) -> bool:
        """Whether the text may end here."""
        return self.chart.may_end(self.column)

    def following(self) -> list[int]:
        """The bytes that may come next."""
        probes = (np.array([byte], np.uint8) for byte in range(256))
        return [i for i, probe in enumerate(probes) if self.chart.read(self.column, probe) >= 0]
