"""Building blocks that every other package may use: array types and addresses, strict JSON, a bounded cache."""
