"""Names hold their owner, and no name means two things."""

import pytest
from intaglio.service.jobs.owners import job_name, key_of, shown_name, stored_name
from intaglio.service.jobs.records.errors import InputRefused

UNIQUE = "0123456789abcdef" * 2
TENANTS = ("default", "acme", "a.b-c_d", "x" * 64)


def test_the_key_of_a_job_is_in_its_name() -> None:
    assert key_of(job_name("5f0c1e9a", UNIQUE)) == "5f0c1e9a"
    assert job_name("env-1", UNIQUE) == job_name("", UNIQUE) == f"job_{UNIQUE}"
    assert key_of(f"job_{UNIQUE}") == ""


@pytest.mark.parametrize(
    "name", ["", "x", "job_", "job_5f0c1e9a.", f"job_5f0c1e9a.{UNIQUE}/..", "a.b"]
)
def test_a_name_of_another_form_has_no_key(name: str) -> None:
    assert key_of(name) == ""


def test_each_tenant_knows_its_own_files_only() -> None:
    stored = {tenant: stored_name(tenant, "orders.csv") for tenant in TENANTS}
    assert len(set(stored.values())) == len(TENANTS)
    for tenant in TENANTS:
        for owner, name in stored.items():
            assert shown_name(tenant, name) == ("orders.csv" if owner == tenant else None)


def test_no_name_of_the_default_tenant_is_that_of_another() -> None:
    with pytest.raises(InputRefused):
        stored_name("default", stored_name("acme", "orders.csv"))
    assert stored_name("default", "t0-orders.csv") == "t0-orders.csv"
