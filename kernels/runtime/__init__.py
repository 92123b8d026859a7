"""Launch options, ahead-of-time compilation and shared device functions of the Triton kernels."""
