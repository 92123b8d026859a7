"""The folder of a model, by its name or path.

Does: find the model in the package, or a folder on disk. Does not: open the files in it, or download anything.
"""

from pathlib import Path

from ..embedded import model_files as embedded
from ..errors import ModelError
from .unloadable import no_folder, refuse_unloadable

EMBEDDED = "embedded"


def model_folder(model: str | Path | None = None) -> Path:
    """The folder of a checkpoint. `None` and `"embedded"` are the small model in the package, with its files checked.

    Raises:
        ModelError: there is no such folder, it does not contain a checkpoint that the engine loads, or a file of the
            package is missing or damaged.
    """
    if model is None or str(model) == EMBEDDED:
        try:
            return embedded.folder()
        except embedded.MissingModel as error:
            hint = "pip install 'intaglio[server]', or give the folder of a checkpoint"
            raise ModelError(str(error), where="model", hint=hint) from error
        except embedded.DamagedModel as error:
            hint = "pip install --force-reinstall --no-deps intaglio-embedded"
            raise ModelError(str(error), where="model", hint=hint) from error
    folder = Path(model).expanduser()
    if not folder.is_dir():
        raise no_folder(str(model))
    refuse_unloadable(folder)
    return folder
