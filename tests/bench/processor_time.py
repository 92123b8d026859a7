"""Processor time of the service's processes, which other work on the machine changes little."""

import psutil


def service_cpu_s() -> float:
    """Seconds of processor time so far of the servers that this process started, without engines and loaders."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        words = " ".join(process.cmdline())
        if "engine" not in words and "http_load" not in words:
            times = process.cpu_times()
            total += times.user + times.system
    return total
