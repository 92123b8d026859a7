"""Matrix products, normalisation and gates in Triton."""
