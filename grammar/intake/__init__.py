"""Examination of untrusted constraints: in worker processes, with verdicts in memory and on disk."""
