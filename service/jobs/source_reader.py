"""The reader of a source, concurrent with the extraction of its first rows.

Does: run ingestion in one thread. Does not: read formats (`readers`) or select rows (`ingest`).
"""

import threading
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from intaglio.schemas.jobs import JobSpec

from .ingest import ingest
from .records.errors import JobError, LedgerRefused
from .rows import JobRows
from .source_images import NOTHING, FindImage, Model, image_access


class SourceReader:
    """Reads a source once; `stop` ends it early, and the next reader resumes there."""

    def __init__(
        self,
        spec: JobSpec,
        rows: JobRows,
        fingerprint: str,
        stop: threading.Event,
        find_image: FindImage | None = None,
    ) -> None:
        """`find_image`: see `ImageAccess`."""
        self._spec = spec
        self._rows = rows
        self._fingerprint = fingerprint
        self._stop = stop
        self._find_image = find_image
        self._images = NOTHING
        self._pool = ThreadPoolExecutor(1, thread_name_prefix="reading")
        self._result: Future[None] | None = None

    @property
    def whole(self) -> bool:
        """Whether the whole source is in the ledger."""
        return self._rows.read_position()[1]

    @property
    def is_done(self) -> bool:
        """Whether no more rows will be added."""
        return self._result is not None and self._result.done()

    @property
    def refused(self) -> JobError | None:
        """The error of the source, once reading has ended. Errors of the ledger do not count: the next run reads on."""
        failed = self._result.exception() if self._result is not None and self.is_done else None
        if isinstance(failed, JobError) and not isinstance(failed, LedgerRefused):
            return failed
        return None

    def look(self, model: Model) -> None:
        """Find out what the rows may see. Raises as `image_access`."""
        source = self._spec.source
        self._images = image_access(source, Path(source.path), model, self._find_image)

    def start(self) -> None:
        """Start the thread."""
        path = Path(self._spec.source.path)
        self._result = self._pool.submit(
            ingest, self._spec, path, self._rows, self._fingerprint, self._stop.is_set, self._images
        )
        self._result.add_done_callback(self._on_done)

    def join(self) -> None:
        """Wait for the end of reading. Raises its error unless the source caused it."""
        self._pool.shutdown()
        if self._result is not None and self.refused is None:
            self._result.result()

    def _on_done(self, result: Future[None]) -> None:
        """Stop the run if reading failed, unless the source caused the failure."""
        if result.exception() is not None and self.refused is None:
            self._stop.set()
