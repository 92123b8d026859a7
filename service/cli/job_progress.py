"""The display of a job's progress and status.

Does: a progress bar on a terminal, elsewhere a line every ten seconds. Does not: count rows (`jobs.outcome_buffer`).
"""

import time
from datetime import timedelta
from types import TracebackType
from typing import TYPE_CHECKING, Final, Self

from intaglio.schemas.jobs import JobStatus
from rich.progress import BarColumn, Progress, TextColumn

from .console import errors

if TYPE_CHECKING:
    from ..jobs.outcome_buffer import Progress as Counted

_LINE_S: Final = 10.0


class ProgressBar:
    """Shows the progress of one run on standard error."""

    def __init__(self, job: str) -> None:
        self._job = job
        self._console = errors()
        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.fields[facts]}"),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._bar.add_task(job, total=None, facts="")
        self._last = time.monotonic()

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._bar.stop()

    def show(self, progress: "Counted") -> None:
        """Update the display."""
        counts = progress.counts
        total = counts.rows if progress.whole else None
        text = facts(progress)
        self._bar.update(self._task, total=total, completed=counts.done + counts.dead, facts=text)
        if not self._console.is_terminal and time.monotonic() - self._last > _LINE_S:
            self._last = time.monotonic()
            self._console.print(f"{self._job}: {text}")


def facts(progress: "Counted") -> str:
    """Rows, rate, tokens and remaining time on one line."""
    counts = progress.counts
    speed = progress.ended / progress.seconds if progress.seconds > 0 else 0.0
    parts = [f"{counts.done:,} valid", f"{counts.dead:,} dead"]
    parts.append(f"of {counts.rows:,}{'' if progress.whole else '+'}")
    parts.append(f"{speed:,.1f} rows/s")
    if counts.done:
        tokens = (counts.prompt_tokens + counts.output_tokens) / counts.done
        parts.append(f"{tokens * speed:,.0f} tokens/s")
    if progress.cost is not None:
        parts.append(f"cost {progress.cost:,.6f}")
    left = counts.pending + counts.running
    if speed > 0 and left and progress.whole:
        parts.append(f"{timedelta(seconds=round(left / speed))} left")
    return " · ".join(parts)


def status_line(status: JobStatus) -> str:
    """The status of a job on one line."""
    counts = status.counts
    parts = [
        status.state.value.replace("_", " "),
        f"{counts.done:,} valid",
        f"{counts.dead:,} dead",
    ]
    if counts.pending + counts.running:
        parts.append(f"{counts.pending + counts.running:,} to do")
    parts.append(f"of {counts.rows:,}{'' if status.whole else '+'}")
    if counts.done:
        parts.append(f"{counts.prompt_tokens:,} tokens in, {counts.output_tokens:,} out")
    if counts.needs_review:
        parts.append(f"{counts.needs_review:,} to review")
    if status.error:
        parts.append(status.error)
    return f"{status.id}: " + " · ".join(parts)
