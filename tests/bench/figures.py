"""The stored result of a GPU benchmark: its figures, with the device and the versions."""

import json
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def keep(file: Path, figures: "Sequence[DataclassInstance]", commit: str, **others: Any) -> None:
    """Write `figures` and `others` to `file` as JSON."""
    table = {
        "date": datetime.now(UTC).date().isoformat(),
        "device": torch.cuda.get_device_name(),
        "commit": commit,
        "torch": torch.__version__,
        **others,
        "figures": [asdict(figure) for figure in figures],
    }
    file.write_text(json.dumps(table, indent=1) + "\n", encoding="utf-8")
