"""Documents written one by one for training, each with its fields and their right answers.

`read` parses the files of this folder, `vary` draws new values for a document. The documents are inventions.
"""

from .read import written_records
from .vary import Variations

__all__ = ["Variations", "written_records"]
