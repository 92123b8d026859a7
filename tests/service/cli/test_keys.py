"""`intaglio keys`: a key is shown once, and everything that happens to one is in the audit."""

import json
from pathlib import Path

import pytest
from intaglio.service.keys.key_store import KeyStore, digest_of

from tests.service.cli.conftest import Run


def test_a_key_from_its_creation_to_its_end(run: Run, tmp_path: Path) -> None:
    store = ["--key-store", str(tmp_path / "keys")]
    made = run("keys", "create", *store, "--tenant", "acme", "--limit", "requests-per-minute=60")
    assert made.exit_code == 0
    key = made.stdout.strip()
    assert key.startswith("ik_")
    assert key not in made.stderr
    found = KeyStore(tmp_path / "keys").find(digest_of(key.encode()))
    assert found is not None
    assert (found.tenant, found.limits.requests_per_minute) == ("acme", 60)
    assert sorted(found.scopes) == ["extract", "jobs"]

    (row,) = json.loads(run("keys", "list", *store, "--json").stdout)
    assert (row["id"], row["state"], row["limits"]) == (
        found.id,
        "valid",
        {"requests_per_minute": 60},
    )
    table = run("keys", "list", *store)
    assert found.id in table.stdout
    assert "acme" in table.stdout
    assert "…" not in table.stdout
    assert "requests-per-minute" in table.stdout
    assert "=60" in table.stdout

    assert run("keys", "revoke", found.id, *store).exit_code == 0
    assert json.loads(run("keys", "list", *store, "--json").stdout)[0]["state"] == "revoked"
    shown = run("keys", "audit", *store, "--show")
    lines = [json.loads(line) for line in shown.stdout.splitlines()]
    assert [(line["event"], line["key"]) for line in lines] == [
        ("key created", found.id),
        ("key revoked", found.id),
    ]
    assert lines[-1]["code"] in shown.stderr
    assert key not in shown.stdout


def test_an_audit_that_was_changed_ends_with_1(run: Run, tmp_path: Path) -> None:
    store = ["--key-store", str(tmp_path)]
    run("keys", "create", *store)
    assert json.loads(run("keys", "audit", *store, "--json").stdout)["lines"] == 1
    file = tmp_path / "audit.jsonl"
    file.write_text(file.read_text().replace("default", "another"))
    done = run("keys", "audit", *store)
    assert done.exit_code == 1
    assert "line 1" in done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("create", "--scope", "everything"), "there is no scope 'everything'; there are admin"),
        (("create", "--scope", "none"), "there is no scope 'none'"),
        (("create", "--limit", "requests-per-minute"), "no limit such as"),
        (("create", "--limit", "requests-per-year=3"), "there is no limit 'requests-per-year'"),
        (("create", "--limit", "concurrent=0"), "from 1 to"),
        (("create", "--tenant", "a/b"), "no name of a tenant"),
        (("create", "--days", "0"), "lifetime"),
        (("revoke", "nothing"), "holds no key store"),
        (("audit",), "holds no key store"),
        (("list",), "holds no key store"),
    ],
)
def test_what_cannot_be_done_is_said_and_ends_with_2(
    run: Run, tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    done = run("keys", *arguments, "--key-store", str(tmp_path / "keys"))
    assert done.exit_code == 2
    assert words in done.stderr
    assert not (tmp_path / "keys" / "keys.db").exists()


def test_the_folder_may_come_from_the_environment(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = run("keys", "list")
    assert done.exit_code == 2
    assert "INTAGLIO_SERVICE_KEY_STORE" in done.stderr
    monkeypatch.setenv("INTAGLIO_SERVICE_KEY_STORE", str(tmp_path))
    assert run("keys", "create").exit_code == 0
    assert len(json.loads(run("keys", "list", "--json").stdout)) == 1
