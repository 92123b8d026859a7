"""Copies of KV cache blocks."""
