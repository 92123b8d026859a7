"""L1: many streams at once, a tenth with slow readers and a tenth that hang up: all others get their whole answer."""

from pathlib import Path

from tests.bench.bench_streams import Load
from tests.bench.bench_streams import measure as measure_streams
from tests.reliability.figures import Figure

LOADS = ((Load(256, 300, 0.1), 150), (Load(1000, 150, 0.1), 250))
"""At ten tokens a second each; and the bound of the gap between two tokens, in ms."""


def measure(folder: Path, loads: tuple[tuple[Load, int], ...] = LOADS) -> list[Figure]:
    """These loads, one after the other."""
    figures = []
    for number, (load, bound) in enumerate(loads):
        scratch = folder / str(number)
        scratch.mkdir()
        found = measure_streams(load, scratch)
        whole = found["right"] + found["slow_right"]
        figures += [
            Figure(
                id="L1",
                what=f"streams at once, {load.tokens} tokens each",
                count=load.streams,
                bound="whole, but for those that hang up",
                measured=f"{whole} whole, of which {found['slow_right']} read slowly, "
                f"{found['hung_up']} hung up, {len(found['wrong'])} wrong {found['wrong'][:2]}",
                met=not found["wrong"] and whole + found["hung_up"] == load.streams,
            ),
            Figure(
                id="L1",
                what="gaps between tokens meanwhile, p99",
                count=load.streams,
                bound=f"{bound} ms",
                measured=f"{found['gap_p99_ms']:.0f} ms (p50 {found['gap_p50_ms']:.0f} ms), "
                f"{found['cpu_us_an_event']:.0f} us of processor time a token, "
                f"{found['memory_a_stream_kb']} kB a stream",
                met=None,
            ),
        ]
    return figures
