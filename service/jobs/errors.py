"""What can be wrong with a job as a whole. What is wrong with a row is a `Rejected` or a `Failure`, never raised.

JobError
├── InputRefused   the source cannot be read, or not as it was said to be
├── OutputRefused  an output cannot be written, or would destroy something
│   └── OutputFailed   its disk is full, or it broke off
├── FolderRefused  a server's data folder cannot be used
├── UnknownJob     the ledger has no job of that name
├── UnknownFile    the server has no file of that name
├── JobBusy        another runner has the job
├── TooManyJobs    the server has as many as it takes
├── JobChanged     the job, or its source, is not what it was
└── LedgerRefused  the ledger cannot be opened or is full
    └── LedgerUnknown  its URL names no database that is supported
"""

from typing import ClassVar

from ...schemas.problem import Code


class JobError(Exception):
    """Base of these errors. `param` is a dotted path into the job, `hint` what to do."""

    code: ClassVar[Code] = Code.INVALID_REQUEST
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, param: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.hint = hint


class InputRefused(JobError):
    """The source cannot be read, or not as it was said to be."""


class OutputRefused(JobError):
    """An output cannot be written. The results are in the ledger all the same."""


class OutputFailed(OutputRefused):
    """An output could not be written to its end, because its disk is full, say. The same again may help."""

    retryable = True


class FolderRefused(JobError):
    """A server's data folder cannot be used."""


class UnknownJob(JobError):
    """The ledger has no job of that name."""

    code = Code.NOT_FOUND


class UnknownFile(JobError):
    """The server has no file of that name."""

    code = Code.NOT_FOUND


class JobBusy(JobError):
    """Another runner has the job."""

    retryable = True


class TooManyJobs(JobError):
    """The server has as many jobs that have not ended as it takes."""

    code = Code.OVERLOADED
    retryable = True


class JobChanged(JobError):
    """The job, or its source, is not what it was when it began."""


class LedgerRefused(JobError):
    """The ledger cannot be opened, or cannot be written."""

    code = Code.NOT_READY
    retryable = True


class LedgerUnknown(LedgerRefused):
    """The URL of the ledger names no database that a ledger can be in."""

    code = Code.INVALID_REQUEST
    retryable = False
