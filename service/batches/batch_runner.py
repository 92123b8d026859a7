"""The runner of a batch, from its input file to its output files.

Does: read the input file into rows, get them answered (`answering`), write the files at the end. A run that was
interrupted anywhere, even by the end of its process, is continued by the next: no request is lost, and none has two
lines.
"""

from functools import partial
from itertools import islice
from typing import Final

from intaglio.schemas.openai.batches import BatchFault, BatchFaults, BatchStatus

from ..jobs.records.errors import InputRefused, UnknownFile
from .answering import Answering, BatchTools
from .batch_input import check_lines, rows_of
from .batch_ledger import StoredBatch
from .batch_outputs import write_outputs
from .client_files import ClientFiles

_NEW_ROWS: Final = 500  # added in one transaction
_OPEN: Final[tuple[BatchStatus, ...]] = ("validating", "in_progress", "finalizing", "cancelling")


class BatchRunner:
    """Runs batches in an event loop."""

    def __init__(self, files: ClientFiles, tools: BatchTools) -> None:
        self._files = files
        self._tools = tools
        self._ledger = tools.ledger

    async def run(self, batch: str) -> None:
        """Work on a batch until it has ended. Cancelling the call leaves the batch as it is, for a later run.

        Raises:
            LedgerRefused: the database cannot be read or written; nothing is lost.
        """
        offload = self._tools.offload
        stored: StoredBatch = await offload(partial(self._ledger.stored, batch))
        if stored.status == "validating" and not await offload(partial(self._ingest, stored)):
            return
        if stored.status != "finalizing":
            await Answering(self._tools, stored).answer_all()
        await self._finish(stored)

    def _ingest(self, stored: StoredBatch) -> bool:
        """Read the input file into rows; False if the batch has failed. Continues where an earlier run stopped."""
        try:
            path = self._files.path(stored.request.input_file_id, stored.owner.tenant)
            faults = check_lines(path, stored.request.endpoint)
            if faults is None:
                rows = self._ledger.rows(stored.id)
                new = islice(rows_of(path), rows.counts().rows, None)
                while chunk := list(islice(new, _NEW_ROWS)):
                    rows.add_rows(chunk, 0, whole=False)
        except (UnknownFile, InputRefused, OSError):
            faults = _fault("input_file_missing", "the input file was deleted")
        if faults is not None:
            self._fail(stored, faults)
            return False
        self._ledger.move(stored.id, "in_progress", ("validating",))
        return True

    async def _finish(self, stored: StoredBatch) -> None:
        """Write the files and set the final status."""
        ledger, offload = self._ledger, self._tools.offload
        await offload(partial(ledger.move, stored.id, "finalizing", ("in_progress",)))
        counts = await offload(ledger.rows(stored.id).counts)
        status = await offload(partial(ledger.status, stored.id))
        expired = status == "finalizing" and counts.pending + counts.running > 0
        try:
            written = await write_outputs(ledger, self._files, stored, offload, expired=expired)
        except InputRefused as error:
            faults = _fault("output_refused", error.message)
            await offload(partial(self._fail, stored, faults))
            return
        names = {"output_file": written.output, "error_file": written.error}
        final: BatchStatus = "expired" if expired else "completed"
        if status == "cancelling":
            final = "cancelled"
        await offload(partial(ledger.move, stored.id, final, (status,), **names))

    def _fail(self, stored: StoredBatch, faults: BatchFaults) -> None:
        self._ledger.move(stored.id, "failed", _OPEN, faults=faults.model_dump_json())


def _fault(code: str, message: str) -> BatchFaults:
    return BatchFaults(data=[BatchFault(code=code, message=message)])
