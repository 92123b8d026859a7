"""Masks of several engines for constrained decoding, token by token, compared with an independent oracle.

    shapes    a JSON Schema as two plain trees: one that allows too little, one that allows too much
    texts     the JSON texts of such a tree, read byte by byte
    oracle    which tokens must be legal, and which may be
    adapters  engines
    run       the benchmark: `python -m tests.conformance.bench_masks.run`

`docs/mask-benchmark.md` says what is counted.
"""
