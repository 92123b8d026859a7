"""How names and constants are written.

Does: give the one spelling each has. Does not: say how other strings may be written (`options`).
"""

import json


def spell(text: str) -> bytes:
    """The one way a name or a constant is written."""
    return json.dumps(text, ensure_ascii=False).encode()
