"""Verification of drafted tokens (speculative decoding)."""
