"""Masks of engines for constrained decoding, token by token, beside an oracle that shares no code with any of them.

    shapes    a JSON Schema as two plain trees: one that allows too little, one that allows too much
    texts     the JSON texts of such a tree, read byte by byte
    oracle    which tokens must be legal, and which may be
    adapters  engines
    run       the benchmark: `python -m tests.conformance.bench_masks.run`

`docs/mask-benchmark.md` says what is counted.
"""
