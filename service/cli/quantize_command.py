"""`intaglio quantize`: a checkpoint in fewer bits, and what that costs.

Does: read documents, quantise with progress, print sizes and accuracy. Does not: round (`engine/quantize`).
"""

from dataclasses import asdict, dataclass
from pathlib import Path

from rich.progress import Progress

from ..evaluation.gold import EvaluationInputError
from .cli_errors import CliError, Exit
from .console import errors, results, write_json


@dataclass(frozen=True, slots=True, kw_only=True)
class QuantizeCommand:
    """The arguments of `intaglio quantize`, as typed."""

    checkpoint: str
    target: str
    output: Path
    documents: Path | None
    max_tokens: int
    device: str
    as_json: bool


def run(command: QuantizeCommand) -> Exit:
    """Write the checkpoint and print the report.

    Raises:
        CliError: an option or the file of documents is unusable.
        ModelError: the checkpoint is unusable, or the output cannot be written.
    """
    from intaglio.engine.api import (
        CALIBRATED_FORMATS,
        QUANTIZED_FORMATS,
        CalibrationTexts,
        check_checkpoint,
        model_folder,
        quantize_checkpoint,
    )

    from ..evaluation.calibration_texts import calibration_texts
    from ..extraction.text_model import TextModel

    if command.target not in QUANTIZED_FORMATS:
        formats = ", ".join(QUANTIZED_FORMATS)
        raise CliError(f"--to {command.target} is no format", Exit.USAGE, hint=f"one of {formats}")
    if command.target in CALIBRATED_FORMATS and command.documents is None:
        raise CliError(
            "rounding to 4 bits needs documents to calibrate with",
            Exit.USAGE,
            hint='--documents FILE.jsonl with {"text": …} on each line, better with "schema" and "expected"',
        )
    folder = model_folder(command.checkpoint)
    texts = CalibrationTexts()
    if command.documents is not None:
        longest = min(command.max_tokens, check_checkpoint(folder).max_context)
        try:
            texts = calibration_texts(command.documents, TextModel.load(folder), longest)
        except EvaluationInputError as error:
            raise CliError(str(error), Exit.USAGE, hint=error.hint) from None
    with Progress(console=errors(), disable=not errors().is_terminal, transient=True) as bar:
        task = bar.add_task("quantising", total=1.0)

        def progress(part: str, done: float) -> None:
            bar.update(task, description=part, completed=done)

        found = quantize_checkpoint(
            folder, command.output, command.target, texts, progress, command.device
        )
    if command.as_json:
        write_json({"output": str(command.output), **asdict(found)}, raw=True)
        return Exit.OK
    out = results()
    out.print(
        f"{command.output}: {found.matrices} matrices in {command.target}, "
        f"{found.bytes_after / 1e6:,.1f} MB of weights instead of {found.bytes_before / 1e6:,.1f}",
        soft_wrap=True,
    )
    accuracy = found.accuracy
    if accuracy is None:
        out.print("accuracy: not measured; give --documents to compare with the original")
        return Exit.OK
    out.print(
        f"on {accuracy.tokens:,} tokens that the rounding has not seen: the same likeliest token at "
        f"{accuracy.same:.2%}, divergence {accuracy.divergence:.4f} nats, perplexity "
        f"{accuracy.perplexity_before:.3f} → {accuracy.perplexity_after:.3f}",
        soft_wrap=True,
    )
    return Exit.OK
