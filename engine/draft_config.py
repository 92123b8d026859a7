"""The settings of drafts.

Does: read the sources from the text of the setting, and refuse unknown ones. Does not: make drafts (`drafts`).
"""

from dataclasses import dataclass
from typing import Final, NamedTuple

from .errors import ConfigError

DRAFT_SOURCES: Final = ("document", "rows", "free", "likely", "model", "head", "replay")
OPTIONAL: Final = ("head",)
"""Sources whose argument may be missing."""


class DraftSetting(NamedTuple):
    """A source of drafts by its name, and its argument, empty for none."""

    name: str
    argument: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftConfig:
    """The sources of drafts: tokens that a step computes before they are sampled.

    `drafts` is "off", "auto", or names of sources, separated by commas. "document" copies what followed the last tokens
    earlier in the prompt or the output; "rows" does so in earlier answers under the same constraint and `cache_salt`;
    "free" follows the draft that a request brings;
    "likely" repeats earlier choices where a grammar allows few tokens; "model:FOLDER" samples from a smaller checkpoint
    of the same vocabulary; "head:FOLDER" from a draft head of the model, and "head" from the one in a folder within
    that of the checkpoint. "auto" is "document,rows,free" on a CPU where steps do not overlap, and the head that the
    checkpoint brings; it is "off" elsewhere. Where steps overlap, as on a GPU, the sources can be named, but for a
    model and a head: steps of few sequences have drafts.
    "replay:RATES" is for measurements with random weights: drafts are accepted at these rates by position, separated by
    slashes, whatever the model samples. All other sources leave outputs unchanged. Where they would not make a step
    faster, no tokens are drafted. `max_running` limits the tokens and drafts for which a step samples.
    """

    drafts: str = "auto"

    def __post_init__(self) -> None:
        names = [source.name for source in self.sources or ()]
        for name in names:
            if name not in DRAFT_SOURCES:
                raise _no_drafts(self.drafts, f"there is no source {name!r}")
        if len(set(names)) < len(names):
            raise _no_drafts(self.drafts, "a source is named twice")
        for source in self.sources or ():
            expected = source.name in ("model", "replay")
            if bool(source.argument) != expected and source.name not in OPTIONAL:
                raise _no_drafts(self.drafts, f"{source.name} has a missing or needless argument")
        if "replay" in names and len(names) > 1:
            raise _no_drafts(self.drafts, "replay cannot be combined")

    @property
    def sources(self) -> tuple[DraftSetting, ...] | None:
        """The sources in order; none for "off", None for "auto"."""
        if self.drafts == "auto":
            return None
        if self.drafts == "off":
            return ()
        parts = (name.partition(":") for name in self.drafts.split(","))
        return tuple(DraftSetting(name, argument) for name, _, argument in parts)


def _no_drafts(drafts: str, reason: str) -> ConfigError:
    return ConfigError(
        f"drafts cannot be {drafts!r}: {reason}",
        where="drafts",
        hint="off, auto, or some of document, rows, free, likely, model:FOLDER and head:FOLDER, separated by commas; "
        "or replay:RATES",
    )
