"""Verification of drafted tokens."""
