"""The model of a server's jobs: with the adapter that a job names, and the same one for all of its rows.

Does: say whether it reads images; name model and adapter by content, compare them with those of the job's beginning.
Does not: run jobs.
"""

from ..errors import ServiceNotReady
from ..jobs.records.errors import JobChanged
from .sdk_errors import sdk_errors
from .service_state import Service


def computed_by(service: Service, adapter: str | None) -> str:
    """The server's model, with the content of the adapter of that name if there is one.

    Raises:
        UnknownModel: no adapter of that name is loaded.
    """
    if adapter is None:
        return service.model
    if service.adapters is None:
        raise ServiceNotReady("the model is loading", hint="try again when GET /ready answers 200")
    return service.adapters.computed_by(adapter)


def reads_images(service: Service) -> bool:
    """Whether the server's model reads images."""
    info = service.backend.info
    return info is not None and info.images is not None


def require_unchanged(service: Service, job: str, adapter: str | None, began_with: str) -> None:
    """Return if the adapter of a job is the one that the job began with.

    Raises:
        IntaglioError: it is not loaded any more.
        JobChanged: its name means another one by now.
    """
    with sdk_errors():
        now = computed_by(service, adapter)
    if adapter is not None and now != began_with:
        raise JobChanged(
            f"the adapter of job {job!r} was {began_with} when the job began, and is {now} now",
            param="adapter",
            hint=f"load the former one as {adapter!r} and resume the job, or begin another job",
        )
