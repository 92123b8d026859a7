"""Kernels that exchange tensors with the GPUs of other processes."""
