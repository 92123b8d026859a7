"""The report of an evaluation as one self-contained HTML page.

Does: fill the template with figures, mistakes and charts; every text of a document is escaped. Does not: compute
figures (`figures`) or write files.
"""

import json
from collections import Counter
from importlib.resources import files
from typing import Final

from jinja2 import Environment, select_autoescape
from markupsafe import Markup

from .charts import reliability_diagram, risk_coverage_chart
from .figures import EvaluationReport, percent

_MISTAKES_SHOWN: Final = 500


def evaluation_page(report: EvaluationReport) -> str:
    """One HTML page without scripts and without links to other files."""
    source = (files(__package__) / "eval_page.html.jinja").read_text(encoding="utf-8")
    environment = Environment(autoescape=select_autoescape(default=True), trim_blocks=True)
    environment.filters |= {"percent": percent, "json": _json}
    confidence = report.confidence
    charts = []
    if confidence is not None:
        charts = [
            Markup(reliability_diagram(confidence.bins, "Reliability")),  # noqa: S704  numbers only
            Markup(risk_coverage_chart(confidence.curve, "Risk and coverage")),  # noqa: S704
        ]
    return environment.from_string(source).render(
        report=report,
        charts=charts,
        mistakes=report.mistakes[:_MISTAKES_SHOWN],
        kinds=Counter(mistake.kind for mistake in report.mistakes),
    )


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
