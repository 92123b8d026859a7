"""Constraints to compiled grammars, for one vocabulary."""
