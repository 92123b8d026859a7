"""Entry points to device tables: the tables of a constraint, and the replay of outputs along tables on the host.

Does: import the exporter and the replay, which load compiled code, at the first call. Does not: make tables
(`device.export`) or replay outputs (`device.followers`).
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..contract.constraint import Constraint
from ..device.device_tables import DeviceTables, HostOnly
from .frontend import screen

if TYPE_CHECKING:
    from ..device.followers import Followers


def tables_of(constraint: Constraint) -> DeviceTables | HostOnly:
    """Export a valid constraint as device tables. Takes at most some seconds: see `device.export.ExportLimits`.

    The export starts from the source of the constraint, not from a compiled grammar: one thread makes the rules on
    demand, while another thread may use the rules of the compiled grammar.

    Also loads the compiled code of `device.followers`, because a step that replays outputs cannot wait for it.
    """
    from ..device.export import export
    from ..device.followers import load

    load()
    if constraint.document is not None:
        return HostOnly("it has strings that are substrings of a document")
    screened = screen(constraint)
    if screened.root is None:
        return HostOnly("another back end follows it")
    try:
        return export(screened.root)
    finally:
        if screened.release is not None:
            screened.release()


def followers(texts: Sequence[bytes | None], ends: Sequence[int]) -> "Followers":
    """A new, empty replay of outputs on the host. `texts`: the bytes of each token; `ends`: the end tokens."""
    from ..device.followers import Followers

    return Followers(texts, ends)
