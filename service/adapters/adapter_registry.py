"""The adapters of a server by name: loaded and unloaded while it runs, or given at its start.

Does: check an adapter against the model, keep names and digests, in a file where several processes or starts share
them. Does not: keep matrices: an engine reads them with the first request.

A name means one content, until it is unloaded. A request carries the digest: it keeps the adapter that it began with,
whatever happens to the name.
"""

import json
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from intaglio.engine.api import AdapterRef, AdapterUnusable, EngineInfo, check_adapter
from intaglio.schemas.problem import Detail

from ..errors import AdapterConflict, InvalidBody, UnknownModel
from .named_adapters import adapted_model, is_adapter_name

FindAdapter = Callable[[str], AdapterRef | None]
"""The adapter of a name; None if there is none."""


@dataclass(frozen=True, slots=True)
class LoadedAdapter:
    """An adapter that requests may name. `fixed` ones were given at the start, and stay."""

    name: str
    path: str
    digest: str
    rank: int
    modules: int
    fixed: bool = False

    @property
    def ref(self) -> AdapterRef:
        """The adapter as requests carry it."""
        return AdapterRef(self.name, self.digest, self.path)


class AdapterRegistry:
    """The adapters for the model of `info`. For any thread.

    `kept` is the file of the adapters that are loaded while the server runs, None to keep them in this process only.
    """

    def __init__(self, info: EngineInfo, kept: Path | None = None) -> None:
        self._info = info
        self._kept = kept
        self._lock = threading.Lock()
        self._fixed: dict[str, LoadedAdapter] = {}
        self._loaded: dict[str, LoadedAdapter] = {}
        self._version: tuple[int, int] | None = None

    def fix(self, given: Mapping[str, str]) -> None:
        """Add adapters, paths by name, that cannot be unloaded.

        Raises:
            AdapterUnusable, InvalidBody, AdapterConflict: one cannot be used.
        """
        for name, path in given.items():
            self._fixed[name] = self._checked(name, Path(path).expanduser(), fixed=True)

    def load(self, name: str, path: str) -> tuple[LoadedAdapter, bool]:
        """Add the adapter in the folder `path`, and whether it is new; a repetition changes nothing.

        Raises:
            AdapterUnusable: it does not fit the model.
            InvalidBody: the name or the path is not usable.
            AdapterConflict: another adapter has that name, or the server has no places.
        """
        if "\0" in path or not Path(path).is_absolute():
            # Errors name files below the path as given: what it is relative to does not concern a client.
            raise InvalidBody(
                "the path of an adapter must be absolute",
                param="path",
                hint="give the path of a folder on the server, beginning with /",
            )
        found = self._checked(name, Path(path))
        with self._lock:
            before = self._all().get(name)
            if before is not None and before.digest != found.digest:
                raise AdapterConflict(
                    f"another adapter is loaded as {name!r}",
                    param="name",
                    hint=f"unload it first (DELETE /v1/adapters/{name}), or use another name",
                )
            if before is not None:
                return before, False
            self._write({**self._loaded, name: found})
        return found, True

    def unload(self, name: str) -> None:
        """Remove a name. Requests that run with the adapter go on with it.

        Raises:
            UnknownModel: there is no such adapter.
            AdapterConflict: it was given at the start.
        """
        with self._lock:
            found = self._all().get(name)
            if found is None:
                raise UnknownModel(f"no adapter {name!r} is loaded", param="name")
            if found.fixed:
                raise AdapterConflict(
                    f"the adapter {name!r} was given at the start of the server",
                    param="name",
                    hint="restart the server without it",
                )
            self._write({key: one for key, one in self._loaded.items() if key != name})

    def find(self, name: str) -> AdapterRef | None:
        """See `FindAdapter`."""
        with self._lock:
            found = self._all().get(name)
        return None if found is None else found.ref

    def require(self, name: str, param: str) -> AdapterRef:
        """The adapter of a name that the field `param` of a request has.

        Raises:
            UnknownModel: there is no such adapter.
        """
        found = self.find(name)
        if found is None:
            known = ", ".join(one.name for one in self.listing())
            raise UnknownModel(
                f"no adapter {name!r} is loaded",
                param=param,
                hint=f"the loaded adapters are: {known}" if known else "no adapter is loaded",
                details=(Detail(pointer="/" + param, reason="not loaded"),),
            )
        return found

    def computed_by(self, adapter: str | None, param: str = "adapter") -> str:
        """What computes with the adapter of that name, or with none, for comparisons. Raises as `require`."""
        if adapter is None:
            return self._info.model
        return adapted_model(self._info.model, adapter, self.require(adapter, param).digest)

    def listing(self) -> tuple[LoadedAdapter, ...]:
        """All adapters, by name."""
        with self._lock:
            return tuple(adapter for _, adapter in sorted(self._all().items()))

    def _checked(self, name: str, folder: Path, *, fixed: bool = False) -> LoadedAdapter:
        info = self._info
        if not is_adapter_name(name) or name == info.model:
            raise InvalidBody(
                f"{name!r} cannot be the name of an adapter",
                param="name",
                hint="use up to 128 letters, digits and . _ : - and not the name of the model",
            )
        if not info.max_adapters:
            raise AdapterConflict(
                "this server has no places for adapters",
                hint="start it with --max-adapters 4 (INTAGLIO_ENGINE_MAX_ADAPTERS)",
            )
        try:
            report = check_adapter(Path(info.folder), folder, info.adapter_rank)
        except AdapterUnusable as error:
            raise AdapterUnusable(
                f"the adapter {name!r} cannot be used: {error.message}",
                where=error.where,
                hint=error.hint,
            ) from error
        path = str(folder.resolve())
        return LoadedAdapter(name, path, report.digest, report.rank, report.modules, fixed)

    def _all(self) -> dict[str, LoadedAdapter]:
        """The adapters of now; reads the file if it has changed."""
        if self._kept is not None:
            try:
                state = self._kept.stat()
            except FileNotFoundError:
                return {**self._loaded, **self._fixed}
            version = (state.st_mtime_ns, state.st_ino)
            if version != self._version:
                self._version = version
                found = json.loads(self._kept.read_text(encoding="utf-8"))
                self._loaded = {one["name"]: LoadedAdapter(**one) for one in found}
        return {**self._loaded, **self._fixed}

    def _write(self, adapters: dict[str, LoadedAdapter]) -> None:
        self._loaded = adapters
        if self._kept is None:
            return
        written = self._kept.with_suffix(f".{os.getpid()}")
        with written.open("w", encoding="utf-8") as file:
            json.dump([asdict(one) for one in adapters.values()], file)
            file.flush()
            os.fsync(file.fileno())
        written.replace(self._kept)


def no_adapter(_: str) -> AdapterRef | None:
    """`FindAdapter` where there are none."""
    return None
