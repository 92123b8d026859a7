"""Launching and compiling Triton kernels."""
