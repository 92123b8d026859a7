"""The settings by which engines of several servers share prompts over TCP.

Does: check them, and read the shared key. Does not: connect (`memory/tcp_carrier`).
"""

import stat
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final, NamedTuple

from .errors import ConfigError
from .types import KVRole

LOOPBACK: Final = "127.0.0.1"
LEAST_KEY_BYTES: Final = 32


class TcpAddress(NamedTuple):
    """A host and a port."""

    host: str
    port: int


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerSettings:
    """Prompts that engines of other servers compute.

    With `kv_listen`, an address `HOST:PORT` or a port of the loopback interface, this engine computes prompts for the
    engines that connect there, and sends them the keys and values. `kv_peers` are such addresses, separated by commas:
    the engine has its prompts computed there. Both sides prove that they have the key in the file `kv_key_file`, which
    is never sent. What is sent is not encrypted.
    """

    kv_listen: str = ""
    kv_peers: str = ""
    kv_key_file: str = ""

    def __post_init__(self) -> None:
        if self.kv_listen and self.kv_peers:
            raise ConfigError(
                "an engine computes prompts for others, or has its own computed, not both",
                where="kv_peers",
                hint="leave out kv_listen or kv_peers",
            )
        if self.kv_listen:
            parse_address(self.kv_listen, "kv_listen")
        for peer in self.peers:
            if not parse_address(peer, "kv_peers").port:
                raise ConfigError(f"{peer!r} has no port to connect to", where="kv_peers")
        if (self.kv_listen or self.kv_peers) and not self.kv_key_file:
            raise ConfigError(
                "engines exchange prompts only with those that have their key",
                where="kv_key_file",
                hint="write 32 random bytes or more to a file that only you can read, on both hosts, and name it",
            )

    @property
    def peers(self) -> tuple[str, ...]:
        """The addresses in `kv_peers`."""
        return tuple(part.strip() for part in self.kv_peers.split(",") if part.strip())

    def check(self, *, ranks: int, prefill: int) -> None:
        """Refuse engines of several ranks, or with engines for prompts of their own, and a key that cannot be used.

        Raises:
            ConfigError: one of these.
        """
        if self.kv_role == "none":
            return
        setting = "kv_listen" if self.kv_listen else "kv_peers"
        if prefill:
            raise ConfigError(
                "engines compute prompts for others of this server, or of other ones, not both",
                where="prefill_engines",
                hint=f"leave out prefill_engines, or {setting}",
            )
        if ranks > 1:
            raise ConfigError(
                "prompts are exchanged by engines in one process",
                where=setting,
                hint=f"set tp and pp to 1, or leave out {setting}",
            )
        self.key()

    @property
    def kv_role(self) -> KVRole:
        """See `CacheConfig`."""
        return "prefill" if self.kv_listen else "decode" if self.kv_peers else "none"

    def numbered(self, number: int) -> "PeerSettings":
        """The settings of engine `number` of a server: they listen on ports after each other."""
        if not self.kv_listen:
            return self
        host, port = self.listen
        if port + number >= 1 << 16:
            raise ConfigError(f"there is no port {port + number}", where="kv_listen")
        return replace(self, kv_listen=f"[{host}]:{port + number if port else 0}")

    @property
    def listen(self) -> TcpAddress:
        """The address in `kv_listen`."""
        return parse_address(self.kv_listen, "kv_listen")

    def key(self) -> bytes:
        """The shared key.

        Raises:
            ConfigError: the file cannot be read, is short, or can be read by other users.
        """
        path = Path(self.kv_key_file).expanduser()
        try:
            mode, key = path.stat().st_mode, path.read_bytes().strip()
        except OSError as error:
            raise ConfigError(
                f"{path} cannot be read: {error.strerror}",
                where="kv_key_file",
                hint=f"openssl rand -hex 32 > {path}; chmod 600 {path}; the same file on both hosts",
            ) from None
        if mode & (stat.S_IRWXG | stat.S_IRWXO):
            raise ConfigError(
                f"{path} is open to other users", where="kv_key_file", hint=f"chmod 600 {path}"
            )
        if len(key) < LEAST_KEY_BYTES:
            raise ConfigError(
                f"the key in {path} has {len(key)} bytes; {LEAST_KEY_BYTES} are the least",
                where="kv_key_file",
                hint=f"openssl rand -hex 32 > {path}",
            )
        return key


def parse_address(text: str, where: str) -> TcpAddress:
    """The address `HOST:PORT`, `[IPv6]:PORT`, or a port alone, which is one of the loopback interface.

    Raises:
        ConfigError: it is none of these; `where` names the setting.
    """
    host, _, port = text.rpartition(":")
    if port.isdecimal() and int(port) < 1 << 16:
        return TcpAddress(host.strip("[]") or LOOPBACK, int(port))
    raise ConfigError(f"{text!r} is no address such as 10.0.0.1:7700, and no port", where=where)
