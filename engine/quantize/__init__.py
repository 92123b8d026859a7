"""Quantisation of checkpoints: `intaglio quantize`.

Does: round the matrices of a checkpoint to 8 or 4 bits, write it in the format compressed-tensors, and measure what the
rounding changes. Does not: run quantised matrices (`model/schemes`).
"""
