"""Which folder the name of a model means.

Does: find the model that is in the package, or a folder on disk. Does not: open what is in it, or download anything.
"""

from importlib.resources import files
from pathlib import Path

from .errors import ModelError

EMBEDDED = "embedded"


def model_folder(model: str | Path | None = None) -> Path:
    """The folder of a checkpoint; `None` and `"embedded"` are the small model that is in the package.

    Raises:
        ModelError: there is no such folder.
    """
    if model is None or str(model) == EMBEDDED:
        return Path(str(files("intaglio.engine"))) / EMBEDDED
    folder = Path(model).expanduser()
    if not folder.is_dir():
        raise ModelError(
            f"there is no folder {str(model)!r}",
            where="model",
            hint=f"give the folder of a downloaded checkpoint, or {EMBEDDED!r} for the model in the package",
        )
    return folder
