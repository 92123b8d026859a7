"""Write the manifest of a finished model: the SHA-256 of every file the package loads.

python -m train_embedded.seal engine/embedded
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from intaglio.engine.embedded.model_files import MANIFEST, check, sha256

_KINDS = ("config.json", "tokenizer*.json", "chat_template.jinja", "*.safetensors*")


def seal(model: Path) -> None:
    """Write the manifest of the files in `model`, then check it."""
    files = sorted({file for pattern in _KINDS for file in model.glob(pattern)})
    manifest = {"sha256": {file.name: sha256(file) for file in files}}
    (model / MANIFEST).write_text(json.dumps(manifest, indent=2) + "\n")
    check(model)


if __name__ == "__main__":
    seal(Path(sys.argv[1]))
