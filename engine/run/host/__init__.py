"""The parts of a runner on a CPU.

Kernels in compiled loops, which do in one call what takes torch tens of operations, and copies of KV blocks.
"""
