"""Examination of untrusted constraints in worker processes, with verdicts cached in memory and on disk."""
