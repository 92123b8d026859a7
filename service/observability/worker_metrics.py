"""Metrics of several API processes, added up.

Does: keep the counters of each process in files of one folder, by prometheus-client's multiprocess mode, and add them
up at a scrape; a process that ended keeps its counts there. Does not: start processes. The parent of the API processes
makes the folder (`WorkerMetricsFolder`) and starts them with `environment`, which prometheus-client reads when it is
imported.
"""

import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType

from prometheus_client import CollectorRegistry, ProcessCollector, values
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

VARIABLE = "PROMETHEUS_MULTIPROC_DIR"

# The process metrics that can be added up, with their meaning for the sum.
_RESOURCES: Mapping[str, str] = MappingProxyType(
    {
        "process_cpu_seconds": "User and system CPU time of the API processes.",
        "process_resident_memory_bytes": "Resident memory of the API processes.",
        "process_virtual_memory_bytes": "Virtual memory of the API processes.",
        "process_open_fds": "Open file descriptors of the API processes.",
    }
)


class WorkerMetricsFolder:
    """The folder in which the API processes of one server count. Owned by the process that starts them."""

    def __init__(self) -> None:
        self._folder = Path(tempfile.mkdtemp(prefix="intaglio-metrics-"))  # of this user only

    @property
    def environment(self) -> Mapping[str, str]:
        """Variables for the environment of each API process."""
        return {VARIABLE: str(self._folder), "INTAGLIO_SERVICE_METRICS_FOLDER": str(self._folder)}

    def ended(self, pid: int) -> None:
        """Forget the gauges of an API process that ended; its counters stay in the sums."""
        mark_process_dead(pid, str(self._folder))

    def close(self) -> None:
        """Delete the folder. No API process may run any more."""
        shutil.rmtree(self._folder, ignore_errors=True)


def is_one_of_several() -> bool:
    """Whether this process was started to count in a folder."""
    return bool(getattr(values.ValueClass, "_multiprocess", False))


class WorkersCollector:
    """The counters of all API processes of a server, added up. `folder` is theirs."""

    def __init__(self, folder: Path) -> None:
        if not is_one_of_several():
            raise ValueError(
                f"metrics_folder is set, but {VARIABLE} was not when this process began"
            )
        self._folder = folder
        self._counted = MultiProcessCollector(None, str(folder))

    def collect(self) -> Iterator[Metric]:
        counted: Iterable[Metric] = self._counted.collect()
        yield from sorted(counted, key=lambda family: family.name)
        yield from _resources(self._pids())

    def _pids(self) -> set[int]:
        """The processes that set gauges here and were not reported as ended."""
        names = (path.stem.rpartition("_")[2] for path in self._folder.glob("gauge_live*_*.db"))
        return {int(name) for name in names if name.isdecimal()}


class OwnCollector:
    """The counters of the only API process of a server."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry
        self._process = ProcessCollector(registry=None)

    def collect(self) -> Iterator[Metric]:
        yield from self._registry.collect()
        yield from self._process.collect()


def _resources(pids: Iterable[int]) -> Iterator[Metric]:
    sums: dict[str, float] = {}
    for pid in pids:
        for family in ProcessCollector(pid=lambda pid=pid: pid, registry=None).collect():  # type: ignore[misc]  # mypy infers no default of a lambda
            if family.name in _RESOURCES:
                sums[family.name] = sums.get(family.name, 0.0) + family.samples[0].value
    for name, value in sums.items():
        kind = CounterMetricFamily if name == "process_cpu_seconds" else GaugeMetricFamily
        yield kind(name, _RESOURCES[name], value=value)
