"""Texts followed by the chart of a grammar, byte by byte, without a tokenizer."""

import numpy as np
from intaglio.grammar.cfg.form import ByteGrammar
from intaglio.grammar.earley.chart import Chart


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
