"""Compilation of the inner loops with numba: decorators, the cache of machine code, ahead-of-time compilation."""
