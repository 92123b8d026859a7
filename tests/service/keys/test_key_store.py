"""Keys on disk: found by digest only, gone the moment they are revoked, readable by one user."""

import sqlite3
import stat
from pathlib import Path

import pytest
from intaglio.service.keys.key_limits import KeyLimits
from intaglio.service.keys.key_store import KeyGrant, KeyStore, digest_of
from intaglio.service.keys.scopes import ALL_SCOPES, KeyScope
from intaglio.service.keys.store_errors import KeyStoreError, UnknownKey


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_key_is_found_with_all_that_it_was_given(tmp_path: Path) -> None:
    grant = KeyGrant(
        tenant="acme",
        scopes=frozenset({KeyScope.EXTRACT, KeyScope.METRICS}),
        limits=KeyLimits(requests_per_minute=7, tokens_per_day=10**6),
        weight=2.5,
    )
    store = KeyStore(tmp_path / "keys", create=True)
    key, made = store.create(grant)
    found = KeyStore(tmp_path / "keys").find(digest_of(key.encode()))
    assert found == made
    assert found is not None
    assert (found.tenant, found.scopes, found.limits, found.weight) == (
        grant.tenant,
        grant.scopes,
        grant.limits,
        grant.weight,
    )
    assert store.find(digest_of(f"{key}x".encode())) is None
    assert store.find(digest_of(b"")) is None


def test_no_file_holds_a_key(tmp_path: Path) -> None:
    store = KeyStore(tmp_path / "keys", create=True)
    keys = [store.create(KeyGrant())[0] for _ in range(20)]
    assert len(set(keys)) == 20
    files = [file.read_bytes() for file in (tmp_path / "keys").iterdir()]
    assert files
    assert not any(key.split("_", 2)[2].encode() in file for key in keys for file in files)


def test_only_the_user_may_read_the_files(tmp_path: Path) -> None:
    KeyStore(tmp_path / "keys", create=True).create(KeyGrant())
    modes = {stat.S_IMODE(file.stat().st_mode) for file in (tmp_path / "keys").iterdir()}
    assert modes == {0o600}
    assert stat.S_IMODE((tmp_path / "keys").stat().st_mode) == 0o700


def test_a_revoked_key_is_gone_at_once_in_every_process(tmp_path: Path) -> None:
    store, other = KeyStore(tmp_path, create=True), KeyStore(tmp_path)
    key, made = store.create(KeyGrant())
    digest = digest_of(key.encode())
    assert other.find(digest) == made
    store.revoke(made.id)
    assert other.find(digest) is None
    assert store.find(digest) is None
    first = store.named(made.id).revoked
    assert store.revoke(made.id).revoked == first, "a second revocation changes nothing"


def test_a_key_ends_when_its_lifetime_does(tmp_path: Path) -> None:
    clock = Clock()
    store = KeyStore(tmp_path, create=True, clock=clock)
    key, _ = store.create(KeyGrant(lifetime_s=60))
    clock.now += 59
    assert store.find(digest_of(key.encode())) is not None
    clock.now += 1
    assert store.find(digest_of(key.encode())) is None


def test_the_secret_is_made_once(tmp_path: Path) -> None:
    first = KeyStore(tmp_path, create=True).secret
    assert len(first) == 32
    assert KeyStore(tmp_path, create=True).secret == first
    assert KeyStore(tmp_path / "other", create=True).secret != first


def test_a_store_that_is_not_there_or_not_one_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(KeyStoreError, match="holds no key store"):
        KeyStore(tmp_path / "nothing")
    (tmp_path / "keys.db").write_bytes(
        b"this is no database, but it is as long as a header of one" * 99
    )
    with pytest.raises(KeyStoreError, match="cannot be used: file is not a database") as damaged:
        KeyStore(tmp_path)
    assert "restore" in damaged.value.hint
    (tmp_path / "keys.db").write_bytes(b"")  # as a full disk may leave it
    with pytest.raises(KeyStoreError, match="cannot be used: no such table") as damaged:
        KeyStore(tmp_path)
    assert "restore" in damaged.value.hint
    with pytest.raises(KeyStoreError, match="cannot be used"):
        KeyStore(Path("/proc/nowhere"), create=True)


def test_an_unknown_id_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(UnknownKey):
        KeyStore(tmp_path, create=True).revoke("nothing")


@pytest.mark.parametrize(
    "given",
    [
        {"tenant": ""},
        {"tenant": "a b"},
        {"tenant": "x" * 65},
        {"scopes": frozenset()},
        {"scopes": frozenset({KeyScope.NONE})},
        {"weight": 0.0},
        {"weight": float("nan")},
        {"lifetime_s": 0.0},
    ],
)
def test_a_grant_without_sense_is_refused(given: dict[str, object]) -> None:
    with pytest.raises(ValueError, match=r"tenant|scope|weight|lifetime"):
        KeyGrant(**given)  # type: ignore[arg-type]


@pytest.mark.parametrize("value", [0, -1, 10**13])
def test_a_limit_out_of_bounds_is_refused(value: int) -> None:
    with pytest.raises(ValueError, match="tokens_per_day"):
        KeyLimits(tokens_per_day=value)


def test_a_database_in_use_is_read_all_the_same(tmp_path: Path) -> None:
    store = KeyStore(tmp_path, create=True)
    key, _ = store.create(KeyGrant())
    writer = sqlite3.connect(tmp_path / "keys.db", isolation_level=None)
    writer.execute("BEGIN EXCLUSIVE")
    assert store.find(digest_of(key.encode())) is not None
    writer.execute("ROLLBACK")
    writer.close()
    assert store.all()[0].scopes == ALL_SCOPES
