"""The unit is one that systemd accepts, and names options and settings that exist."""

import configparser
import re
import shlex
import shutil
import subprocess
from collections import defaultdict
from pathlib import Path

import pytest
import typer
from intaglio.service.cli.commands import app
from intaglio.service.config import ServiceConfig

from tests.support.variables import known_variables

UNIT = Path(__file__).parents[2] / "deploy/systemd/intaglio.service"


def settings() -> dict[str, list[str]]:
    """The settings of the section Service; some may be given twice."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    _, _, section = UNIT.read_text("utf-8").partition("[Service]")
    for line in section.partition("\n[")[0].splitlines():
        name, equals, value = line.partition("=")
        if equals and not line.startswith("#"):
            found[name].append(value)
    return found


def test_the_sections_are_those_of_a_service() -> None:
    parser = configparser.RawConfigParser(strict=False)
    parser.read(UNIT)
    assert parser.sections() == ["Unit", "Service", "Install"]


def test_the_command_line_has_its_options() -> None:
    (command,) = settings()["ExecStart"]
    program, name, *options = shlex.split(command)
    assert Path(program).is_absolute()
    root = typer.main.get_command(app)
    known = {flag for each in root.commands[name].params for flag in each.opts}  # type: ignore[attr-defined]
    assert {each for each in options if each.startswith("-")} <= known


def test_variables_are_settings_and_keys_are_a_credential() -> None:
    given = " ".join(settings()["Environment"])
    assert set(re.findall(r"INTAGLIO_\w+", given)) <= known_variables()
    assert "INTAGLIO_SERVICE_API_KEYS_FILE=%d/keys" in given
    assert settings()["LoadCredential"] == ["keys:/etc/intaglio/keys"]


def test_requests_in_flight_may_finish() -> None:
    assert int(settings()["TimeoutStopSec"][0]) > ServiceConfig().grace_s


def test_the_devices_of_a_gpu_stay_visible_and_loops_can_be_compiled() -> None:
    """`ProtectClock=` implies a `DeviceAllow=`, and one of these hides every device that none names."""
    hiding = {"PrivateDevices", "ProtectClock", "DeviceAllow", "DevicePolicy"}
    assert not settings().keys() & (hiding | {"MemoryDenyWriteExecute"})


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="needs systemd")
def test_systemd_accepts_it(tmp_path: Path) -> None:
    # Where the program is not installed, systemd would say just that.
    text = re.sub(r"^ExecStart=\S+", "ExecStart=/bin/true", UNIT.read_text("utf-8"), flags=re.M)
    unit = tmp_path / UNIT.name
    unit.write_text(text)
    done = subprocess.run(
        ["systemd-analyze", "verify", unit], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
