"""The function `quantize_checkpoint`, which loads torch when it is called.

Does: load and call `quantize`. Does not: compute.
"""

from pathlib import Path

from .quantization import CalibrationTexts, Progress, Quantized


def quantize_checkpoint(
    source: Path,
    out: Path,
    form: str,
    texts: CalibrationTexts,
    progress: Progress,
    device: str = "cpu",
) -> Quantized:
    """Write the checkpoint `source` in the format `form` to the new folder `out`.

    The embedding, the head, norms, biases and routers stay as they are.

    Raises:
        ModelError: `source` cannot be used or is quantised already, or `out` cannot be written.
        ConfigError: torch finds no such device.
        ValueError: the format needs texts, and there are none.
    """
    from .quantize import quantize
    from .written_formats import FORMATS

    return quantize(source, out, FORMATS[form], texts, progress, device)
