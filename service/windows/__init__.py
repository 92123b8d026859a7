"""Documents that are longer than the context: read in overlapping windows, and merged."""
