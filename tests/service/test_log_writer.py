"""Queued log lines: in order, complete at the end, bounded while nothing reads, with a count of dropped lines."""

import io
import json
import subprocess
import sys
import threading

from intaglio.service.http.log_writer import LineWriter


class Blocked(io.StringIO):
    """A stream that takes nothing until it is opened."""

    def __init__(self) -> None:
        super().__init__()
        self.opened = threading.Event()

    def write(self, text: str) -> int:
        self.opened.wait()
        return super().write(text)


def dropped(count: int) -> str:
    return f"dropped {count}"


def test_all_lines_come_in_order_and_before_the_end() -> None:
    stream = io.StringIO()
    writer = LineWriter(stream, dropped)
    for number in range(5000):
        writer.write(str(number))
    writer.close()
    assert stream.getvalue().split() == [str(number) for number in range(5000)]
    writer.write("late")
    writer.close()
    assert stream.getvalue().endswith("late\n")


def test_a_stream_that_is_not_read_holds_nothing_up_and_drops_are_counted() -> None:
    stream = Blocked()
    writer = LineWriter(stream, dropped, most=100)
    for number in range(1000):
        writer.write(str(number))
    stream.opened.set()
    writer.close()
    lines = stream.getvalue().splitlines()
    kept = [line for line in lines if not line.startswith("dropped")]
    lost = sum(int(line.split()[1]) for line in lines if line.startswith("dropped"))
    assert len(kept) + lost == 1000
    assert 100 <= len(kept) <= 300
    assert kept[:100] == [str(number) for number in range(100)]


class Counted(io.StringIO):
    """A stream that counts its writes, and tells when the last line has come."""

    def __init__(self) -> None:
        super().__init__()
        self.writes = 0
        self.came = threading.Event()

    def write(self, text: str) -> int:
        self.writes += 1
        written = super().write(text)
        if "last" in text:
            self.came.set()
        return written


def test_lines_of_a_busy_time_are_written_together_and_need_no_end() -> None:
    stream = Counted()
    writer = LineWriter(stream, dropped)
    for number in range(1000):
        writer.write(str(number))
    writer.write("last")
    assert stream.came.wait(60)
    writer.close()
    assert stream.writes < 500


def test_a_closed_stream_is_no_error() -> None:
    stream = io.StringIO()
    writer = LineWriter(stream, dropped)
    stream.close()
    writer.write("lost")
    writer.close()


def test_a_process_that_exits_has_written_its_log() -> None:
    program = (
        "from intaglio.service.http.log import make_logger\n"
        "log = make_logger('json', 'info')\n"
        "for number in range(300): log.info('line', number=number)\n"
    )
    done = subprocess.run(
        [sys.executable, "-P", "-c", program], capture_output=True, text=True, check=True
    )
    numbers = [json.loads(line)["number"] for line in done.stderr.splitlines()]
    assert numbers == list(range(300))
