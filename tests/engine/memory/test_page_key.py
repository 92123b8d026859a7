"""Chains differ for different salts, tokens and preceding blocks."""

from intaglio.engine.memory.page_key import CHAIN_BYTES, first_chain, next_chain, root_of


def test_different_prefixes_have_different_chains() -> None:
    chains = {first_chain(root_of(salt)) for salt in ("", "a", "b")}
    for _ in range(3):
        chains |= {next_chain(chain, tokens) for chain in chains for tokens in (b"\1\0", b"\0\1")}
    assert len(chains) == 3 * (1 + 2 + 4 + 8)
    assert {len(chain) for chain in chains} == {CHAIN_BYTES}
    assert first_chain(root_of("x")) == first_chain(root_of("x"))
