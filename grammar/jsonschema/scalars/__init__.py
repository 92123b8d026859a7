"""Strings, numbers and finite sets of values as leaves."""
