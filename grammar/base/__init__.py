"""Building blocks below all others: typed arrays, strict JSON, a bounded cache."""
