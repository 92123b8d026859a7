"""Values and protocols that the rest of the package and its callers share: constraints, masks, matchers, errors."""
