"""Extraction models: the whole answer is one compact JSON object with a name and arguments.

Their chat templates show the schema of the answer and a document, and nothing of tools; these models were trained on
compact JSON, and write one object.
"""

from typing import Final

from intaglio.grammar.api import Whitespace

from .tool_format import ToolFormat

EXTRACTION: Final = ToolFormat(
    name="extraction",
    trigger='{"name":"',
    before_name='{"name":"',
    after_name='","arguments":',
    after_arguments="}",
    only_at_start=True,
    several=False,
    whitespace=Whitespace.COMPACT,
    shows_schema=True,
)
