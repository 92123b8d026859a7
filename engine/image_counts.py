"""The counts of encoded images.

Does: define the message. Does not: count (`run/image_states`).
"""

from msgspec import Struct


class ImageCounts(Struct, frozen=True):
    """The images that steps needed since the start: `encoded` ones, `cells` of them in `batches`; and `reused` ones.

    `nbytes` are those of the states that are kept now.
    """

    encoded: int = 0
    cells: int = 0
    batches: int = 0
    reused: int = 0
    nbytes: int = 0
