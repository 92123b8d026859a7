"""The options `--grounding`, `--confidence` and `--calibration`, which several commands have.

Does: declare them. Does not: use them.
"""

from pathlib import Path
from typing import Annotated

import typer
from intaglio.schemas.extraction.grounding_modes import ConfidenceMode, Grounding

GroundingOption = Annotated[
    Grounding,
    typer.Option("--grounding", help="Report the source of each value in the document."),
]
ConfidenceOption = Annotated[
    ConfidenceMode,
    typer.Option("--confidence", help="Report how sure the model is of each value."),
]
CalibrationOption = Annotated[
    Path | None,
    typer.Option(
        "--calibration",
        help="Calibration of the model's confidences, made by `intaglio calibrate`.  "
        "[default: calibration.json in the model's folder, if there is one]",
    ),
]
