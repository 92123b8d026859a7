"""Contents survive a restart; damaged, short, foreign or half-written files are misses, and the bound holds."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest
from intaglio.engine.errors import ConfigError
from intaglio.engine.memory.block_contents import HostContent
from intaglio.engine.memory.disk_tier import (
    PAUSE_S,
    SUFFIX,
    DiskTier,
    open_tier,
    write_file,
)
from intaglio.engine.memory.page_key import Chain, first_chain, root_of

BLOCK = HostContent(bytes(range(256)) * 4)


def chain_of(number: int) -> Chain:
    return first_chain(root_of(str(number)))


def filled(folder: Path, count: int, most_bytes: int = 1 << 20) -> DiskTier:
    tier = DiskTier(folder, most_bytes)
    for number in range(count):
        tier.put(chain_of(number), HostContent(BLOCK + bytes([number])))
    tier.flush()
    return tier


def test_contents_are_found_after_a_restart(tmp_path: Path) -> None:
    filled(tmp_path, 5).close()
    tier = DiskTier(tmp_path, 1 << 20)
    assert [tier.get(chain_of(number)) for number in range(6)] == [
        *(BLOCK + bytes([number]) for number in range(5)),
        None,
    ]
    assert len(tier) == 5
    assert tier.nbytes == sum(path.stat().st_size for path in tmp_path.glob("*" + SUFFIX))
    modes = {stat.S_IMODE(path.stat().st_mode) for path in tmp_path.glob("*" + SUFFIX)}
    assert modes == {0o600}
    tier.close()


def test_any_damage_is_a_miss_and_is_deleted(tmp_path: Path) -> None:
    dice = Random(8)
    tier = filled(tmp_path, 40)
    foreign = (tmp_path / (chain_of(0).hex() + SUFFIX)).read_bytes()
    for number in range(40):
        path = tmp_path / (chain_of(number).hex() + SUFFIX)
        data = bytearray(path.read_bytes())
        kind = number % 4
        if kind == 0:
            data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
        elif kind == 1:
            del data[dice.randrange(len(data)) :]
        elif kind == 2:
            data += b"x"
        else:
            data = bytearray(foreign)
        path.write_bytes(bytes(data))
        assert tier.get(chain_of(number)) is None, (number, kind)
        assert not path.exists()
        assert chain_of(number) not in tier
    assert tier.faults["damaged"] > 30
    assert tier.nbytes == 0
    tier.close()


def test_files_that_vanish_or_are_no_files_of_ours_do_no_harm(tmp_path: Path) -> None:
    tier = filled(tmp_path, 2)
    (tmp_path / (chain_of(0).hex() + SUFFIX)).unlink()
    assert tier.get(chain_of(0)) is None
    tier.close()
    for name in ("zz" * 32 + SUFFIX, "short" + SUFFIX, "notes.txt"):
        (tmp_path / name).write_bytes(b"not ours")
    (tmp_path / "abc.part").write_bytes(b"half")
    again = DiskTier(tmp_path, 1 << 20)
    assert len(again) == 1
    assert not (tmp_path / "abc.part").exists()
    assert (tmp_path / "notes.txt").exists()
    again.close()


def test_the_bound_holds_and_the_least_recently_used_goes_first(tmp_path: Path) -> None:
    tier = filled(tmp_path, 3, most_bytes=4 * (len(BLOCK) + 64) + 200)
    assert tier.get(chain_of(0)) is not None
    for number in range(3, 5):
        tier.put(chain_of(number), BLOCK)
    tier.flush()
    assert [number for number in range(5) if chain_of(number) in tier] == [0, 2, 3, 4]
    assert len(list(tmp_path.glob("*" + SUFFIX))) == 4
    tier.close()


def test_a_full_disk_stops_writing_for_a_while(tmp_path: Path) -> None:
    full, now = [True], [0.0]

    def write(path: Path, content: bytes) -> None:
        if full[0]:
            write_file(path, content[:100])
            raise OSError(28, "No space left on device")
        write_file(path, content)

    tier = DiskTier(tmp_path, 1 << 20, write=write, clock=lambda: now[0])
    for number in range(3):
        tier.put(chain_of(number), BLOCK)
        tier.flush()
    assert tier.faults["write"] == 1
    assert list(tmp_path.iterdir()) == []
    full[0] = False
    now[0] = PAUSE_S + 1
    tier.put(chain_of(1), BLOCK)
    tier.flush()
    assert tier.get(chain_of(1)) == BLOCK
    tier.close()


CHILD = """
import sys
from pathlib import Path
from intaglio.engine.memory.block_contents import HostContent
from intaglio.engine.memory.disk_tier import open_tier
from intaglio.engine.memory.page_key import first_chain, root_of
tier = open_tier(Path(sys.argv[1]), "v", 1 << 30)
print("open", flush=True)
for number in range(10**9):
    content = HostContent(bytes([number % 251]) * 200_000)
    tier.put(first_chain(root_of(str(number))), content)
"""


def test_a_process_killed_while_it_writes_leaves_whole_files_only(tmp_path: Path) -> None:
    for _ in range(3):
        child = subprocess.Popen(
            [sys.executable, "-P", "-c", CHILD, str(tmp_path)],
            stdout=subprocess.PIPE,
            env=os.environ,
        )
        assert child.stdout is not None
        assert child.stdout.readline() == b"open\n"
        while not any((tmp_path / "v").rglob("*" + SUFFIX)):
            assert child.poll() is None
        os.kill(child.pid, signal.SIGKILL)
        child.wait()
        child.stdout.close()
        tier = open_tier(tmp_path, "v", 1 << 30)  # its lock is free again
        assert [path.name for path in (tmp_path / "v").iterdir()] == ["0"]
        assert len(tier) > 0
        found = [tier.get(chain_of(number)) for number in range(2000)]
        whole = [content for content in found if content is not None]
        assert len(whole) == len(tier) or len(tier) > 2000
        assert tier.faults["damaged"] == 0
        assert all(len(content) == 200_000 for content in whole)
        tier.close()


def test_processes_and_versions_do_not_share_and_old_ones_make_room(tmp_path: Path) -> None:
    one = open_tier(tmp_path, "a", 1 << 20)
    two = open_tier(tmp_path, "a", 1 << 20)
    one.put(chain_of(1), BLOCK)
    one.flush()
    assert chain_of(1) not in two
    other = open_tier(tmp_path, "b", 1 << 20)
    other.put(chain_of(2), BLOCK)
    other.close()
    third = open_tier(tmp_path, "c", 1500)  # what all hold is more than that: "b" has no process
    assert not (tmp_path / "b" / "0").exists()
    assert one.get(chain_of(1)) == BLOCK
    for tier in (one, two, third):
        tier.close()


def test_a_folder_that_cannot_be_used_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(ConfigError) as refused:
        open_tier(tmp_path / "file", "v", 1 << 20)
    assert refused.value.where == "kv_disk"
