"""Documents as the tokens that a model reads: with a schema and an answer as an extraction, else as plain text.

Does: read a file of JSON Lines, render prompts, keep every fifth document for comparison. Does not: run a model.
"""

import json
from pathlib import Path
from typing import Any, Final

from intaglio.engine.api import CalibrationText, CalibrationTexts

from ..extraction.extract import find_schema
from ..extraction.prompt import PromptParts, extraction_messages
from ..extraction.text_model import TextModel
from .gold import EvaluationInputError, json_objects

COMPARED: Final = 5
"""One document in this many is for comparison."""

FEWEST: Final = 2
_HINT: Final = (
    '{"text": …} on each line, better with "schema" and "expected" as for `intaglio eval`'
)


def calibration_texts(path: Path, text: TextModel, longest: int) -> CalibrationTexts:
    """The texts of a file, cut after `longest` tokens.

    A line has `text`. With `schema` (a JSON Schema or a name) and `expected` it becomes the prompt of an extraction and
    its answer, as the service writes them; comparisons then count the answer alone.

    Raises:
        EvaluationInputError: the file is unreadable, has fewer than two usable lines, or a line is no such object.
    """
    found = []
    for number, line in json_objects(path):
        where = f"{path}, line {number}"
        each = _text(line, text, where)
        kept = each.tokens[:longest]
        if each.first < len(kept):
            found.append(CalibrationText(kept, each.first))
    if len(found) < FEWEST:
        raise EvaluationInputError(
            f"{path} has {len(found)} documents that fit {longest} tokens; {FEWEST} are needed",
            _HINT,
        )
    compared = found[COMPARED - 1 :: COMPARED] or found[-1:]
    calibration = tuple(each for each in found if each not in compared)
    return CalibrationTexts(calibration, tuple(compared))


def _text(line: dict[str, Any], text: TextModel, where: str) -> CalibrationText:
    document, schema = line.get("text"), line.get("schema")
    if not isinstance(document, str) or not document.strip():
        raise EvaluationInputError(f'{where}: "text" must be the document', _HINT)
    if schema is None or "expected" not in line:
        return CalibrationText(text.tokenizer.encode(document))
    if not isinstance(schema, dict | bool | str):
        raise EvaluationInputError(f'{where}: "schema" must be a JSON Schema or a name', _HINT)
    resolved = find_schema(schema)
    if isinstance(resolved, bool):
        return CalibrationText(text.tokenizer.encode(document))
    prompt = extraction_messages(resolved, PromptParts.of(document))
    before = text.chat.without_reasoning().encode(prompt.messages, prompt.variables)
    answer = json.dumps(line["expected"], ensure_ascii=False, separators=(",", ":"))
    after = text.tokenizer.encode(answer)
    return CalibrationText(before + after + text.vocabulary.end_ids[:1], len(before))
