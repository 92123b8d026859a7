"""The tokenizer, chat template and calibration of a model: the parts that need no weights.

Does: load them from a checkpoint, and turn tokens into text. Does not: render extraction prompts (`prompt`) or count
them (`fitting`).
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

from intaglio.engine.api import ChatTemplate, Detokenizer, Tokenizer
from intaglio.grammar.api import Vocabulary

from ..calibration.calibration_file import Calibration, calibration_of


@dataclass(frozen=True, slots=True)
class TextModel:
    """The tokenizer and chat template of a model, and its calibration if it has one. Needs no weights."""

    tokenizer: Tokenizer
    chat: ChatTemplate
    vocabulary: Vocabulary
    calibration: Calibration | None = None

    @classmethod
    def load(cls, folder: Path, calibration: Path | None = None) -> Self:
        """Read the tokenizer and chat template of a checkpoint, and a calibration of its confidences: that file, or the
        one in the folder.

        Raises:
            ModelError: a file is missing or unusable, or the calibration is that of another model.
        """
        tokenizer = Tokenizer.load(folder)
        chat = ChatTemplate.load(folder, tokenizer)
        return cls(tokenizer, chat, tokenizer.vocabulary(), calibration_of(folder, calibration))

    def detokenizer(self, stop: tuple[str, ...] = ()) -> Detokenizer:
        """An incremental detokenizer for one output, which ends at a stop string."""
        return Detokenizer(self.vocabulary, stop)

    def text(self, tokens: Sequence[int]) -> str:
        """The text of a whole output."""
        detokenizer = self.detokenizer()
        return detokenizer.push(tokens) + detokenizer.finish()
