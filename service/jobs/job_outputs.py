"""The outputs of a job and the digests of the files it has written.

Does: record in the ledger the digest of every written file, and find the jobs that wrote an existing file; a file
changed since then belongs to no job. Does not: write files (`publish`).

A digest is recorded before its file is renamed into place, and older digests of that name are removed afterwards. The
existing file is therefore known whenever the process dies.
"""

import hashlib
import stat
from pathlib import Path

import sqlalchemy as sa
from intaglio.schemas.jobs import JobSpec, JobState, Output

from .tables import jobs, published, reach_disk, transaction


class JobOutputs:
    """The outputs of one job, and its files in the ledger. Paths are absolute."""

    def __init__(self, engine: sa.Engine, job: str) -> None:
        self._engine = engine
        self.job = job
        self._of_job = published.c.job == job

    def request(self, outputs: tuple[Output, ...]) -> None:
        """Add outputs to the job, before those requested earlier."""
        named = {output.path for output in outputs}
        of_job = jobs.c.id == self.job
        with transaction(self._engine) as connection:
            stored = connection.execute(sa.select(jobs.c.spec).where(of_job)).scalar_one()
            spec = JobSpec.model_validate_json(stored, by_alias=True)
            earlier = tuple(output for output in spec.outputs if output.path not in named)
            wider = spec.model_copy(update={"outputs": (*outputs, *earlier)})
            text = wider.model_dump_json(by_alias=True)
            connection.execute(jobs.update().where(of_job).values(spec=text))

    def owns(self, path: Path) -> bool:
        """Whether this job wrote the file at `path` in its current content."""
        return self.job in self.owners(path)

    def wrote(self, path: Path) -> bool:
        """Whether this job ever wrote a file at `path` that it has not removed."""
        query = sa.select(sa.func.count()).where(self._of_job, published.c.path == str(plain(path)))
        with transaction(self._engine) as connection:
            return bool(connection.scalar(query))

    def owners(self, path: Path) -> frozenset[str]:
        """The jobs of this ledger that wrote the file at `path` in its current content; none if it was changed."""
        query = sa.select(published.c.job, published.c.digest).where(
            published.c.path == str(plain(path))
        )
        with transaction(self._engine) as connection:
            known = connection.execute(query).all()
        digest = content_digest(path) if known else None
        return frozenset(job for job, noted in known if noted == digest)

    def rivals(self, outputs: tuple[Output, ...]) -> dict[str, str]:
        """The other jobs of this ledger that run or died running, each with an output that it shares with `outputs`."""
        named = {output.path for output in outputs}
        query = sa.select(jobs.c.id, jobs.c.spec).where(
            jobs.c.state == JobState.RUNNING, jobs.c.id != self.job
        )
        with transaction(self._engine) as connection:
            found = connection.execute(query).all()
        shared: dict[str, str] = {}
        for job, stored in found:
            spec = JobSpec.model_validate_json(stored, by_alias=True)
            common = [output.path for output in spec.outputs if output.path in named]
            if common:
                shared[job] = common[0]
        return shared

    def expect(self, path: Path, digest: str) -> None:
        """Record the digest of the file about to be placed at `path`."""
        here = (self._of_job, published.c.path == str(plain(path)), published.c.digest == digest)
        with transaction(self._engine) as connection:
            connection.execute(published.delete().where(*here))
            connection.execute(
                published.insert().values(job=self.job, path=str(plain(path)), digest=digest)
            )
        reach_disk(self._engine)

    def forget_others(self, path: Path, digest: str | None) -> None:
        """Remove the digests of `path` other than `digest`; all of them if that is None."""
        here = [self._of_job, published.c.path == str(plain(path))]
        if digest is not None:
            here.append(published.c.digest != digest)
        with transaction(self._engine) as connection:
            connection.execute(published.delete().where(*here))


def plain(path: Path) -> Path:
    """The canonical form of a path: absolute, with links resolved in its folders but not in its last part."""
    return path.parent.resolve() / path.name


def content_digest(path: Path) -> str | None:
    """The digest of a regular file's content; None for anything else, including links and missing files."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
