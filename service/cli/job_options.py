"""The arguments of `intaglio job run`.

Does: build the job and its name from the options. Does not: run the job (`job_command`).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from intaglio.schemas.extraction.grounding_modes import ConfidenceMode, Grounding
from intaglio.schemas.extraction.requests import ExtractOptions
from intaglio.schemas.jobs import JobSpec, Output, Prices, Source
from pydantic import ValidationError

from ..jobs.job_outputs import plain
from .adapter_option import ChosenAdapter
from .cli_errors import CliError, Exit
from .documents import read_schema

_LONGEST_NAME = 200  # width of the ledger's column


@dataclass(frozen=True, slots=True, kw_only=True)
class JobCommand:
    """The arguments of `intaglio job run`, as typed."""

    file: str
    schema: str
    out: tuple[Path, ...]
    text: str | None
    template: str | None
    id: str | None
    keep: tuple[str, ...]
    record: str | None
    format: str | None
    delimiter: str | None
    encoding: str | None
    name: str | None
    images: tuple[str, ...] = ()
    extends: str | None
    limit: int | None
    sample: float | None
    max_tokens: int | None
    row_deadline: float | None
    nulls: bool = False
    grounding: Grounding = "off"
    confidence: ConfidenceMode = "off"
    strict_schema: bool = False
    windows: bool = False
    attempts: int
    stop_at_dead_share: float | None
    review_below: float | None
    neutralise: bool
    price: tuple[float, float] | None
    adapter: ChosenAdapter | None = None

    def spec(self) -> JobSpec:
        """The job. Raises `CliError` for inconsistent options."""
        try:
            source = Source(
                path=str(Path(self.file).absolute()),
                format=self.format,  # type: ignore[arg-type]  # checked here
                delimiter={"\\t": "\t", "tab": "\t"}.get(self.delimiter or "", self.delimiter),
                encoding=self.encoding,
                record=self.record,
                text=self.text,
                template=self.template,
                id=self.id,
                keep=self.keep,
                images=self.images,
            )
            return JobSpec(
                schema=read_schema(self.schema),
                source=source,
                outputs=tuple(
                    Output(path=str(plain(path)), neutralise=self.neutralise) for path in self.out
                ),
                options=ExtractOptions(
                    max_tokens=self.max_tokens,
                    deadline_s=self.row_deadline,
                    strict_schema=self.strict_schema,
                    not_stated="null" if self.nulls else "schema",
                    grounding=self.grounding,
                    confidence=self._confidence(),
                    long_documents="windows" if self.windows else "refuse",
                ),
                adapter=None if self.adapter is None else self.adapter.text,
                limit=self.limit,
                sample=self.sample,
                attempts=self.attempts,
                stop_at_dead_share=self.stop_at_dead_share,
                review_below=self.review_below,
                extends=self.extends,
                prices=self.price and Prices(prompt=self.price[0], output=self.price[1]),
            )
        except ValidationError as error:
            first = error.errors()[0]
            place = ".".join(str(part) for part in first["loc"])
            reason = first["msg"].removeprefix("Value error, ")
            raise CliError(f"{place}: {reason}".lstrip(": "), Exit.USAGE) from None

    def _confidence(self) -> ConfidenceMode:
        """The requested mode of confidences; reviews need them, so a job with reviews has at least `first_reading`."""
        if self.review_below is not None and self.confidence == "off":
            return "first_reading"
        return self.confidence

    def job_name(self, digest: str) -> str:
        """The given name, or one made of the source's name and the digest of the job.

        Raises:
            CliError: the given name is not valid.
        """
        if self.name is None:
            return f"{_stem(Path(self.file))}-{digest[:8]}"
        if not self.name.strip() or len(self.name) > _LONGEST_NAME or not self.name.isprintable():
            raise CliError(
                "the name of a job has 1 to 200 printable characters",
                Exit.USAGE,
                where="--job",
            )
        return self.name

    @property
    def schema_file(self) -> Path | None:
        """The path of the schema file; None for a catalogue schema."""
        path = Path(self.schema)
        return path if path.is_file() else None


def one_source(files: Sequence[str]) -> str:
    """The source of a job. A shell replaces a pattern without quotes by many names. Raises `CliError`."""
    if len(files) > 1:
        hint = "quote a pattern, so that the shell leaves it to the job ('docs/*.txt'), or name the folder"
        more = "" if len(files) < 3 else f" and {len(files) - 2} more"
        raise CliError(
            f"a job has one source, not {len(files)}: {files[0]}, {files[1]}{more}",
            Exit.USAGE,
            hint=hint,
        )
    return files[0]


def _stem(path: Path) -> str:
    """A shell-safe name of a source; for a pattern, that of its folder."""
    parts = path.absolute().parts
    plain = next((at for at, part in enumerate(parts) if set(part) & set("*?[")), None)
    name = path.absolute().stem if plain is None else Path(parts[plain - 1]).name
    word = re.sub(r"[^\w.]+", "-", name).strip("-.")[:60]
    return word or "job"
