"""The CPU's kernels in compiled loops, which do in one call what takes torch tens of small operations."""
