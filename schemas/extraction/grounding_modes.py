"""How a request asks for the sources of values and for their confidence.

Does: name the modes. Does not: import anything, so that a command line declares its options at once.
"""

from typing import Literal

Grounding = Literal["off", "locate", "verbatim"]
ConfidenceMode = Literal["off", "first_reading", "second_reading"]
