"""Compilation of the inner loops with numba, and the cache of machine code."""
