"""The calibration of a model: a map from its probabilities to the share of values that are right, in a file.

Does: read, check, write and apply it. Does not: fit it (`service/evaluation`).
"""

import hashlib
import json
import math
from bisect import bisect_right
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Final, Literal, Self

from intaglio.engine.api import ModelError
from intaglio.schemas.base import Wire
from intaglio.schemas.extraction.grounding import FieldReport
from pydantic import Field, JsonValue, ValidationError, model_validator

from ..client.errors import ConfigError
from ..grounding.data_leaves import records
from ..regular_file import open_text
from .value_evidence import ValueEvidence, evidence_of, features, log_odds, root_properties

Probability = Annotated[float, Field(ge=0, le=1)]

NAME: Final = "calibration.json"
"""The name of a calibration in the folder of its model."""

_MOST_HEADER_BYTES: Final = 100_000_000


class HeldOut(Wire):
    """Scores on held-out documents, before and after calibration."""

    documents: int
    values: int
    auroc_before: float | None
    auroc_after: float | None
    ece_before: float
    ece_after: float
    brier_before: float
    brier_after: float


class FieldOffsets(Wire):
    """By how much the log-odds of fields differ from others, under schemas with these `properties` at their root.

    A field is a JSON Pointer with `*` for every index.
    """

    properties: tuple[str, ...]
    offsets: dict[str, float]


class Calibration(Wire):
    """A map from the features of a value to the probability that it is right, for one model.

    `isotonic` interpolates between `points` (probability of the model, share of right values), which rise in both;
    `temperature` divides the log-odds; `regression` adds up `weights` of features of the value (`value_evidence`) and
    the offset of its field, if that is known, to log-odds. `fingerprint` identifies the model's files. `values` in
    `documents` were fitted; `held_out` judges the method by a fit to a part of them.
    """

    version: Literal[1] = 1
    model: str
    fingerprint: str
    method: Literal["isotonic", "temperature", "regression"]
    points: tuple[tuple[Probability, Probability], ...] = ()
    temperature: float | None = Field(default=None, gt=0, le=1e6)
    weights: dict[str, float] = Field(default_factory=dict)
    fields: tuple[FieldOffsets, ...] = ()
    documents: int
    values: int
    held_out: HeldOut

    @model_validator(mode="after")
    def _fits_its_method(self) -> Self:
        if (self.method == "temperature") != (self.temperature is not None):
            raise ValueError("temperature belongs to the method temperature")
        if (self.method == "isotonic") != bool(self.points):
            raise ValueError("points belong to the method isotonic")
        if (self.method == "regression") != bool(self.weights):
            raise ValueError("weights belong to the method regression")
        if any(
            a[0] >= b[0] or a[1] > b[1] for a, b in zip(self.points, self.points[1:], strict=False)
        ):
            raise ValueError("points must rise")
        return self

    @classmethod
    def load(cls, path: Path, fingerprint: str) -> "Calibration":
        """The calibration in a file.

        Raises:
            ConfigError: the file is unreadable or no calibration, or belongs to a model of another fingerprint.
        """
        try:
            with open_text(path, "utf-8") as file:
                found = cls.model_validate_json(file.read(), strict=False)
        except OSError as error:
            reason = error.strerror or "unreadable"
            raise ConfigError(f"calibration {path} cannot be read: {reason}") from None
        except (ValidationError, UnicodeDecodeError) as error:
            reason = str(error).splitlines()[0]
            raise ConfigError(f"{path} is no calibration: {reason}", hint=_MAKE) from None
        if found.fingerprint != fingerprint:
            raise ConfigError(
                f"{path} is the calibration of another model, {found.model} ({found.fingerprint}); "
                f"this one has the fingerprint {fingerprint}",
                hint=_MAKE,
            )
        return found

    def apply(self, evidence: ValueEvidence) -> float:
        """The probability that a value is right, from its features."""
        probability = evidence.probability
        if self.weights:
            known = features(evidence).items()
            weighed = sum(self.weights.get(name, 0.0) * number for name, number in known)
            return _sigmoid(weighed + self._offset(evidence))
        if self.temperature is not None:
            return _sigmoid(log_odds(probability) / self.temperature)
        at = bisect_right(self.points, probability, key=lambda point: point[0])
        if at == 0 or at == len(self.points):
            return self.points[max(0, at - 1)][1]
        (x0, y0), (x1, y1) = self.points[at - 1], self.points[at]
        return y0 + (y1 - y0) * (probability - x0) / (x1 - x0)

    def _offset(self, evidence: ValueEvidence) -> float:
        of_form = (one.offsets for one in self.fields if one.properties == evidence.properties)
        return next(of_form, {}).get(evidence.field, 0.0)


def calibration_of(folder: Path, path: Path | None = None) -> Calibration | None:
    """The calibration of the model in a folder: that in the file `path`, or else the one in the folder, if any.

    Raises:
        ModelError: the file is unreadable or no calibration, or it belongs to another model.
    """
    if path is None:
        path = folder / NAME
        if not path.exists():
            return None
    try:
        return Calibration.load(path, model_fingerprint(folder))
    except ConfigError as error:
        raise ModelError(error.message, hint=error.hint) from None
    except OSError as error:
        reason = error.strerror or "unreadable"
        raise ModelError(f"{error.filename} cannot be read: {reason}") from None


_MAKE: Final = "make one for this model: intaglio calibrate GOLD.jsonl -o FILE"


def calibrated_fields(
    fields: Mapping[str, FieldReport], calibration: Calibration | None, data: JsonValue, schema: Any
) -> dict[str, FieldReport]:
    """The reports of `data` with `calibrated` in each confidence that has a probability; unchanged without a
    calibration.
    """
    found = dict(fields)
    if calibration is None:
        return found
    known = evidence_of(fields, records(data)[1], root_properties(schema))
    for pointer, evidence in known:
        confidence = fields[pointer].confidence
        assert confidence is not None  # it has a probability
        sure = confidence.model_copy(update={"calibrated": calibration.apply(evidence)})
        found[pointer] = fields[pointer].model_copy(update={"confidence": sure})
    return found


def _sigmoid(value: float) -> float:
    return 1 / (1 + math.exp(-value)) if value >= 0 else 1 - 1 / (1 + math.exp(value))


def model_fingerprint(folder: Path) -> str:
    """A digest of the files of a model: configuration, tokenizer, and names, sizes and tables of its weights.

    The weights themselves are not read, which would take as long as loading them; a calibration is not part of its
    model. Raises `OSError`.
    """
    digest = hashlib.sha256()
    for path in sorted(folder.iterdir()):
        if path.suffix == ".safetensors":
            with path.open("rb") as file:
                size = int.from_bytes(file.read(8), "little")
                content = file.read(min(size, _MOST_HEADER_BYTES))
                # The bytes of the last tensors distinguish two trainings of one shape.
                file.seek(max(0, path.stat().st_size - 65536))
                content += file.read()
        elif path.suffix in (".json", ".jinja", ".model") and path.name != NAME:
            content = path.read_bytes()
        else:
            continue
        entry = json.dumps([path.name, path.stat().st_size, hashlib.sha256(content).hexdigest()])
        digest.update(entry.encode())
    return digest.hexdigest()[:32]
