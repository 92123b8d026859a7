"""Errors of a job as a whole. Errors of a row are `Rejected` or `Failure` values and never raised.

JobError
├── InputRefused   the source cannot be read, or does not match its description
├── AdapterMissing the service has no adapter of that name
├── OutputRefused  an output cannot be written, or would overwrite a file
│   └── OutputFailed   writing failed midway, for example on a full disk
├── FolderRefused  the server's data folder is unusable
├── UnknownJob     the ledger has no job of that name
├── UnknownFile    the server has no file of that name
├── UnknownReview  a row has nothing to review
├── CorrectionRefused  corrected data is not valid
├── JobBusy        another runner runs the job
├── TooManyJobs    the server has reached its limit of unfinished jobs
├── JobChanged     the job or its source differs from its first run
└── LedgerRefused  the ledger cannot be opened or written
    ├── LedgerMissing  there is no ledger, where one is only to be read
    └── LedgerUnknown  the URL names no supported database
"""

from typing import ClassVar

from intaglio.schemas.problem import Code


class JobError(Exception):
    """Base of the errors of jobs. `param` is a dotted path into the job, `hint` a suggested fix."""

    code: ClassVar[Code] = Code.INVALID_REQUEST
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, *, param: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.param = param
        self.hint = hint


class InputRefused(JobError):
    """The source cannot be read, or does not match its description."""


class AdapterMissing(JobError):
    """The service that a job asks has no adapter of that name."""

    code = Code.UNKNOWN_MODEL


class OutputRefused(JobError):
    """An output cannot be written. The results remain in the ledger."""


class OutputFailed(OutputRefused):
    """Writing an output failed midway, for example on a full disk. A retry may succeed."""

    retryable = True


class FolderRefused(JobError):
    """The server's data folder is unusable."""


class UnknownJob(JobError):
    """The ledger has no job of that name."""

    code = Code.NOT_FOUND


class UnknownFile(JobError):
    """The server has no file of that name."""

    code = Code.NOT_FOUND


class UnknownReview(JobError):
    """A row has nothing to review."""

    code = Code.NOT_FOUND


class CorrectionRefused(JobError):
    """Corrected data is not valid against the job's schema."""


class JobBusy(JobError):
    """Another runner runs the job."""

    retryable = True


class TooManyJobs(JobError):
    """The server has reached its limit of unfinished jobs."""

    code = Code.OVERLOADED
    retryable = True


class JobChanged(JobError):
    """The job or its source differs from its first run."""


class LedgerRefused(JobError):
    """The ledger cannot be opened or written."""

    code = Code.NOT_READY
    retryable = True


class LedgerMissing(LedgerRefused):
    """There is no ledger, and the command would not make one."""


class LedgerUnknown(LedgerRefused):
    """The URL of the ledger names no supported database."""

    code = Code.INVALID_REQUEST
    retryable = False
