"""Which outputs a job is asked for, and which files it has written.

Does: remember in the ledger the digest of every file that was written, and say of a file that is there which jobs wrote
it; a file that was changed since is no job's. Does not: write files (`publish`).

A digest is put down before its file gets its name, and the older ones of that name are dropped after: whenever the
process dies, the file that is there is known.
"""

import hashlib
import stat
from pathlib import Path

import sqlalchemy as sa

from ...schemas.jobs import JobSpec, Output
from .tables import jobs, published, reach_disk, transaction


class JobOutputs:
    """The outputs of one job, and its files in the ledger's table of all of them. Paths are absolute."""

    def __init__(self, engine: sa.Engine, job: str) -> None:
        self._engine = engine
        self.job = job
        self._of_job = published.c.job == job

    def request(self, outputs: tuple[Output, ...]) -> None:
        """Have the job write these too, before those that it was asked for earlier."""
        named = {output.path for output in outputs}
        mine = jobs.c.id == self.job
        with transaction(self._engine) as connection:
            told = connection.execute(sa.select(jobs.c.spec).where(mine)).scalar_one()
            spec = JobSpec.model_validate_json(told, by_alias=True)
            earlier = tuple(output for output in spec.outputs if output.path not in named)
            wider = spec.model_copy(update={"outputs": (*outputs, *earlier)})
            text = wider.model_dump_json(by_alias=True)
            connection.execute(jobs.update().where(mine).values(spec=text))

    def owns(self, path: Path) -> bool:
        """Whether the file at `path` is as this job wrote it."""
        return self.job in self.owners(path)

    def wrote(self, path: Path) -> bool:
        """Whether this job ever wrote a file at `path` that it has not removed."""
        query = sa.select(sa.func.count()).where(self._of_job, published.c.path == str(plain(path)))
        with transaction(self._engine) as connection:
            return bool(connection.scalar(query))

    def owners(self, path: Path) -> frozenset[str]:
        """The jobs of this ledger that wrote the file at `path` as it is now; none where it was changed since."""
        query = sa.select(published.c.job, published.c.digest).where(
            published.c.path == str(plain(path))
        )
        with transaction(self._engine) as connection:
            known = connection.execute(query).all()
        digest = content_digest(path) if known else None
        return frozenset(job for job, noted in known if noted == digest)

    def expect(self, path: Path, digest: str) -> None:
        """Put down what is about to be at `path`."""
        here = (self._of_job, published.c.path == str(plain(path)), published.c.digest == digest)
        with transaction(self._engine) as connection:
            connection.execute(published.delete().where(*here))
            connection.execute(
                published.insert().values(job=self.job, path=str(plain(path)), digest=digest)
            )
        reach_disk(self._engine)

    def forget_others(self, path: Path, digest: str | None) -> None:
        """Forget what was at `path` before `digest`; all of it where that is None."""
        here = [self._of_job, published.c.path == str(plain(path))]
        if digest is not None:
            here.append(published.c.digest != digest)
        with transaction(self._engine) as connection:
            connection.execute(published.delete().where(*here))


def plain(path: Path) -> Path:
    """The one spelling of a path: absolute, without links among its folders; what it names itself may be one."""
    return path.parent.resolve() / path.name


def content_digest(path: Path) -> str | None:
    """The digest of a regular file's content; None for anything else, links among them, and where nothing is."""
    try:
        if not stat.S_ISREG(path.lstat().st_mode):
            return None
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None
