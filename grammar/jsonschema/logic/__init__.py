"""Schemas as Boolean formulas over atoms, and their evaluation."""
