"""Matrix products, normalisation and gates as Triton kernels."""
