"""Products with quantised weights on a GPU: kernels that read codes, and library products of 8-bit factors."""
