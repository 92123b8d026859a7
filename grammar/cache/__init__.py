"""The cache of compiled grammars, bounded in bytes."""
