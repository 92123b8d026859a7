"""Settings of prompts that other servers compute: addresses, the key, and what they exclude."""

from pathlib import Path

import pytest
from intaglio.engine.config import EngineConfig
from intaglio.engine.errors import ConfigError
from intaglio.engine.host.launches import launches
from intaglio.engine.peer_settings import PeerSettings, parse_address


@pytest.mark.parametrize(
    ("text", "host", "port"),
    [
        ("7700", "127.0.0.1", 7700),
        (":7700", "127.0.0.1", 7700),
        ("10.0.0.1:80", "10.0.0.1", 80),
        ("[::1]:1", "::1", 1),
    ],
)
def test_a_port_alone_is_one_of_the_loopback_interface(text: str, host: str, port: int) -> None:
    assert parse_address(text, "kv_listen") == (host, port)


@pytest.mark.parametrize(
    ("given", "where"),
    [
        ({"kv_listen": "10.0.0.1"}, "kv_listen"),
        ({"kv_listen": "x:70000"}, "kv_listen"),
        ({"kv_peers": "a:1,b"}, "kv_peers"),
        ({"kv_peers": "a:0"}, "kv_peers"),
        ({"kv_listen": "1", "kv_peers": "a:1"}, "kv_peers"),
    ],
)
def test_what_cannot_be_is_refused_by_its_name(given: dict[str, str], where: str) -> None:
    with pytest.raises(ConfigError) as refused:
        PeerSettings(**given, kv_key_file="key")
    assert refused.value.where == where


def test_nothing_is_exchanged_without_a_key(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        PeerSettings(kv_listen="1")
    assert refused.value.where == "kv_key_file"
    path = tmp_path / "key"
    settings = PeerSettings(kv_listen="1", kv_key_file=str(path))
    for text, mode, says in (
        (None, 0, "cannot be read"),
        ("k" * 31, 0o600, "31 bytes"),
        ("k" * 32, 0o640, "other users"),
    ):
        if text is not None:
            path.write_text(text)
            path.chmod(mode)
        with pytest.raises(ConfigError, match=says):
            settings.key()
    path.chmod(0o600)
    assert settings.key() == b"k" * 32


def test_they_set_the_role_of_the_engine(tmp_path: Path) -> None:
    def config(**given: object) -> EngineConfig:
        return EngineConfig.load({"model": "m", "device": "cpu", **given}, {})

    key = {"kv_key_file": str(tmp_path / "key")}
    assert config().cache.kv_role == "none"
    assert config(kv_listen="1", **key).cache.kv_role == "prefill"
    decode = config(kv_peers="a:1, b:2", **key)
    assert (decode.cache.kv_role, decode.peers.peers) == ("decode", ("a:1", "b:2"))
    divided = config(kv_listen="1", tp=2, **key)
    for one, prefill, where in (
        (decode, 1, "prefill_engines"),
        (divided, 0, "kv_listen"),
        (decode, 0, "kv_key_file"),  # before any engine starts
    ):
        with pytest.raises(ConfigError) as refused:
            launches(one, 2, prefill)
        assert refused.value.where == where


def test_several_engines_listen_on_ports_after_each_other() -> None:
    found = [PeerSettings(kv_listen="::1:70", kv_key_file="k").numbered(n).listen for n in (0, 2)]
    assert found == [("::1", 70), ("::1", 72)]
    assert PeerSettings().numbered(3) == PeerSettings()
    with pytest.raises(ConfigError):
        PeerSettings(kv_listen="65535", kv_key_file="k").numbered(1)
