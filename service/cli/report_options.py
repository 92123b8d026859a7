"""The options `--grounding` and `--confidence`, which several commands have.

Does: declare them. Does not: use them.
"""

from typing import Annotated

import typer
from intaglio.schemas.grounding import ConfidenceMode, Grounding

GroundingOption = Annotated[
    Grounding,
    typer.Option("--grounding", help="Report the source of each value in the document."),
]
ConfidenceOption = Annotated[
    ConfidenceMode,
    typer.Option("--confidence", help="Report how sure the model is of each value."),
]
